package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.quantize.Quantization;
import dev.espalier.graph.quantize.Range;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/**
 * What flows through a model: the ranges in which it is rounded with the least error.
 *
 * @param ranges by the names of tensors
 */
public record Calibration(SequencedMap<String, Range> ranges) {
    /** How many elements of a tensor are looked at closely, of every batch; of all of them the smallest and largest count. */
    private static final int ELEMENTS = 1 << 13;

    /** Takes a copy. */
    public Calibration {
        ranges = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(ranges));
    }

    /** What was seen of a tensor. */
    private static final class Seen {
        private double low;
        private double high;
        private final List<float[]> elements = new ArrayList<>();

        void add(String name, Tensor tensor) {
            long size = tensor.size();
            int picked = (int) Math.min(size, ELEMENTS);
            float[] some = new float[picked];
            for (long i = 0; i < size; i++) {
                double element = tensor.getDouble(i);
                if (!Double.isFinite(element)) {
                    throw new GraphException(
                            "%s is %s for some of the inputs, which has no range: leave these inputs out"
                                    .formatted(name, element));
                }
                low = Math.min(low, element);
                high = Math.max(high, element);
            }
            for (int i = 0; i < picked; i++) {
                // Spread over the whole tensor, whatever its shape: no axis is met in step.
                some[i] = (float) tensor.getDouble((long) ((i + 0.5) * size / picked));
            }
            elements.add(some);
        }

        float[] all() {
            float[] all =
                    new float[elements.stream().mapToInt(some -> some.length).sum()];
            int next = 0;
            for (float[] some : elements) {
                System.arraycopy(some, 0, all, next, some.length);
                next += some.length;
            }
            return all;
        }
    }

    /**
     * Runs a model in ONNX Runtime and looks at what its convolutions read and make, and what is between them.
     *
     * @param graph a float model
     * @param batches inputs by name, such as the model is going to be fed with
     * @param threads how many threads a single operator may use
     * @return what was seen
     * @throws IllegalArgumentException if there is no batch
     * @throws IllegalStateException if ONNX Runtime refuses one
     */
    public static Calibration of(Graph graph, List<Map<String, Tensor>> batches, int threads) {
        if (batches.isEmpty()) {
            throw new IllegalArgumentException("there are no inputs to calibrate with: give at least one batch");
        }
        Set<String> wanted = Quantization.measured(graph);
        Set<String> outputs = new LinkedHashSet<>(graph.outputs());
        graph.nodes()
                .forEach(
                        node -> node.outputs().stream().filter(wanted::contains).forEach(outputs::add));
        Graph open = new Graph(graph.name(), graph.inputs(), graph.initializers(), graph.nodes(), List.copyOf(outputs));
        SequencedMap<String, Seen> seen = new LinkedHashMap<>();
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(open, threads)) {
            for (Map<String, Tensor> batch : batches) {
                Map<String, Tensor> all = new LinkedHashMap<>(batch);
                all.putAll(model.run(batch));
                all.forEach((name, tensor) -> {
                    if (wanted.contains(name)) {
                        seen.computeIfAbsent(name, _ -> new Seen()).add(name, tensor);
                    }
                });
            }
        }
        SequencedMap<String, Range> ranges = new LinkedHashMap<>();
        seen.forEach((name, one) -> ranges.put(name, Range.fitting(new Range(one.low, one.high), one.all())));
        return new Calibration(ranges);
    }
}
