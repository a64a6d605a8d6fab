package dev.espalier.squad;

import dev.espalier.core.check.Check;
import dev.espalier.data.Context;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.text.Tokens;
import dev.espalier.text.WordPiece;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * Makes vectors of texts, as a search by meaning wants them: the mean of what a model says of a text's tokens, padding left out, scaled
 * to length 1.
 */
public final class TextVectors {
    private static final List<String> INPUTS = List.of(Bert.INPUT_IDS, Bert.ATTENTION_MASK, Bert.TOKEN_TYPE_IDS);

    private final WordPiece tokenizer;
    private final int longest;
    private final int batchSize;

    /**
     * A maker of vectors.
     *
     * @param tokenizer the one that the models were trained with
     * @param longest tokens that a text is cut to, with the two around it; at least 3
     * @param batchSize texts that a model reads at once
     */
    public TextVectors(WordPiece tokenizer, int longest, int batchSize) {
        this.tokenizer = tokenizer;
        this.longest = (int) Check.atLeast("longest", longest, 3);
        this.batchSize = (int) Check.atLeast("batchSize", batchSize, 1);
    }

    /**
     * A model that reads tokens.
     *
     * @param output what is made a vector of: {@code [batch, tokens, size]}, or {@code [batch, size]} if the model has a vector for each text
     * @param run from {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, all {@code [batch, tokens]}, to what it says
     */
    public record Model(String output, Function<Map<String, Tensor>, ? extends Map<String, Tensor>> run) {
        /**
         * Finds out what of a model's outputs to take: the first that has a vector for each token, or else for each text.
         *
         * @param graph the model
         * @param what what messages call it
         * @param run runs it
         * @return the model
         * @throws IllegalArgumentException if it does not read tokens, or has no such output
         */
        public static Model of(
                Graph graph, String what, Function<Map<String, Tensor>, ? extends Map<String, Tensor>> run) {
            for (Graph.Input input : graph.inputs()) {
                if (!INPUTS.contains(input.name())
                        || input.type().data() != DataType.INT64
                        || input.type().shape().rank() != 2) {
                    throw new IllegalArgumentException(
                            "%s makes no vectors of texts: it has an input %s %s, and must read %s, whole numbers of 64 bits [batch × tokens], or some of these"
                                    .formatted(what, input.name(), input.type(), String.join(", ", INPUTS)));
                }
            }
            List<String> vectors = graph.outputs().stream()
                    .filter(output -> graph.fact(output).type().data().isFloat())
                    .filter(output -> isVector(graph.shape(output)))
                    .sorted(Comparator.comparingInt(
                            output -> -graph.shape(output).rank()))
                    .toList();
            if (vectors.isEmpty()) {
                throw new IllegalArgumentException(
                        "%s makes no vectors of texts: its outputs are %s, and one must be [batch × tokens × size] or [batch × size]"
                                .formatted(
                                        what,
                                        graph.outputs().stream()
                                                .map(output -> output + " " + graph.shape(output))
                                                .toList()));
            }
            return new Model(vectors.getFirst(), run);
        }

        private static boolean isVector(Shape shape) {
            return (shape.rank() == 2 || shape.rank() == 3) && shape.get(-1).isKnown();
        }

        private Tensor ask(Map<String, Tensor> inputs) {
            Map<String, Tensor> said = run.apply(inputs);
            Tensor tensor = said.get(output);
            if (tensor == null) {
                throw new IllegalStateException("the model says %s, but not %s".formatted(said.keySet(), output));
            }
            return tensor;
        }
    }

    /**
     * Vectors of texts.
     *
     * @param vectors one for each text
     * @param milliseconds how long the model took for a text, on average
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    public record Vectors(float[][] vectors, double milliseconds) {}

    @SuppressWarnings("ArrayRecordComponent") // sorted by length, never compared
    private record Text(int place, int[] ids) {}

    /**
     * Has models read texts, batch by batch and by turns, so that a machine that slows down slows all of them down.
     *
     * @param texts the texts
     * @param models the models
     * @param progress who is told as it goes on
     * @return each model's vectors, in the order of the texts
     */
    public List<Vectors> of(List<String> texts, List<Model> models, Context.Progress progress) {
        // Neighbours are about equally long and pad each other little. The longest first: what does not fit into memory
        // fails at once.
        List<Text> order = new ArrayList<>();
        for (int place = 0; place < texts.size(); place++) {
            order.add(new Text(place, ids(texts.get(place))));
        }
        order.sort(Comparator.comparingInt((Text text) -> text.ids().length).reversed());
        List<float[][]> vectors =
                models.stream().map(model -> new float[texts.size()][]).toList();
        long[] nanoseconds = new long[models.size()];
        for (int from = 0; from < order.size(); from += batchSize) {
            List<Text> batch = order.subList(from, Math.min(from + batchSize, order.size()));
            SequencedMap<String, Tensor> inputs = inputs(batch);
            for (int turn = 0; turn < models.size(); turn++) {
                // Each comes after each other one: what was done before leaves traces in caches.
                int model = from / batchSize % 2 == 0 ? turn : models.size() - 1 - turn;
                long start = System.nanoTime();
                Tensor said = models.get(model).ask(inputs);
                nanoseconds[model] += System.nanoTime() - start;
                pool(said, batch, vectors.get(model));
            }
            progress.at("texts", from + batch.size(), order.size());
        }
        List<Vectors> made = new ArrayList<>();
        for (int model = 0; model < models.size(); model++) {
            made.add(new Vectors(vectors.get(model), nanoseconds[model] / 1e6 / texts.size()));
        }
        return made;
    }

    private int[] ids(String text) {
        Tokens tokens = tokenizer.tokenize(text);
        int kept = Math.min(tokens.size(), longest - 2);
        int[] ids = new int[kept + 2];
        ids[0] = tokenizer.classifier();
        System.arraycopy(tokens.ids(), 0, ids, 1, kept);
        ids[kept + 1] = tokenizer.separator();
        return ids;
    }

    private SequencedMap<String, Tensor> inputs(List<Text> batch) {
        int length = batch.stream().mapToInt(text -> text.ids().length).max().orElseThrow();
        long[] shape = {batch.size(), length};
        SequencedMap<String, Tensor> inputs = new LinkedHashMap<>();
        inputs.put(Bert.INPUT_IDS, Tensor.computeLongs(DataType.INT64, shape, i -> {
            int[] ids = batch.get((int) (i / length)).ids();
            int token = (int) (i % length);
            return token < ids.length ? ids[token] : tokenizer.padding();
        }));
        inputs.put(
                Bert.ATTENTION_MASK,
                Tensor.computeLongs(
                        DataType.INT64,
                        shape,
                        i -> i % length < batch.get((int) (i / length)).ids().length ? 1 : 0));
        inputs.put(Bert.TOKEN_TYPE_IDS, Tensor.computeLongs(DataType.INT64, shape, i -> 0));
        return inputs;
    }

    /** The mean over a text's own tokens, or what there is for the whole text. */
    private static void pool(Tensor said, List<Text> batch, float[][] vectors) {
        float[] numbers = said.toFloats();
        int size = (int) said.shape()[said.rank() - 1];
        int perText = numbers.length / batch.size();
        for (int row = 0; row < batch.size(); row++) {
            Text text = batch.get(row);
            double[] sum = new double[size];
            int tokens = said.rank() == 3 ? text.ids().length : 1;
            for (int token = 0; token < tokens; token++) {
                for (int i = 0; i < size; i++) {
                    sum[i] += numbers[row * perText + token * size + i];
                }
            }
            double length = 0;
            for (double number : sum) {
                length += number * number;
            }
            // Of a zero, no direction is known: it stays what it is.
            double scale = length == 0 ? 0 : 1 / Math.sqrt(length);
            float[] vector = new float[size];
            for (int i = 0; i < size; i++) {
                vector[i] = (float) (scale * sum[i]);
            }
            vectors[text.place()] = vector;
        }
    }
}
