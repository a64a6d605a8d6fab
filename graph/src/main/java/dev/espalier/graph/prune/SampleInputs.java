package dev.espalier.graph.prune;

import dev.espalier.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * Seeded inputs for a model: normally distributed numbers, places in range for whatever looks something up in a table,
 * and ones for other whole numbers and truth values, which are masks.
 *
 * @param batch the length of a free first axis
 * @param length of every other free axis
 * @param seed where chance starts from
 */
public record SampleInputs(long batch, long length, long seed) {

    /** Few enough for the naive evaluator. */
    public static final SampleInputs DEFAULT = new SampleInputs(2, 16, 1);

    /** Checks the lengths. */
    public SampleInputs {
        Check.atLeast("batch", batch, 1);
        Check.atLeast("length", length, 1);
    }

    /**
     * The lengths that free dimensions get.
     *
     * @param graph a model
     * @return a number for each symbol of its inputs
     */
    public SequencedMap<String, Long> dimensions(Graph graph) {
        SequencedMap<String, Long> lengths = new LinkedHashMap<>();
        for (Input input : graph.inputs()) {
            Shape shape = input.type().shape();
            for (int axis = 0; axis < shape.rank(); axis++) {
                Dimension dimension = shape.get(axis);
                if (!dimension.isKnown()) {
                    lengths.putIfAbsent(dimension.toString(), axis == 0 ? batch : length);
                }
            }
        }
        return lengths;
    }

    /**
     * Draws inputs.
     *
     * @param graph the model that they are for
     * @return a tensor for each of its inputs
     */
    public SequencedMap<String, Tensor> draw(Graph graph) {
        SplittableRandom random = new SplittableRandom(seed);
        SequencedMap<String, Tensor> drawn = new LinkedHashMap<>();
        for (Input input : graph.withDimensions(dimensions(graph)).inputs()) {
            drawn.put(input.name(), draw(graph, input, random));
        }
        return drawn;
    }

    private static Tensor draw(Graph graph, Input input, SplittableRandom random) {
        long[] shape = input.type().shape().lengths();
        if (input.type().data().isFloat()) {
            return Tensor.compute(input.type().data(), shape, i -> random.nextGaussian());
        }
        long rows = smallestTable(graph, input.name());
        return Tensor.computeLongs(input.type().data(), shape, i -> rows == Long.MAX_VALUE ? 1 : random.nextLong(rows));
    }

    /** How many rows the smallest table has that a tensor's elements are places in; the largest number if none has. */
    private static long smallestTable(Graph graph, String tensor) {
        long rows = Long.MAX_VALUE;
        List<String> same = new ArrayList<>(List.of(tensor));
        for (int i = 0; i < same.size(); i++) {
            for (Use use : graph.uses(same.get(i))) {
                switch (use.node().operator()) {
                    case Gather gather
                    when use.input() == 1 -> {
                        Dimension table = graph.shape(use.node().input(0)).get(gather.axis());
                        rows = Math.min(rows, table.isKnown() ? table.value() : 1);
                    }
                    case Elementwise e -> same.add(use.node().output());
                    case Reshape r -> same.add(use.node().output());
                    case Squeeze s -> same.add(use.node().output());
                    case Unsqueeze u -> same.add(use.node().output());
                    default -> {
                        // What is computed with is no place in a table.
                    }
                }
            }
        }
        return rows;
    }
}
