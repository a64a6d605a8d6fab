package dev.espalier.cli;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A model on disk that can be asked: from {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, or as many of
 * them as it reads, to {@code start_logits} and {@code end_logits}, all {@code [batch, tokens]}.
 *
 * @param file an ONNX file
 * @param graph what is in it
 */
record AnsweringModel(Path file, Graph graph) {
    private static final List<String> INPUTS = List.of(Bert.INPUT_IDS, Bert.ATTENTION_MASK, Bert.TOKEN_TYPE_IDS);

    /** Refuses what cannot be asked. */
    AnsweringModel {
        for (Input input : graph.inputs()) {
            requireInput(file, input);
        }
        if (graph.inputs().stream().map(Input::name).noneMatch(Bert.INPUT_IDS::equals)
                || !graph.outputs().containsAll(List.of(Bert.START_LOGITS, Bert.END_LOGITS))) {
            throw noAnswers(
                    file,
                    "its inputs are %s and its outputs %s"
                            .formatted(graph.inputs().stream().map(Input::name).toList(), graph.outputs()));
        }
        for (String output : List.of(Bert.START_LOGITS, Bert.END_LOGITS)) {
            TensorType type = graph.fact(output).type();
            if (type.shape().rank() != 2 || !type.data().isFloat()) {
                throw noAnswers(file, "its output %s is %s".formatted(output, type));
            }
        }
    }

    private static void requireInput(Path file, Input input) {
        if (!INPUTS.contains(input.name())) {
            throw noAnswers(file, "it has an input " + input.name());
        }
        Shape shape = input.type().shape();
        boolean isFree = shape.dimensions().stream().noneMatch(Dimension::isKnown);
        if (input.type().data() != DataType.INT64 || shape.rank() != 2 || !isFree) {
            throw noAnswers(file, "its input %s is %s".formatted(input.name(), input.type()));
        }
    }

    private static IllegalArgumentException noAnswers(Path file, String reason) {
        return new IllegalArgumentException(
                "%s is no model that answers questions: %s. It must lead from %s to %s and %s, all [batch × tokens] with both"
                                .formatted(file, reason, String.join(", ", INPUTS), Bert.START_LOGITS, Bert.END_LOGITS)
                        + " lengths free, whole numbers of 64 bits before and floating point after; only inputs that it does"
                        + " not read may be missing, and not " + Bert.INPUT_IDS);
    }

    /** Reads an ONNX file. */
    static AnsweringModel read(Path file) throws IOException {
        return new AnsweringModel(file, OnnxReader.read(file).graph());
    }

    /** The file that is meant: this one, or the better one of a run's folder. */
    static Path locate(Path model) throws IOException {
        if (Files.notExists(model)) {
            throw new NoSuchFileException(model.toString());
        }
        if (!Files.isDirectory(model)) {
            return model;
        }
        RunFolder run = new RunFolder(model);
        return List.of(run.pruned(), run.model()).stream()
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s has neither a %s nor a %s: give an ONNX file or the folder of a finished run; a run with several"
                                        .formatted(
                                                model,
                                                run.pruned().getFileName(),
                                                run.model().getFileName())
                                + " seeds has one for each"));
    }

    /** The folder that the file is in. */
    Path folder() {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? file.toAbsolutePath() : parent;
    }

    /** The tokenizer that it was trained with: at the given place, or else beside it. */
    WordPiece tokenizer(@Nullable Path given) throws IOException {
        return tokenizer(given == null ? folder() : given, file, graph, Bert.INPUT_IDS);
    }

    /**
     * A tokenizer that fits a model.
     *
     * @param place where it is
     * @param file the model's file
     * @param graph what is in it
     * @param ids what it calls its tokens
     */
    static WordPiece tokenizer(Path place, Path file, Graph graph, String ids) throws IOException {
        WordPiece words;
        try {
            words = WordPiece.load(place);
        } catch (NoSuchFileException missing) {
            throw new IllegalArgumentException(
                    "there is no tokenizer.json and no vocab.txt in %s: give the folder of the checkpoint that the model was"
                                    .formatted(place)
                            + " trained from with --tokenizer DIR",
                    missing);
        }
        OptionalLong known = vocabulary(graph, ids);
        if (known.isPresent() && words.size() > known.getAsLong()) {
            int size = words.size();
            words.close();
            throw new IllegalArgumentException(
                    "the tokenizer in %s has %d tokens, and %s knows %d: give the one that the model was trained with, with"
                                    .formatted(place, size, file, known.getAsLong())
                            + " --tokenizer DIR");
        }
        return words;
    }

    /** How many tokens a model knows; empty if it does not look them up in a table. */
    private static OptionalLong vocabulary(Graph graph, String ids) {
        return graph.uses(ids).stream()
                .map(Use::node)
                .filter(node -> looksUp(graph, node))
                .mapToLong(node -> rows(graph, node))
                .min();
    }

    /** How many tokens a window may have; empty if it does not look places up in a table. */
    OptionalLong longestWindow() {
        Dimension tokens = graph.shape(Bert.INPUT_IDS).get(1);
        return graph.nodes().stream()
                .filter(node -> looksUp(graph, node))
                .filter(node -> isAlong(tokens, node.input(1)))
                .mapToLong(node -> rows(graph, node))
                .min();
    }

    /** Whether a tensor has an element for each token, and is not what the model is fed with: then it holds places. */
    private boolean isAlong(Dimension tokens, String indices) {
        Shape shape = graph.shape(indices);
        return !INPUTS.contains(indices) && shape.rank() > 0 && shape.get(-1).equals(tokens);
    }

    private static boolean looksUp(Graph graph, Node node) {
        return node.operator() instanceof Gather(long axis) && axis == 0 && graph.tensor(node.input(0)) != null;
    }

    private static long rows(Graph graph, Node node) {
        Tensor table = graph.tensor(node.input(0));
        return table == null ? 0 : table.shape()[0];
    }
}
