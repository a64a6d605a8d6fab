package dev.espalier.graph.model;

import dev.espalier.core.check.Reading;
import dev.espalier.core.check.Writing;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.safetensors.Safetensors;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.BiFunction;

/** Checkpoints of the BERT family in Hugging Face's layout: a folder with config.json and model.safetensors. */
public final class HuggingFace {
    private static final String CONFIG = "config.json";
    private static final String WEIGHTS = "model.safetensors";
    private static final int MOST_CONFIG_BYTES = 1 << 20;

    private HuggingFace() {}

    /**
     * A model from a checkpoint.
     *
     * @param graph the model
     * @param config its size
     * @param initialised the parameters that the checkpoint does not have: they start from a seed and must be trained
     * @param ignored the checkpoint's tensors that the model has no use for, a pooler or another head
     */
    public record Checkpoint(Graph graph, BertConfig config, List<String> initialised, List<String> ignored) {
        /** Takes copies. */
        public Checkpoint {
            initialised = List.copyOf(initialised);
            ignored = List.copyOf(ignored);
        }
    }

    /**
     * Reads a checkpoint for question answering. One without such a head gets a new one.
     *
     * @param folder the folder with config.json and model.safetensors
     * @param seed what a new head starts from
     * @return the model, as {@link Bert#questionAnswering} makes it
     * @throws IOException if it cannot be read or does not fit; the message lists every tensor that is missing or of
     *     another shape
     */
    public static Checkpoint read(Path folder, long seed) throws IOException {
        return read(folder, Weights.seeded(seed));
    }

    /**
     * Reads a checkpoint for question answering. One without such a head gets a new one.
     *
     * @param folder the folder with config.json and model.safetensors
     * @param fresh what a new head starts from
     * @return the model, as {@link Bert#questionAnswering} makes it
     * @throws IOException if it cannot be read or does not fit; the message lists every tensor that is missing or of
     *     another shape
     */
    public static Checkpoint read(Path folder, Weights fresh) throws IOException {
        return read(folder, fresh, Bert::questionAnswering);
    }

    /**
     * Reads a checkpoint to classify texts, or to estimate numbers from them. One without a pooler, without such a head, or with
     * one for another number of classes gets a new one.
     *
     * @param folder the folder with config.json and model.safetensors
     * @param outputs how many numbers the model is to say
     * @param fresh what a new head starts from
     * @return the model, as {@link Bert#classification} makes it
     * @throws IOException if it cannot be read or does not fit; the message lists every tensor that is missing or of
     *     another shape
     */
    public static Checkpoint readClassification(Path folder, long outputs, Weights fresh) throws IOException {
        return read(folder, fresh, (config, weights) -> Bert.classification(config, outputs, weights));
    }

    /**
     * Reads a checkpoint without any head.
     *
     * @param folder the folder with config.json and model.safetensors
     * @return the model, as {@link Bert#encoder} makes it
     * @throws IOException if it cannot be read or does not fit; the message lists every tensor that is missing or of
     *     another shape
     */
    public static Checkpoint readEncoder(Path folder) throws IOException {
        return read(folder, Weights.seeded(0), Bert::encoder);
    }

    private static Checkpoint read(Path folder, Weights fresh, BiFunction<BertConfig, Weights, Graph> architecture)
            throws IOException {
        BertConfig config = readConfig(folder.resolve(CONFIG));
        SequencedMap<String, Tensor> tensors =
                Safetensors.read(weightsFile(folder)).tensors();
        requireSameScale(config, tensors);
        CheckpointWeights weights = new CheckpointWeights(tensors, fresh);
        Graph graph = architecture.apply(config, weights);
        weights.requireComplete();
        return new Checkpoint(graph, config, weights.initialised(), weights.ignored());
    }

    /** The usual file or, where there is none, its only variant: {@code model.fp16.safetensors} for one. */
    private static Path weightsFile(Path folder) throws IOException {
        Path usual = folder.resolve(WEIGHTS);
        if (Files.exists(usual)) {
            return usual;
        }
        List<Path> variants = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "model.*.safetensors")) {
            files.forEach(variants::add);
        }
        if (variants.size() != 1) {
            throw new NoSuchFileException(
                    usual.toString(),
                    null,
                    variants.isEmpty()
                            ? "convert the checkpoint with transformers' save_pretrained, into one file"
                            : "there are " + variants.stream().sorted().toList() + ": rename one");
        }
        return variants.getFirst();
    }

    private static BertConfig readConfig(Path file) throws IOException {
        if (Files.exists(file) && Files.size(file) > MOST_CONFIG_BYTES) {
            throw new IOException(file + " has more than " + MOST_CONFIG_BYTES + " bytes: this is no config.json");
        }
        return BertConfig.parse(Reading.text(file));
    }

    /** A config.json that asks for far more than the checkpoint has must not cost memory to find out. */
    private static void requireSameScale(BertConfig config, Map<String, Tensor> tensors) throws IOException {
        if (config.layers() > tensors.size()) {
            throw new IOException("config.json describes a model of %d layers, but the checkpoint has only %d tensors"
                    .formatted(config.layers(), tensors.size()));
        }
        long stored = tensors.values().stream().mapToLong(Tensor::size).sum();
        if (config.encoderParameters() / 4 > stored + MOST_CONFIG_BYTES) {
            throw new IOException("config.json describes a model of %d parameters, but the checkpoint has only %d"
                    .formatted(config.encoderParameters(), stored));
        }
    }

    /**
     * Writes a model for question answering, so that transformers' {@code BertForQuestionAnswering} reads it.
     *
     * @param folder the folder; made if it does not exist
     * @param graph the model, as {@link Bert#questionAnswering} makes it, with any contents
     * @param config its size
     * @throws IOException if it cannot be written
     */
    public static void save(Path folder, Graph graph, BertConfig config) throws IOException {
        long expected = config.encoderParameters() + 2L * config.hidden() + 2;
        if (Cost.parameters(graph) != expected) {
            throw new IllegalArgumentException(
                    ("the graph %s has %d parameters, but config.json can only describe %d: a pruned model cannot be "
                                    + "saved in this layout, save it as ONNX")
                            .formatted(graph.name(), Cost.parameters(graph), expected));
        }
        Files.createDirectories(folder);
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        graph.tensors(Initializer.Kind.PARAMETER)
                .forEach((name, tensor) -> tensors.put(name, toStored(graph, name, tensor)));
        Safetensors.write(folder.resolve(WEIGHTS), tensors, Map.of("format", "pt"));
        Path file = folder.resolve(CONFIG);
        Writing.to(file, () -> Writing.whole(file, config.json("BertForQuestionAnswering")));
    }

    /** Checkpoints hold matrices as {@code [outputs, inputs]}; a product from the right reads {@code [inputs, outputs]}. */
    private static Tensor toStored(Graph graph, String name, Tensor tensor) {
        boolean multiplies =
                graph.uses(name).stream().anyMatch(use -> use.node().operator() instanceof MatMul && use.input() == 1);
        return multiplies ? CheckpointWeights.transpose(tensor) : tensor;
    }
}
