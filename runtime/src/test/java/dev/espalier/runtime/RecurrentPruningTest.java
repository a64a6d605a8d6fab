package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Cell;
import dev.espalier.graph.op.Recurrent.Direction;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.Widths;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What goes of recurrent layers, held against ONNX Runtime and the naive evaluator. */
final class RecurrentPruningTest {
    private static final int INPUTS = 5;
    private static final int HIDDEN = 6;

    private final GraphBuilder graph = new GraphBuilder("recurrent");
    private SplittableRandom random = new SplittableRandom(3);

    /** Where the layer's first states come from. */
    private enum First {
        NONE,
        ZEROS,
        WEIGHTS,
        FED
    }

    private Tensor normal(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    /** Zeros in some columns of each direction. */
    private static Tensor without(Tensor tensor, int direction, Integer... columns) {
        Set<Integer> gone = Set.of(columns);
        long[] shape = tensor.shape();
        long width = shape[shape.length - 1];
        long size = tensor.size() / shape[0];
        return Tensor.compute(
                tensor.type(),
                shape,
                i -> i / size == direction && gone.contains((int) (i % width)) ? 0 : tensor.getDouble(i));
    }

    private static Tensor withoutRows(Tensor tensor, Set<Integer> rows) {
        long[] shape = tensor.shape();
        long width = shape[shape.length - 1];
        return Tensor.compute(tensor.type(), shape, i -> rows.contains((int) (i / width)) ? 0 : tensor.getDouble(i));
    }

    private List<Value> layer(String name, Recurrent recurrent, Value x, Tensor fed, Tensor back, Value... more) {
        List<String> inputs = new ArrayList<>(List.of(
                x.name(),
                graph.parameter(name + ".fed", fed).name(),
                graph.parameter(name + ".back", back).name()));
        Arrays.stream(more).map(Value::name).forEach(inputs::add);
        List<String> outputs = recurrent.cell() == Cell.LSTM
                ? List.of(name + ".all", name + ".last", name + ".cells")
                : List.of(name + ".all", name + ".last");
        return graph.addAll(new Node(name, recurrent, inputs, outputs));
    }

    /** The states of both directions side by side, {@code [time, batch, directions·hidden]}. */
    private Value sideBySide(String name, Value all, Recurrent recurrent) {
        if (recurrent.directions() == 1) {
            return graph.add(name, new Squeeze(List.of(1L)), all);
        }
        Value turned = graph.add(name + ".turned", new Transpose(List.of(0L, 2L, 1L, 3L)), all);
        return graph.add(name, Reshape.DEFAULT, turned, graph.constant(name + ".shape", Tensor.of(new long[] {
            0, 0, 2 * recurrent.hidden()
        })));
    }

    private Value product(String name, Value x, Tensor weight) {
        return graph.add(name, new MatMul(), x, graph.parameter(name + ".weight", weight));
    }

    private Value sequence() {
        return graph.input("x", DataType.FLOAT32, "time", "batch", INPUTS);
    }

    private static Graph prune(Graph model, PruneOptions options) {
        Graph pruned = Pruner.plan(model, options).apply();
        try (Judge judge = Judge.of(model, new SampleInputs(4, 3, 1), 1)) {
            judge.compare(pruned, OnnxWriter.Options.DEFAULT).requireEqual(Equivalence.TOLERANCE);
        }
        Equivalence.measure(model, pruned, new SampleInputs(4, 3, 1).draw(model), Evaluator::run)
                .requireEqual(Equivalence.TOLERANCE);
        assertSame(pruned, Pruner.plan(pruned, options).apply());
        return pruned;
    }

    private static Graph prune(Graph model) {
        return prune(model, PruneOptions.DEFAULT);
    }

    private static long[] shape(Graph model, String tensor) {
        return Objects.requireNonNull(model.tensor(tensor), tensor).shape();
    }

    private static Recurrent recurrent(Graph model, String node) {
        return model.nodes().stream()
                .filter(one -> one.name().equals(node))
                .map(one -> (Recurrent) one.operator())
                .findFirst()
                .orElseThrow();
    }

    private Tensor fed(Recurrent recurrent, long inputs) {
        return normal(recurrent.directions(), recurrent.cell().gates() * recurrent.hidden(), inputs);
    }

    /** Units 1 and 4 are read by nobody; unit 2 only by the recurrence, input 3 by no unit. */
    @ParameterizedTest
    @MethodSource("cells")
    void unitsThatNobodyReadsGo(Cell cell) {
        Recurrent recurrent = new Recurrent(cell, Direction.FORWARD, HIDDEN);
        Value embedded = product("embedding", sequence(), normal(INPUTS, 7));
        List<Value> states = layer(
                "layer",
                recurrent,
                embedded,
                without(fed(recurrent, 7), 0, 3),
                without(fed(recurrent, HIDDEN), 0, 1, 4));
        Tensor head = withoutRows(normal(HIDDEN, 3), Set.of(1, 2, 4));
        Graph pruned = prune(graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), head)));
        assertArrayEquals(new long[] {INPUTS, 6}, shape(pruned, "embedding.weight"));
        assertArrayEquals(new long[] {1, 4L * cell.gates(), 6}, shape(pruned, "layer.fed"));
        assertArrayEquals(new long[] {1, 4L * cell.gates(), 4}, shape(pruned, "layer.back"));
        assertEquals(4, recurrent(pruned, "layer").hidden());
    }

    static Stream<Cell> cells() {
        return Arrays.stream(Cell.values());
    }

    /**
     * A unit that reads others which nobody needs does not keep them; and units that only read each other, though in a circle, all
     * go.
     */
    @Test
    void unitsThatOnlyReadEachOtherGo() {
        Recurrent recurrent = new Recurrent(Cell.GRU, Direction.REVERSE, 4);
        Tensor back = Tensor.compute(DataType.FLOAT32, new long[] {1, 12, 4}, i -> {
            boolean both = i / 4 % 4 < 2 == i % 4 < 2;
            return both ? random.nextGaussian() : 0;
        });
        List<Value> states = layer("layer", recurrent, sequence(), fed(recurrent, INPUTS), back);
        Tensor head = withoutRows(normal(4, 3), Set.of(2, 3));
        Graph pruned = prune(graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), head)));
        assertArrayEquals(new long[] {1, 6, 2}, shape(pruned, "layer.back"));
    }

    /** A state whose candidate is zero stays zero, whatever its gates do: so it goes though it is read. */
    @ParameterizedTest
    @MethodSource("cells")
    void unitsThatAreAlwaysZeroGo(Cell cell) {
        Recurrent recurrent = new Recurrent(cell, Direction.FORWARD, HIDDEN);
        int rows = (cell.gates() - 1) * HIDDEN;
        Set<Integer> candidates = Set.of(rows, rows + 5);
        Tensor fed = withoutRows(fed(recurrent, INPUTS), candidates);
        // Unit 5 hears unit 0, which is silent.
        Tensor all = fed(recurrent, HIDDEN);
        Tensor back = Tensor.compute(
                DataType.FLOAT32,
                all.shape(),
                i -> candidates.contains((int) (i / HIDDEN)) && i != (rows + 5L) * HIDDEN ? 0 : all.getDouble(i));
        Tensor bias = Tensor.compute(
                DataType.FLOAT32,
                new long[] {1, 2L * cell.gates() * HIDDEN},
                i -> candidates.contains((int) (i % ((long) cell.gates() * HIDDEN))) ? 0 : random.nextGaussian());
        List<Value> states = layer("layer", recurrent, sequence(), fed, back, graph.parameter("layer.bias", bias));
        Graph pruned = prune(
                graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), normal(HIDDEN, 3))));
        assertEquals(4, recurrent(pruned, "layer").hidden());
        assertArrayEquals(new long[] {1, 2L * cell.gates() * 4}, shape(pruned, "layer.bias"));
    }

    /** Three units are read of one direction and two of the other, which keeps another one. */
    @Test
    void directionsKeepEquallyManyUnits() {
        Recurrent recurrent = new Recurrent(Cell.LSTM, Direction.BIDIRECTIONAL, HIDDEN);
        Tensor back = without(without(fed(recurrent, HIDDEN), 0, 0, 1, 2), 1, 2, 3, 4, 5);
        List<Value> states = layer("layer", recurrent, sequence(), fed(recurrent, INPUTS), back);
        Tensor head = withoutRows(normal(2 * HIDDEN, 3), Set.of(0, 1, 2, 8, 9, 10, 11));
        Graph pruned = prune(graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), head)));
        assertArrayEquals(new long[] {2, 12, 3}, shape(pruned, "layer.back"));
        assertArrayEquals(new long[] {6, 3}, shape(pruned, "head.weight"));
    }

    @Test
    void aDirectionThatNobodyReadsGoes() {
        Recurrent recurrent = new Recurrent(Cell.LSTM, Direction.BIDIRECTIONAL, 2);
        List<Value> states = layer("layer", recurrent, sequence(), fed(recurrent, INPUTS), fed(recurrent, 2));
        Tensor head = withoutRows(normal(4, 3), Set.of(0, 1));
        Graph pruned = prune(graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), head)));
        assertEquals(Direction.REVERSE, recurrent(pruned, "layer").direction());
        assertArrayEquals(new long[] {1, 8, 2}, shape(pruned, "layer.back"));
    }

    /** An input that is the same at all times is a bias of every gate. */
    @Test
    void constantInputsAreFolded() {
        Recurrent recurrent = new Recurrent(Cell.GRU_LINEAR_BEFORE_RESET, Direction.BIDIRECTIONAL, 2);
        Tensor embedding = withoutColumn(normal(INPUTS, 4), 1);
        Value shifted = graph.add(
                "shift",
                new Binary(Binary.Function.ADD),
                product("embedding", sequence(), embedding),
                graph.parameter("shift.bias", normal(4)));
        List<Value> states = layer("layer", recurrent, shifted, fed(recurrent, 4), fed(recurrent, 2));
        Graph pruned =
                prune(graph.outputs(product("head", sideBySide("states", states.getFirst(), recurrent), normal(4, 3))));
        assertArrayEquals(new long[] {2, 6, 3}, shape(pruned, "layer.fed"));
    }

    private static Tensor withoutColumn(Tensor tensor, int column) {
        long width = tensor.shape()[1];
        return Tensor.compute(tensor.type(), tensor.shape(), i -> i % width == column ? 0 : tensor.getDouble(i));
    }

    /** Every cell and every direction, each with half of the kinds of first states. */
    static Stream<Arguments> everything() {
        List<Arguments> some = new ArrayList<>();
        int next = 0;
        for (Cell cell : Cell.values()) {
            for (Direction direction : Direction.values()) {
                next++;
                for (First first : First.values()) {
                    if (next++ % 2 == 0) {
                        some.add(Arguments.of(cell, direction, first));
                    }
                }
            }
        }
        return some.stream();
    }

    /** Two layers with all that they can have, random zeros in both. */
    @ParameterizedTest
    @MethodSource("everything")
    void randomZerosLeaveTheFunctionAsItIs(Cell cell, Direction direction, First first) {
        random = new SplittableRandom(Objects.hash(cell.name(), direction.name(), first.name()));
        Recurrent recurrent = new Recurrent(cell, direction, HIDDEN);
        long both = recurrent.directions();
        Value x = sequence();
        Value embedded = product("embedding", x, normal(INPUTS, 7));
        Value states = stacked("one", recurrent, embedded, 7, first);
        List<Value> second =
                layer("two", recurrent, states, sparse(fed(recurrent, both * HIDDEN)), sparse(fed(recurrent, HIDDEN)));
        Value last = sideBySide("last", second.getFirst(), recurrent);
        Value head = product("head", last, sparseRows(normal(both * HIDDEN, 3)));
        Value turned = graph.add("turned", new Transpose(List.of(1L, 0L, 2L)), second.get(1));
        Value flat = graph.add("flat", Reshape.DEFAULT, turned, graph.constant("flat.shape", Tensor.of(new long[] {
            0, both * HIDDEN
        })));
        Value other = product("other", flat, sparseRows(normal(both * HIDDEN, 2)));
        Graph model = graph.outputs(head, other);
        prune(
                model,
                switch (random.nextInt(4)) {
                    case 0 -> PruneOptions.DEFAULT.withWidths(Widths.multiplesOf(4));
                    case 1 -> PruneOptions.DEFAULT.withKeep(Set.of("one"));
                    default -> PruneOptions.DEFAULT;
                });
    }

    private Value stacked(String name, Recurrent recurrent, Value x, long width, First first) {
        long both = recurrent.directions();
        long rows = recurrent.cell().gates() * (long) HIDDEN;
        List<Value> more = new ArrayList<>();
        more.add(graph.parameter(name + ".bias", normal(both, 2 * rows)));
        if (first != First.NONE) {
            more.add(graph.input("lengths", DataType.INT32, "batch"));
            more.add(first(name + ".first", both, x, first));
        }
        if (recurrent.cell() == Cell.LSTM && first != First.NONE) {
            more.add(first(name + ".cells.first", both, x, first));
            more.add(graph.parameter(name + ".peepholes", normal(both, 3L * HIDDEN)));
        }
        List<Value> states = layer(
                name,
                recurrent,
                x,
                sparse(fed(recurrent, width)),
                sparse(fed(recurrent, HIDDEN)),
                more.toArray(Value[]::new));
        return sideBySide(name + ".states", states.getFirst(), recurrent);
    }

    private Value first(String name, long both, Value x, First first) {
        return switch (first) {
            case NONE -> throw new AssertionError();
            case FED -> graph.input(name, DataType.FLOAT32, both, "batch", HIDDEN);
            case WEIGHTS -> {
                // For any number of sequences.
                Value shape = zerosShape(name, both, x);
                Value weights = graph.parameter(name, normal(both, 1, HIDDEN));
                yield graph.add(name + ".expanded", new Expand(), weights, shape);
            }
            case ZEROS -> graph.add(name, new ConstantOfShape(Tensor.of(new float[] {0})), zerosShape(name, both, x));
        };
    }

    private Value zerosShape(String name, long both, Value x) {
        Value batch = graph.add(name + ".batch", new ShapeOf(1, 2), x);
        return graph.add(
                name + ".shape",
                new Concat(0),
                graph.constant(name + ".both", Tensor.of(new long[] {both})),
                batch,
                graph.constant(name + ".hidden", Tensor.of(new long[] {HIDDEN})));
    }

    /** Some columns of each direction are zero. */
    private Tensor sparse(Tensor tensor) {
        Tensor result = tensor;
        for (int direction = 0; direction < tensor.shape()[0]; direction++) {
            result = without(result, direction, some((int) tensor.shape()[2]));
        }
        return result;
    }

    private Tensor sparseRows(Tensor tensor) {
        return withoutRows(tensor, Set.of(some((int) tensor.shape()[0])));
    }

    /** The last one always stays. */
    private Integer[] some(int count) {
        return IntStream.range(0, count - 1)
                .filter(i -> random.nextInt(2) == 0)
                .boxed()
                .toArray(Integer[]::new);
    }
}
