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
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;

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

    /** What to try where the usual length does not fit: lengths of pictures, of spectra, of sounds; then ever shorter ones. */
    private static final List<Long> OTHERS = List.of(
            32L, 48L, 64L, 76L, 96L, 128L, 160L, 224L, 256L, 320L, 512L, 640L, 1024L, 1280L, 16000L, 16L, 8L, 4L, 2L,
            1L);

    /** How many channels a picture may have. */
    private static final List<Long> CHANNELS = List.of(3L, 1L, 4L);

    /** Few enough for the naive evaluator. */
    public static final SampleInputs DEFAULT = new SampleInputs(2, 16, 1);

    /** Checks the lengths. */
    public SampleInputs {
        Check.atLeast("batch", batch, 1);
        Check.atLeast("length", length, 1);
    }

    /**
     * The lengths that free dimensions get: {@link #length}, or another one if the model does not take that because a window does
     * not fit into it, say, or what is halved and doubled again does not fit to what was not.
     *
     * @param graph a model
     * @return a number for each symbol of its inputs
     */
    public SequencedMap<String, Long> dimensions(Graph graph) {
        return fitting(graph, Map.of()).orElseGet(() -> dimensions(graph, length, length));
    }

    /**
     * The same, with some lengths that are given.
     *
     * @param graph a model
     * @param wanted lengths that some dimensions have in any case, by their symbols
     * @return a number for each symbol of its inputs
     * @throws GraphException if it takes none of those that are tried
     */
    public SequencedMap<String, Long> accepted(Graph graph, Map<String, Long> wanted) {
        return fitting(graph, wanted).orElseGet(() -> {
            SequencedMap<String, Long> usual = dimensions(graph, length, length);
            usual.putAll(wanted);
            graph.withDimensions(usual);
            return usual;
        });
    }

    private Optional<SequencedMap<String, Long>> fitting(Graph graph, Map<String, Long> wanted) {
        List<Long> lengths = new ArrayList<>(List.of(length));
        lengths.addAll(OTHERS);
        return lengths.stream()
                .flatMap(one -> Stream.concat(Stream.of(one), CHANNELS.stream())
                        .map(channels -> dimensions(graph, one, channels)))
                .peek(some -> some.putAll(wanted))
                .filter(some -> fits(graph, some))
                .findFirst();
    }

    /** Lengths by the places of axes. */
    private SequencedMap<String, Long> dimensions(Graph graph, long length, long channels) {
        SequencedMap<String, Long> lengths = new LinkedHashMap<>();
        for (Input input : graph.inputs()) {
            Shape shape = input.type().shape();
            boolean picture = shape.rank() == 4 && input.type().data().isFloat();
            for (int axis = 0; axis < shape.rank(); axis++) {
                Dimension dimension = shape.get(axis);
                if (!dimension.isKnown()) {
                    long inner = picture && axis == 1 ? channels : length;
                    lengths.putIfAbsent(dimension.toString(), axis == 0 ? batch : inner);
                }
            }
        }
        return lengths;
    }

    private static boolean fits(Graph graph, Map<String, Long> lengths) {
        try {
            graph.withDimensions(lengths);
            return true;
        } catch (GraphException doesNotFit) {
            return false;
        }
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
        OptionalLong rows = places(graph, input.name());
        if (rows.isPresent()) {
            return Tensor.computeLongs(type, shape, i -> random.nextLong(rows.getAsLong()));
        }
        if (!varied) {
            return Tensor.computeLongs(type, shape, i -> 1);
        }
        long last = shape.length == 0 ? 1 : shape[shape.length - 1];
        long values = type == DataType.UINT8 ? BYTES : 2;
        return Tensor.computeLongs(type, shape, i -> i % last == 0 ? 1 : random.nextLong(values));
    }

    /**
     * How many rows the smallest table has that a tensor's elements are places in, such as the embeddings of tokens.
     *
     * @param graph a model
     * @param tensor one of its tensors, of whole numbers
     * @return the number of rows; empty if nothing is looked up by them
     */
    public static OptionalLong places(Graph graph, String tensor) {
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
        return rows == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(rows);
    }

    /** Of a table along an axis; of one that is free there, only the first place is sure to exist. */
    private static long length(Graph graph, String table, long axis) {
        Dimension length = graph.shape(table).get(axis);
        return length.isKnown() ? length.value() : 1;
    }
}
