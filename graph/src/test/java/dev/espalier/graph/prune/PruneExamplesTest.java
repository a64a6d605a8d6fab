package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small models of which one can tell by hand what must be left. */
final class PruneExamplesTest {
    private static final double TOLERANCE = 1e-5;

    private final SplittableRandom random = new SplittableRandom(5);
    private final GraphBuilder graph = new GraphBuilder("example");

    /** A tensor with zeros where a predicate of the first two places says so. */
    private Tensor zeros(BiPredicate<Integer, Integer> zero, long... shape) {
        long inner = Tensor.size(shape) / shape[0] / shape[1];
        return Tensor.compute(DataType.FLOAT32, shape, i -> {
            double value = 0.5 + random.nextDouble();
            int row = (int) (i / inner / shape[1]);
            int column = (int) (i / inner % shape[1]);
            return zero.test(row, column) ? 0 : random.nextBoolean() ? value : -value;
        });
    }

    private static BiPredicate<Integer, Integer> inputs(Integer... dead) {
        return (row, column) -> Set.of(dead).contains(column);
    }

    private static BiPredicate<Integer, Integer> outputs(Integer... dead) {
        return (row, column) -> Set.of(dead).contains(row);
    }

    private Tensor vector(int size) {
        return Tensor.compute(DataType.FLOAT32, new long[] {size}, i -> 0.5 + random.nextDouble());
    }

    private Value convolution(String name, Value x, int pad, boolean bias, Tensor weight) {
        Conv conv = new Conv(Windows.square(1, pad), 1);
        Value kernel = graph.parameter(name + ".weight", weight);
        return bias
                ? graph.add(name, conv, x, kernel, graph.parameter(name + ".bias", vector((int) weight.shape()[0])))
                : graph.add(name, conv, x, kernel);
    }

    private Value linear(String name, Value x, Tensor weight) {
        return graph.add(
                name,
                Gemm.LINEAR,
                x,
                graph.parameter(name + ".weight", weight),
                graph.parameter(name + ".bias", vector((int) weight.shape()[0])));
    }

    private Value apply(String name, Unary.Function function, Value x) {
        return graph.add(name, new Unary(function), x);
    }

    private Value image(int channels) {
        return graph.input("image", DataType.FLOAT32, "batch", channels, 5, 5);
    }

    private static LayerPlan layer(PrunePlan plan, String name) {
        return plan.layers().stream()
                .filter(layer -> layer.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Graph prune(Graph model) {
        return prune(model, PruneOptions.DEFAULT);
    }

    private static Graph prune(Graph model, PruneOptions options) {
        Graph pruned = Pruner.plan(model, options).apply();
        Equivalence.measure(model, pruned, SampleInputs.DEFAULT.draw(model), Evaluator::run)
                .requireEqual(TOLERANCE);
        assertSame(pruned, Pruner.plan(pruned, options.restrictedTo(pruned)).apply());
        return pruned;
    }

    private static long[] shape(Graph model, String tensor) {
        return Objects.requireNonNull(model.tensor(tensor), tensor).shape();
    }

    /**
     * The paper's figure: a quarter of the first layer is zero, and of its three filters the second layer ignores one. So
     * half of the first layer is left: 3/4 of its inputs times 2/3 of its filters.
     */
    @Test
    void halfOfTheFirstLayerIsLeftWhereAQuarterWasPrunedDirectly() {
        Value x = image(4);
        Value first =
                apply("relu", Unary.Function.RELU, convolution("first", x, 1, true, zeros(inputs(2), 3, 4, 3, 3)));
        Graph model = graph.outputs(convolution("second", first, 1, true, zeros(inputs(1), 2, 3, 3, 3)));
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        assertEquals(
                0.5,
                (double) layer(plan, "first").weightsAfter()
                        / layer(plan, "first").weightsBefore());
        assertEquals(
                "1 input has no weight, 1 output is not read",
                layer(plan, "first").why());
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {2, 3, 3, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {2}, shape(pruned, "first.bias"));
        assertArrayEquals(new long[] {2, 2, 3, 3}, shape(pruned, "second.weight"));
    }

    @Test
    void modelWithoutZerosIsTheSameObject() {
        Value x = image(3);
        Graph model = graph.outputs(convolution("only", x, 1, true, zeros(inputs(), 4, 3, 3, 3)));
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        assertFalse(plan.changes());
        assertSame(model, plan.apply());
    }

    @Test
    void modelWhoseOutputWouldBeConstantIsRefusedWithTheLayerAtFault() {
        Value x = image(3);
        Value good = convolution("good", x, 1, true, zeros(inputs(), 4, 3, 3, 3));
        Value dead = convolution("dead", good, 1, true, zeros((row, column) -> true, 4, 4, 3, 3));
        Graph model = graph.outputs(convolution("last", dead, 1, true, zeros(inputs(), 2, 4, 3, 3)));
        GraphException refused = assertThrows(GraphException.class, () -> Pruner.plan(model, PruneOptions.DEFAULT));
        assertTrue(String.valueOf(refused.getMessage()).contains("layer dead (Conv)"), refused.getMessage());
    }

    @Test
    void keptLayersKeepTheirChannels() {
        Value x = image(3);
        Value first = convolution("first", x, 1, true, zeros(inputs(1), 6, 3, 3, 3));
        Value second = convolution("second", first, 1, true, zeros(inputs(0, 1), 4, 6, 3, 3));
        Graph model = graph.outputs(convolution("third", second, 1, true, zeros(inputs(3), 2, 4, 3, 3)));
        Graph pruned = prune(model, PruneOptions.DEFAULT.withKeep(Set.of("first")));
        assertArrayEquals(new long[] {6, 3, 3, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {3, 4, 3, 3}, shape(pruned, "second.weight"));
        GraphException unknown = assertThrows(
                GraphException.class, () -> Pruner.plan(model, PruneOptions.DEFAULT.withKeep(Set.of("forth"))));
        assertTrue(String.valueOf(unknown.getMessage()).contains("forth"), unknown.getMessage());
    }

    @Test
    void channelsAreRoundedUp() {
        Value x = image(3);
        Value first = convolution("first", x, 1, true, zeros(inputs(), 20, 3, 3, 3));
        Graph model =
                graph.outputs(convolution("second", first, 1, true, zeros((row, column) -> column >= 9, 2, 20, 3, 3)));
        assertArrayEquals(new long[] {2, 9, 3, 3}, shape(prune(model), "second.weight"));
        Graph rounded = prune(model, PruneOptions.DEFAULT.withWidths(Widths.multiplesOf(8)));
        assertArrayEquals(new long[] {2, 16, 3, 3}, shape(rounded, "second.weight"));
        assertArrayEquals(new long[] {16, 3, 3, 3}, shape(rounded, "first.weight"));
    }

    /** Two readers of the same channels, of which one ignores the last four of twelve and the other the first four. */
    private Graph twoReaders() {
        Value shared = convolution("shared", image(3), 1, true, zeros(inputs(), 20, 3, 3, 3));
        Value left = convolution("left", shared, 1, true, zeros((row, column) -> column >= 8, 2, 20, 3, 3));
        Value right = convolution(
                "right",
                apply("relu", Unary.Function.RELU, shared),
                1,
                true,
                zeros((row, column) -> column < 4 || column >= 13, 2, 20, 3, 3));
        return graph.outputs(graph.add("sum", new Binary(Binary.Function.ADD), left, right));
    }

    private static long selections(Graph model) {
        return model.nodes().stream()
                .filter(node -> node.operator() instanceof Gather)
                .count();
    }

    @Test
    void whoDoesNotSelectReadsAllThatOthersNeed() {
        Graph model = twoReaders();
        Graph narrowest = prune(model);
        assertEquals(2, selections(narrowest));
        assertArrayEquals(new long[] {2, 8, 3, 3}, shape(narrowest, "left.weight"));
        assertArrayEquals(new long[] {2, 9, 3, 3}, shape(narrowest, "right.weight"));
        Widths none = Widths.NARROWEST.withSelections(Widths.Selections.NONE);
        Graph plain = prune(model, PruneOptions.DEFAULT.withWidths(none));
        assertEquals(0, selections(plain));
        assertArrayEquals(new long[] {13, 3, 3, 3}, shape(plain, "shared.weight"));
        assertArrayEquals(new long[] {2, 13, 3, 3}, shape(plain, "left.weight"));
        assertArrayEquals(new long[] {2, 13, 3, 3}, shape(plain, "right.weight"));
        Graph rounded = prune(model, PruneOptions.DEFAULT.withWidths(none.withConvolutions(8)));
        assertEquals(0, selections(rounded));
        assertArrayEquals(new long[] {16, 3, 3, 3}, shape(rounded, "shared.weight"));
        Graph products = prune(model, PruneOptions.DEFAULT.withWidths(none.withProducts(8)));
        assertArrayEquals(new long[] {13, 3, 3, 3}, shape(products, "shared.weight"));
    }

    /** The convolutions have two filters of nine weights: five channels less spare 90 multiplications for each of eight elements. */
    @Test
    void whoWouldSaveLittleDoesNotSelect() {
        Widths few = Widths.NARROWEST.withSelections(Widths.Selections.WORTHWHILE);
        assertEquals(0, selections(prune(twoReaders(), PruneOptions.DEFAULT.withWidths(few))));
        assertFalse(few.select(8, 13, 18));
        assertTrue(few.select(8, 13, 100));
    }

    @Test
    void residualBlockWhoseBranchCarriesNothingDisappears() {
        Value x = image(3);
        Value stem =
                apply("stem.relu", Unary.Function.RELU, convolution("stem", x, 1, true, zeros(inputs(), 4, 3, 3, 3)));
        Value branch = apply(
                "branch.relu",
                Unary.Function.RELU,
                convolution("branch.0", stem, 1, true, zeros(inputs(), 4, 4, 3, 3)));
        Value dead = convolution("branch.1", branch, 1, false, zeros((row, column) -> true, 4, 4, 3, 3));
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), stem, dead);
        Graph model = graph.outputs(convolution("last", sum, 1, true, zeros(inputs(), 2, 4, 3, 3)));
        Graph pruned = prune(model);
        assertEquals(
                List.of("stem", "stem.relu", "last"),
                pruned.nodes().stream().map(Node::name).toList());
    }

    @Test
    void streamOfAResidualLosesAChannelOnlyIfNobodyReadsIt() {
        Value x = image(3);
        Value stem = convolution("stem", x, 1, true, zeros(inputs(), 4, 3, 3, 3));
        Value branch = convolution("branch", stem, 1, true, zeros(inputs(0, 1), 4, 4, 3, 3));
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), stem, branch);
        Graph model = graph.outputs(convolution("last", sum, 1, true, zeros(inputs(0, 2), 2, 4, 3, 3)));
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {3, 3, 3, 3}, shape(pruned, "stem.weight"), "channel 0 is read by nobody");
        assertArrayEquals(new long[] {2, 2, 3, 3}, shape(pruned, "branch.weight"));
        assertArrayEquals(new long[] {2, 2, 3, 3}, shape(pruned, "last.weight"));
    }

    @Test
    void constantsGoIntoTheNextBiasUnlessZerosAreMixedIn() {
        assertArrayEquals(new long[] {2, 3, 3, 3}, shape(prune(behindConstant(0, true)), "last.weight"));
        assertEquals(
                0,
                layer(Pruner.plan(behindConstant(1, true), PruneOptions.DEFAULT), "last")
                                .inputsBefore()
                        - layer(Pruner.plan(behindConstant(1, true), PruneOptions.DEFAULT), "last")
                                .inputsAfter());
        assertArrayEquals(new long[] {2, 3, 3, 3}, shape(prune(behindConstant(1, false)), "last.weight"));
    }

    /** The second of four channels carries its bias, or zero, and goes into a convolution. */
    private static Graph behindConstant(int pad, boolean bias) {
        PruneExamplesTest own = new PruneExamplesTest();
        Value x = own.image(3);
        Value first = own.convolution("first", x, 1, bias, own.zeros(outputs(1), 4, 3, 3, 3));
        Value active = own.apply("tanh", Unary.Function.TANH, first);
        return own.graph.outputs(own.convolution("last", active, pad, false, own.zeros(inputs(), 2, 4, 3, 3)));
    }

    @Test
    void flattenedChannelsGoWithAllTheirPixels() {
        Value x = image(3);
        Value first = convolution("first", x, 1, true, zeros(inputs(), 4, 3, 3, 3));
        Value flat = graph.add("flatten", new Flatten(1), first);
        // Channel 2 has the columns from 50 to 74; of channel 0 only one pixel is read.
        Graph model = graph.outputs(linear(
                "last",
                flat,
                zeros((row, column) -> (column >= 50 && column < 75) || (column > 0 && column < 25), 2, 100)));
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {3, 3, 3, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {2, 75}, shape(pruned, "last.weight"));
    }

    /** Who computes with lengths gets those that there were, and asks for no channel. */
    @Test
    void shapesOfPrunedTensorsTellTheLengthsThatTheyHad() {
        Value x = image(3);
        Value first = convolution("first", x, 1, true, zeros(inputs(), 6, 3, 3, 3));
        Value last = convolution("last", first, 1, true, zeros(inputs(1, 4), 2, 6, 3, 3));
        Value lengths = graph.add("lengths", ShapeOf.ALL, first);
        Value some = graph.add("some", new ShapeOf(1, 3), first);
        Value free = graph.add("free", new Gather(0), lengths, graph.constant("zero", Tensor.of(new long[] {0})));
        Value size = graph.add("size", new Size(), first);
        Graph model = graph.outputs(last, lengths, some, free, size);
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {4, 3, 3, 3}, shape(pruned, "first.weight"));
        for (String output : List.of("lengths", "some", "free", "size")) {
            assertEquals(model.fact(output).elements(), pruned.fact(output).elements(), output);
        }
    }

    @Test
    void layerNormStaysWholeAndItsReadersTakeAPart() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value hidden = linear("first", x, zeros(inputs(), 4, 3));
        Value norm = graph.add(
                "norm",
                new LayerNorm(-1, 1e-5),
                hidden,
                graph.parameter("scale", vector(4)),
                graph.parameter("shift", vector(4)));
        Graph pruned = prune(graph.outputs(linear("last", norm, zeros(inputs(1, 3), 2, 4))));
        assertArrayEquals(new long[] {4, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {2, 2}, shape(pruned, "last.weight"));
        assertTrue(pruned.nodes().stream().anyMatch(node -> node.operator() instanceof Gather));
    }

    /** A normalisation along the columns of an image makes channels of them, which a pool then mixes. */
    @Test
    void poolsReadAllColumnsThatANormalisationMade() {
        for (Operator pool : List.of(
                new GlobalPool(Pool.Function.AVERAGE),
                new Pool(Pool.Function.AVERAGE, List.of(5L, 5L), Windows.square(1, 0), false, false))) {
            PruneExamplesTest own = new PruneExamplesTest();
            Value x = own.image(3);
            Value first = own.convolution("first", x, 1, true, own.zeros(inputs(1), 4, 3, 3, 3));
            Value norm = own.graph.add(
                    "norm",
                    new LayerNorm(-1, 1e-5),
                    first,
                    own.graph.parameter("scale", own.vector(5)),
                    own.graph.parameter("shift", own.vector(5)));
            Value mean = own.graph.add("pool", pool, own.apply("relu", Unary.Function.RELU, norm));
            Value flat = own.graph.add("flatten", new Flatten(1), mean);
            prune(own.graph.outputs(own.linear("last", flat, own.zeros(inputs(), 2, 4))));
        }
    }

    /** Two heads of three dimensions: the second head is ignored, the first needs two values and one key dimension. */
    @Test
    void headsAndTheirDimensionsGo() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", "length", 4);
        Value query = heads("query", x, zeros((row, column) -> column == 1, 4, 6), List.of(0L, 2L, 1L, 3L));
        Value key = heads("key", x, zeros((row, column) -> column == 0, 4, 6), List.of(0L, 2L, 3L, 1L));
        Value value = heads("value", x, zeros((row, column) -> false, 4, 6), List.of(0L, 2L, 1L, 3L));
        Value scores = graph.add("scores", new MatMul(), query, key);
        Value weights = graph.add("weights", new Softmax(-1, false), scores);
        Value context = graph.add("context", new MatMul(), weights, value);
        Value back = graph.add("back", new Transpose(List.of(0L, 2L, 1L, 3L)), context);
        Value merged =
                graph.add("merge", Reshape.DEFAULT, back, graph.constant("merge.to", Tensor.of(new long[] {0, 0, 6})));
        Value weight = graph.parameter("out.weight", zeros((row, column) -> row == 2 || row > 2, 6, 4));
        Graph pruned = prune(graph.outputs(graph.add("out", new MatMul(), merged, weight)));
        assertArrayEquals(new long[] {4, 1}, shape(pruned, "query.weight"));
        assertArrayEquals(new long[] {4, 1}, shape(pruned, "key.weight"));
        assertArrayEquals(new long[] {4, 2}, shape(pruned, "value.weight"));
        assertArrayEquals(new long[] {2, 4}, shape(pruned, "out.weight"));
    }

    private Value heads(String name, Value x, Tensor weight, List<Long> order) {
        Value product = graph.add(name, new MatMul(), x, graph.parameter(name + ".weight", weight));
        Value shape = graph.constant(name + ".to", Tensor.of(new long[] {0, 0, 2, 3}));
        return graph.add(
                name + ".order", new Transpose(order), graph.add(name + ".heads", Reshape.DEFAULT, product, shape));
    }

    /** Its weights have the inputs in front; its groups go as a whole, as those of a convolution do. */
    @Test
    void aTransposedConvolutionIsALayer() {
        Value first = convolution("first", image(4), 1, true, zeros(outputs(), 4, 4, 3, 3));
        Windows twice = Windows.square(2, 0);
        Value larger = graph.add(
                "larger",
                new ConvTranspose(twice, List.of(0L, 0L), 1),
                first,
                graph.parameter("larger.weight", zeros(outputs(1), 4, 6, 2, 2)),
                graph.parameter("larger.bias", vector(6)));
        Value parts = graph.add(
                "parts",
                new ConvTranspose(twice, List.of(1L, 1L), 3),
                larger,
                graph.parameter("parts.weight", zeros((in, out) -> false, 6, 1, 2, 2)));
        Graph model = graph.outputs(convolution("last", parts, 0, true, zeros(inputs(1), 2, 3, 1, 1)));
        assertEquals(
                List.of("first", "larger", "parts", "last"),
                Pruner.plan(model, PruneOptions.DEFAULT).layers().stream()
                        .map(LayerPlan::name)
                        .toList());
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {3, 4, 3, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {3, 4, 2, 2}, shape(pruned, "larger.weight"));
        assertArrayEquals(new long[] {4}, shape(pruned, "larger.bias"));
        assertArrayEquals(new long[] {4, 1, 2, 2}, shape(pruned, "parts.weight"));
        assertArrayEquals(new long[] {2, 2, 1, 1}, shape(pruned, "last.weight"));
    }

    /** The new lengths, which name that of the channels too, are told by scales, by numbers, or by shapes. */
    @ParameterizedTest
    @ValueSource(strings = {"scales", "numbers", "shapes"})
    void channelsPassAResize(String told) {
        Value first = convolution("first", image(4), 1, true, zeros(outputs(2), 3, 4, 3, 3));
        Sampling sampling = new Sampling(
                Sampling.Mode.LINEAR, Sampling.Coordinates.ASYMMETRIC, Sampling.Rounding.FLOOR, -0.75, false);
        Value larger = switch (told) {
            case "scales" -> graph.add("resize", new Resize(sampling, List.of(), List.of(1.0, 1.0, 2.0, 1.5)), first);
            case "numbers" ->
                graph.add(
                        "resize",
                        new Resize(sampling, List.of(1L, 2L, 3L), List.of()),
                        first,
                        graph.constant("lengths", Tensor.of(new long[] {3, 8, 9})));
            default -> {
                Value shape = graph.add("shape", ShapeOf.ALL, first);
                Value zero = graph.constant("zero", Tensor.of(new long[] {0}));
                Value two = graph.constant("two", Tensor.of(new long[] {2}));
                Value front = graph.add("front", new Slice(), shape, zero, two);
                Value back = graph.constant("back", Tensor.of(new long[] {7, 4}));
                yield graph.add(
                        "resize",
                        new Resize(sampling, List.of(), List.of()),
                        first,
                        graph.add("lengths", new Concat(0), front, back));
            }
        };
        Graph model = graph.outputs(convolution("second", larger, 1, true, zeros(inputs(1), 2, 3, 3, 3)));
        Graph pruned = prune(model);
        assertArrayEquals(new long[] {2, 4, 3, 3}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {2, 2, 3, 3}, shape(pruned, "second.weight"));
    }

    @Test
    void smallGroupsGoWithAThresholdAndThePlanSaysThatThisIsNotExact() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value hidden = linear("first", x, Tensor.of(new float[] {1, 1, 1, 1, 1, 1}, 3, 2));
        // The norm of the second column is 0.005: 0.0035 times the root of its size.
        Graph model = graph.outputs(linear("last", hidden, Tensor.of(new float[] {1, 0.003f, 1, 1, 0.004f, 1}, 2, 3)));
        PrunePlan exact = Pruner.plan(model, PruneOptions.DEFAULT.withThreshold(0.0035));
        assertTrue(exact.isExact());
        assertSame(model, exact.apply());
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT.withThreshold(0.0036));
        assertFalse(plan.isExact());
        assertEquals(1, plan.zeroedGroups());
        assertNotSame(model, plan.reference());
        assertSame(model, Pruner.threshold(model, PruneOptions.DEFAULT.withThreshold(0.0035)));
        Graph zeroed = Pruner.threshold(model, PruneOptions.DEFAULT.withThreshold(0.0036));
        assertArrayEquals(
                Objects.requireNonNull(plan.reference().tensor("last.weight")).toFloats(),
                Objects.requireNonNull(zeroed.tensor("last.weight")).toFloats());
        assertEquals(1, GroupRules.everything().derive(zeroed).zeroGroups(zeroed));
        assertTrue(plan.toString().contains("NOT exact"), plan.toString());
        assertArrayEquals(new long[] {2, 2}, shape(plan.apply(), "last.weight"));
        assertArrayEquals(new long[] {2, 2}, shape(plan.apply(), "first.weight"));
        Map<String, Tensor> inputs = SampleInputs.DEFAULT.draw(model);
        Equivalence.measure(plan.reference(), plan.apply(), inputs, Evaluator::run)
                .requireEqual(TOLERANCE);
        Equivalence off = Equivalence.measure(model, plan.apply(), inputs, Evaluator::run);
        assertTrue(off.absolute() > 0);
        assertThrows(GraphException.class, () -> off.requireEqual(TOLERANCE));
    }

    /** What a layer hears from a channel that is constant goes into its bias: a group less than were not zero before. */
    @Test
    void reportTellsGroupsBeforePruningFromThoseThatAreLeft() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value hidden = linear("first", x, Tensor.of(new float[] {1, 2, 0, 0, 3, 4}, 3, 2));
        Graph model = graph.outputs(linear("last", hidden, Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3)));
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        PruneReport report = PruneReport.of(plan, SampleInputs.DEFAULT.dimensions(model));
        assertEquals(1, report.groupsNotZero());
        assertEquals(4.0 / 5, report.groupsLeft());
        assertEquals(3, report.layers().getLast().nonZeroGroups());
        assertEquals(2, report.layers().getLast().groupsLeft());
        assertTrue(report.toJson().contains("\"groups_not_zero\" : 1.0"), report.toJson());
        assertTrue(report.toJson().contains("\"groups_left\" : 0.8"), report.toJson());
    }

    @Test
    void reportCountsGroupsAndParameters() {
        Value x = image(4);
        Value first = convolution("first", x, 1, true, zeros(inputs(2), 3, 4, 3, 3));
        Graph model = graph.outputs(convolution("second", first, 1, true, zeros(inputs(1), 2, 3, 3, 3)));
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        PruneReport report = PruneReport.of(plan, SampleInputs.DEFAULT.dimensions(model));
        assertEquals(5.0 / 7, report.groupsLeft());
        assertEquals(Cost.parameters(plan.apply()), report.parametersAfter());
        assertEquals((54.0 + 2 + 36 + 2) / (108 + 3 + 54 + 2), report.parametersLeft());
        assertTrue(report.flopsAfter() < report.flopsBefore());
        assertEquals(report.groupsNotZero(), report.groupsLeft(), "nothing went but zeros");
        String picture = PrunePicture.svg(plan.layers());
        assertEquals(5, picture.split("<rect ", -1).length, "two bars for each layer");
    }

    /** Where nothing else can go, too. */
    @Test
    void whatNoOutputNeedsIsGone() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value read = linear("read", x, zeros((row, column) -> false, 2, 3));
        linear("unread", x, zeros((row, column) -> false, 4, 3));
        Graph pruned = prune(graph.outputs(read));
        assertEquals(List.of("read"), pruned.nodes().stream().map(Node::name).toList());
        assertEquals(Set.of("read.weight", "read.bias"), pruned.initializers().keySet());
    }

    /** One channel beside one is not stretched: a branch of zeros is bypassed whatever its width. */
    @Test
    void aBranchOfZerosBesideASingleChannelIsGone() {
        Value x = image(2);
        Value alive = convolution("alive", x, 0, true, zeros((row, column) -> false, 1, 2, 1, 1));
        Value first = apply("relu", Unary.Function.RELU, convolution("first", x, 0, true, zeros(inputs(), 1, 2, 1, 1)));
        Value second = convolution("second", first, 0, false, zeros((row, column) -> true, 1, 1, 1, 1));
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), alive, second);
        Graph pruned = prune(graph.outputs(convolution("end", sum, 0, true, zeros(inputs(), 2, 1, 1, 1))));
        assertEquals(
                List.of("alive", "end"), pruned.nodes().stream().map(Node::name).toList());
    }

    private static List<String> names(Graph pruned) {
        return pruned.nodes().stream().map(Node::name).toList();
    }

    /** A sum of something with what a convolution makes of a constant; at the borders, that is none. */
    private Graph spread(Value x, Value constant) {
        Value spread = convolution("spread", constant, 1, true, zeros(inputs(), 2, constantChannels(constant), 3, 3));
        Value other = convolution("other", x, 0, true, zeros(inputs(), 2, 2, 1, 1));
        return graph.outputs(graph.add("end", new Binary(Binary.Function.ADD), spread, other));
    }

    private static long constantChannels(Value constant) {
        return constant.shape().get(1).value();
    }

    @Test
    void aBranchOfZerosBesideAConstantIsGone() {
        Value x = image(2);
        Value alive = convolution("alive", x, 0, true, zeros((row, column) -> true, 1, 2, 1, 1));
        Value first = apply("relu", Unary.Function.RELU, convolution("first", x, 0, true, zeros(inputs(), 1, 2, 1, 1)));
        Value second = convolution("second", first, 0, false, zeros((row, column) -> true, 1, 1, 1, 1));
        Graph pruned = prune(spread(x, graph.add("sum", new Binary(Binary.Function.ADD), alive, second)));
        assertEquals(Set.of("alive", "spread", "other", "end"), Set.copyOf(withoutSelections(pruned)));
    }

    private static List<String> withoutSelections(Graph pruned) {
        return names(pruned).stream()
                .filter(name -> !name.contains("selection"))
                .toList();
    }

    /** A layer that hears nothing hears a channel that costs no weights, wherever that is. */
    @Test
    void aChannelThatOnlyHoldsAPlaceIsAConstantOne() {
        Value x = image(2);
        Value first =
                apply("relu", Unary.Function.RELU, convolution("first", x, 0, true, zeros(outputs(1), 3, 2, 1, 1)));
        Value second = convolution("second", first, 0, true, zeros((row, column) -> true, 1, 3, 1, 1));
        Graph pruned = prune(spread(x, second));
        assertArrayEquals(new long[] {1, 1, 1, 1}, shape(pruned, "first.weight"));
    }

    /** Of two constants the one that is read, and not the other one and a bias. */
    @Test
    void aConstantThatIsReadNeedsNoBiasInItsPlace() {
        Value x = image(2);
        Value first = convolution("first", x, 0, true, zeros((row, column) -> true, 2, 2, 1, 1));
        Graph pruned = prune(spread(x, convolution("second", first, 0, false, zeros(inputs(0), 1, 2, 1, 1))));
        assertEquals(
                Set.of("first.weight", "first.bias", "second.weight"),
                pruned.initializers().keySet().stream()
                        .filter(name -> name.startsWith("first") || name.startsWith("second"))
                        .collect(Collectors.toSet()));
    }

    /** What all layers leave as they are goes too. */
    @Test
    void aConstantIsNotStretchedWhereNothingElseGoes() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value first = linear("first", x, zeros(inputs(), 3, 3));
        Value stretched = graph.add(
                "stretched",
                new Expand(),
                graph.parameter("scales", vector(3)),
                graph.add("shape", ShapeOf.ALL, first));
        Value product = graph.add("product", new Binary(Binary.Function.MULTIPLY), first, stretched);
        Graph pruned = prune(graph.outputs(linear("last", product, zeros(inputs(), 2, 3))));
        assertEquals(List.of("first", "product", "last"), names(pruned));
    }

    @Test
    void columnsOfATableAreGoneWhereNothingElseGoes() {
        Value tokens = graph.input("tokens", DataType.INT64, "batch", 3);
        Value table = graph.parameter("table", zeros(inputs(), 7, 4));
        Value embedded = graph.add("embedded", new Gather(0), table, tokens);
        Value some = graph.add(
                "some",
                new Slice(),
                embedded,
                graph.constant("from", Tensor.of(new long[] {1})),
                graph.constant("to", Tensor.of(new long[] {3})),
                graph.constant("axes", Tensor.of(new long[] {2})));
        Value weight = graph.parameter("weight", zeros(inputs(), 2, 2));
        Graph pruned = prune(graph.outputs(graph.add("y", new MatMul(), some, weight)));
        assertArrayEquals(new long[] {7, 2}, shape(pruned, "table"));
        assertEquals(List.of("embedded", "y"), names(pruned));
    }

    @Test
    void aBiasOfOneNumberForAllChannelsStaysOne() {
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value first = graph.add(
                "first",
                Gemm.LINEAR,
                x,
                graph.parameter("first.weight", zeros(inputs(), 4, 2)),
                graph.parameter("first.bias", vector(1)));
        Graph pruned = prune(graph.outputs(linear("last", first, zeros(inputs(1), 2, 4))));
        assertArrayEquals(new long[] {3, 2}, shape(pruned, "first.weight"));
        assertArrayEquals(new long[] {1}, shape(pruned, "first.bias"));
    }

    /** A table is no layer of which the plan tells, but as much at fault. */
    @Test
    void modelWhoseTableIsZeroIsRefused() {
        Value tokens = graph.input("tokens", DataType.INT64, "batch", 3);
        Value table = graph.parameter("table", zeros((row, column) -> true, 7, 4));
        Value embedded = graph.add("embedded", new Gather(0), table, tokens);
        Value weight = graph.parameter("weight", zeros(inputs(), 4, 2));
        Graph model = graph.outputs(graph.add("y", new MatMul(), embedded, weight));
        GraphException refused = assertThrows(GraphException.class, () -> Pruner.plan(model, PruneOptions.DEFAULT));
        assertTrue(String.valueOf(refused.getMessage()).contains("embedded"), refused.getMessage());
    }
}
