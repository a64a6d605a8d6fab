package dev.espalier.graph.prune;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * Seeded inputs for a model: normally distributed numbers, places in range for whatever looks something up in a table,
 * bytes of any value, and zeros and ones for other whole numbers and truth values, which are masks: of a sequence the first
 * element is always there.
 *
 * @param batch the length of a free first axis
 * @param length of every other free axis
 * @param seed where chance starts from
 */
public record SampleInputs(long batch, long length, long seed) {

    /** How many values a byte has. */
    private static final long BYTES = 256;

    /** Whatever does not fit into this is not too short. */
    private static final long LONGEST = 512;

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
     * Lengths that a model takes, as far as its shapes tell: the usual ones, or longer ones where windows do not fit into those.
     *
     * @param graph a model
     * @param wanted lengths that some dimensions have in any case, by their symbols
     * @return a number for each symbol of its inputs
     * @throws GraphException if it takes none of those that are tried
     */
    public SequencedMap<String, Long> accepted(Graph graph, Map<String, Long> wanted) {
        List<GraphException> refusals = new ArrayList<>();
        for (long longer = length; longer <= Math.max(length, LONGEST); longer *= 2) {
            SequencedMap<String, Long> lengths = new SampleInputs(batch, longer, seed).dimensions(graph);
            lengths.putAll(wanted);
            try {
                graph.withDimensions(lengths);
                return lengths;
            } catch (GraphException refused) {
                refusals.add(refused);
            }
        }
        throw refusals.getLast();
    }

    /**
     * Draws inputs.
     *
     * @param graph the model that they are for
     * @return a tensor for each of its inputs
     */
    public SequencedMap<String, Tensor> draw(Graph graph) {
        return draw(graph, dimensions(graph), 1, true);
    }

    /**
     * Draws inputs of given lengths.
     *
     * @param graph the model that they are for
     * @param lengths a number for each symbol of its inputs
     * @param scale the standard deviation of fractions
     * @param varied false for ones in place of whole numbers and truth values that are no places in a table, where a model takes
     *     no zeros
     * @return a tensor for each of its inputs
     */
    public SequencedMap<String, Tensor> draw(Graph graph, Map<String, Long> lengths, double scale, boolean varied) {
        SplittableRandom random = new SplittableRandom(seed);
        SequencedMap<String, Tensor> drawn = new LinkedHashMap<>();
        for (Input input : graph.inputs()) {
            long[] shape = input.type().shape().dimensions().stream()
                    .mapToLong(dimension -> dimension.isKnown() ? dimension.value() : length(dimension, lengths))
                    .toArray();
            drawn.put(input.name(), draw(graph, input, shape, scale, varied, random));
        }
        return drawn;
    }

    private static long length(Dimension dimension, Map<String, Long> lengths) {
        Long length = lengths.get(dimension.toString());
        if (length == null) {
            throw new IllegalArgumentException("there is no length for " + dimension + "; there are " + lengths);
        }
        return length;
    }

    private static Tensor draw(
            Graph graph, Input input, long[] shape, double scale, boolean varied, SplittableRandom random) {
        DataType type = input.type().data();
        if (type.isFloat()) {
            return Tensor.compute(type, shape, i -> scale * random.nextGaussian());
        }
        long rows = smallestTable(graph, input.name());
        if (rows != Long.MAX_VALUE) {
            return Tensor.computeLongs(type, shape, i -> random.nextLong(rows));
        }
        if (!varied) {
            return Tensor.computeLongs(type, shape, i -> 1);
        }
        long last = shape.length == 0 ? 1 : shape[shape.length - 1];
        long values = type == DataType.UINT8 ? BYTES : 2;
        return Tensor.computeLongs(type, shape, i -> i % last == 0 ? 1 : random.nextLong(values));
    }

    /** How many rows the smallest table has that a tensor's elements are places in; the largest number if none has. */
    private static long smallestTable(Graph graph, String tensor) {
        long rows = Long.MAX_VALUE;
        List<String> same = new ArrayList<>(List.of(tensor));
        for (int i = 0; i < same.size(); i++) {
            for (Use use : graph.uses(same.get(i))) {
                String output = use.node().outputs().getFirst();
                switch (use.node().operator()) {
                    case Gather gather
                    when use.input() == 1 ->
                        rows = Math.min(rows, length(graph, use.node().input(0), gather.axis()));
                    case GatherElements gather
                    when use.input() == 1 ->
                        rows = Math.min(rows, length(graph, use.node().input(0), gather.axis()));
                    case Where _ when use.input() > 0 -> same.add(output);
                    case Split _ -> same.addAll(use.node().outputs());
                    case Slice _, Expand _, Tile _, Gather _, GatherElements _
                    when use.input() == 0 -> same.add(output);
                    case Elementwise _, Reshape _, Squeeze _, Unsqueeze _, Flatten _, Transpose _, Concat _ ->
                        same.add(output);
                    default -> {
                        // What is computed with is no place in a table.
                    }
                }
            }
        }
        return rows;
    }

    /** Of a table along an axis; of one that is free there, only the first place is sure to exist. */
    private static long length(Graph graph, String table, long axis) {
        Dimension length = graph.shape(table).get(axis);
        return length.isKnown() ? length.value() : 1;
    }
}
