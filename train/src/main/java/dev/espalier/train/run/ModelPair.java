package dev.espalier.train.run;

import dev.espalier.core.check.Check;
import dev.espalier.data.Context;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.runtime.Latency;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Footprint;
import dev.espalier.train.task.Fidelity;
import dev.espalier.train.task.OutputMeaning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An original and a smaller model that is to stand for it, both as files that ONNX Runtime runs. They take the same and say the same. */
public final class ModelPair {
    /** Turns of each model, as long as there is time: small ones are over in a moment, and many it takes until the shortest stays. */
    private static final int ROUNDS = 201;

    /** How long latencies may be measured, for each number of threads. */
    private static final double SECONDS = 10;

    private final Path original;
    private final Path smaller;
    private final Graph originalGraph;
    private final Graph smallerGraph;
    /** The smaller model's names for the original's outputs. */
    private final SequencedMap<String, String> outputs;

    private final List<String> notes = new ArrayList<>();

    private ModelPair(Path original, Path smaller, Graph originalGraph, Graph smallerGraph) {
        this.original = original;
        this.smaller = smaller;
        this.originalGraph = originalGraph;
        this.smallerGraph = smallerGraph;
        requireSameInputs();
        this.outputs = outputs();
    }

    /**
     * Reads two files.
     *
     * @param original the original
     * @param smaller what is to stand for it
     * @return both
     * @throws IOException if one cannot be read
     * @throws IllegalArgumentException if they take or say something else; the message names it
     */
    public static ModelPair read(Path original, Path smaller) throws IOException {
        return new ModelPair(original, smaller, graph(original), graph(smaller));
    }

    private static Graph graph(Path file) throws IOException {
        return OnnxReader.read(file, new RuntimeTypes()).graph();
    }

    /** {@return the original, whose names are those of inputs and outputs} */
    public Graph original() {
        return originalGraph;
    }

    private void requireSameInputs() {
        Map<String, TensorType> taken = types(smallerGraph);
        boolean same = types(originalGraph).keySet().equals(taken.keySet())
                && originalGraph.inputs().stream()
                        .allMatch(input -> takes(Objects.requireNonNull(taken.get(input.name())), input.type()));
        if (!same) {
            throw new IllegalArgumentException(
                    "the models take different inputs: %s takes %s, and %s takes %s; only models that take the same can be compared"
                            .formatted(original, inputs(originalGraph), smaller, inputs(smallerGraph)));
        }
    }

    private static Map<String, TensorType> types(Graph graph) {
        return graph.inputs().stream().collect(Collectors.toMap(Graph.Input::name, Graph.Input::type));
    }

    private static List<String> inputs(Graph graph) {
        return graph.inputs().stream()
                .map(input -> input.name() + " " + input.type())
                .toList();
    }

    private SequencedMap<String, String> outputs() {
        SequencedMap<String, String> names = new LinkedHashMap<>();
        List<String> said = smallerGraph.outputs();
        boolean sameNames = said.containsAll(originalGraph.outputs());
        for (int i = 0; i < originalGraph.outputs().size() && (sameNames || i < said.size()); i++) {
            String output = originalGraph.outputs().get(i);
            names.put(output, sameNames ? output : said.get(i));
        }
        names.forEach((one, other) -> {
            if (!canBeEqual(originalGraph.shape(one), smallerGraph.shape(other))) {
                throw differentOutputs();
            }
        });
        if (!sameNames) {
            notes.add("The outputs are called differently, and are compared in their order: "
                    + names.entrySet().stream()
                            .map(pair -> pair.getKey() + " with " + pair.getValue())
                            .collect(Collectors.joining(", "))
                    + ".");
        }
        if (names.size() < originalGraph.outputs().size()) {
            notes.add("Only the original says %s, which nothing is compared with."
                    .formatted(String.join(
                            ", ",
                            originalGraph
                                    .outputs()
                                    .subList(
                                            names.size(),
                                            originalGraph.outputs().size()))));
        }
        return names;
    }

    private static boolean takes(TensorType one, TensorType other) {
        return one.data() == other.data() && canBeEqual(one.shape(), other.shape());
    }

    /** Lengths may be free in one and given in the other. */
    private static boolean canBeEqual(Shape one, Shape other) {
        boolean fits = one.rank() == other.rank();
        for (int axis = 0; fits && axis < one.rank(); axis++) {
            fits = !one.get(axis).isKnown()
                    || !other.get(axis).isKnown()
                    || one.get(axis).equals(other.get(axis));
        }
        return fits;
    }

    private IllegalArgumentException differentOutputs() {
        return new IllegalArgumentException(
                "the models say different things: %s says %s, and %s says %s; only models with the same outputs can be compared"
                        .formatted(original, outputs(originalGraph), smaller, outputs(smallerGraph)));
    }

    private static List<String> outputs(Graph graph) {
        return graph.outputs().stream()
                .map(output -> output + " " + graph.fact(output).type())
                .toList();
    }

    /**
     * How to compare.
     *
     * @param batchSize samples that are compared at once
     * @param threads how many threads ONNX Runtime gets, and for how many latency is measured besides one
     * @param meanings what outputs mean, by the original's names; what others mean is guessed
     */
    public record Plan(int batchSize, int threads, Map<String, OutputMeaning> meanings) {
        /** Checks the numbers. */
        public Plan {
            Check.atLeast("batchSize", batchSize, 1);
            Check.atLeast("threads", threads, 1);
            meanings = Map.copyOf(meanings);
        }
    }

    /**
     * Runs both models and compares what they say.
     *
     * @param inputs what to run them on
     * @param plan how
     * @param progress who is told as it goes on
     * @return what was found
     * @throws IOException if a file cannot be looked at
     * @throws IllegalArgumentException if the inputs do not fit
     * @throws IllegalStateException if ONNX Runtime does not run a model
     */
    public Comparison compare(ModelInputs inputs, Plan plan, Context.Progress progress) throws IOException {
        Fidelity fidelity = Fidelity.of(originalGraph, outputs.sequencedKeySet(), plan.meanings());
        OptionalLong fixed = fixedBatch();
        int batchSize = fixed.isPresent() ? Math.toIntExact(fixed.getAsLong()) : plan.batchSize();
        int rows = fixed.isPresent() ? inputs.size() / batchSize * batchSize : inputs.size();
        if (rows == 0) {
            throw new IllegalArgumentException(
                    "%s takes batches of exactly %d samples, and there are only %d: give more inputs, or export it with a free batch axis"
                            .formatted(original, batchSize, inputs.size()));
        }
        Map<String, Tensor> sample;
        try (OnnxRuntimeModel teacher = new OnnxRuntimeModel(original, plan.threads());
                OnnxRuntimeModel student = new OnnxRuntimeModel(smaller, plan.threads());
                ModelInputs.Feed feed = inputs.batches(batchSize)) {
            while (fidelity.rows() < rows) {
                Map<String, Tensor> batch = feed.next();
                int size = (int) Math.min(batchSize, rows - fidelity.rows());
                fidelity.add(batch, teacher.run(batch), renamed(student.run(batch)), size);
                progress.at("samples", fidelity.rows(), rows);
            }
        }
        try (ModelInputs.Feed feed = inputs.batches(fixed.isPresent() ? batchSize : 1)) {
            sample = feed.next();
            List<Double> alone = latencies(sample, 1);
            List<Double> threaded = plan.threads() == 1 ? alone : latencies(sample, plan.threads());
            return new Comparison(
                    original.toString(),
                    smaller.toString(),
                    inputs.name(),
                    sample.entrySet().stream()
                            .map(tensor -> tensor.getKey()
                                    + Arrays.toString(tensor.getValue().shape()).replace(", ", " × "))
                            .collect(Collectors.joining(", ")),
                    plan.threads(),
                    footprint(original, originalGraph, sample, alone.getFirst(), threaded.getFirst()),
                    footprint(smaller, smallerGraph, sample, alone.getLast(), threaded.getLast()),
                    new Findings(
                            new Findings.Samples(0, 0, fidelity.rows()),
                            fidelity.outcome(),
                            inputs.rows().map(fidelity::worst).orElse(List.of())),
                    rows == inputs.size() ? notes : noted(rows, inputs.size(), batchSize));
        }
    }

    private List<String> noted(int rows, int all, int batchSize) {
        List<String> more = new ArrayList<>(notes);
        more.add("The models take batches of exactly %d samples: %d of %d were compared."
                .formatted(batchSize, rows, all));
        return more;
    }

    /** How many samples a batch has in any case. */
    private OptionalLong fixedBatch() {
        return Stream.of(originalGraph, smallerGraph)
                .map(ModelPair::fixedBatch)
                .flatMapToLong(OptionalLong::stream)
                .findFirst();
    }

    /** What all inputs have as their first length; a single one may be something else than a batch. */
    private static OptionalLong fixedBatch(Graph graph) {
        List<Dimension> first = graph.inputs().stream()
                .map(input -> input.type().shape())
                .filter(shape -> shape.rank() > 0)
                .map(shape -> shape.get(0))
                .distinct()
                .toList();
        return first.size() == 1 ? first.getFirst().known() : OptionalLong.empty();
    }

    private Map<String, Tensor> renamed(Map<String, Tensor> said) {
        Map<String, Tensor> renamed = new HashMap<>();
        outputs.forEach((one, other) -> {
            Tensor tensor = said.get(other);
            if (tensor != null) {
                renamed.put(one, tensor);
            }
        });
        return renamed;
    }

    private List<Double> latencies(Map<String, Tensor> sample, int threads) {
        try (OnnxRuntimeModel before = new OnnxRuntimeModel(original, threads);
                OnnxRuntimeModel after = new OnnxRuntimeModel(smaller, threads)) {
            return Latency.measure(List.of(before, after), sample, ROUNDS, SECONDS);
        }
    }

    /** What a file is and costs, with latencies that were measured before. */
    static Footprint footprint(Path file, Graph graph, Map<String, Tensor> sample, double milliseconds, double threaded)
            throws IOException {
        return new Footprint(bytes(file), Cost.parameters(graph), flops(graph, sample), milliseconds, threaded);
    }

    /** How large a model is, with what it has outside of its file. */
    static long bytes(Path file) throws IOException {
        Path outside = file.resolveSibling(file.getFileName() + ".data");
        return Files.size(file) + (Files.exists(outside) ? Files.size(outside) : 0);
    }

    private static double flops(Graph graph, Map<String, Tensor> sample) {
        Map<String, Long> lengths = new HashMap<>();
        for (Graph.Input input : graph.inputs()) {
            Tensor tensor = sample.get(input.name());
            Shape shape = input.type().shape();
            for (int axis = 0; tensor != null && axis < shape.rank(); axis++) {
                Dimension dimension = shape.get(axis);
                if (!dimension.isKnown()) {
                    lengths.put(dimension.toString(), tensor.shape()[axis]);
                }
            }
        }
        try {
            OptionalLong flops = Cost.flops(graph.withDimensions(lengths), SampleInputs.DEFAULT.length())
                    .known();
            return flops.isPresent() ? flops.getAsLong() : Double.NaN;
        } catch (GraphException doesNotFit) {
            return Double.NaN;
        }
    }
}
