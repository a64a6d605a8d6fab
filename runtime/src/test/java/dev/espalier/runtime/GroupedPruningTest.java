package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.LayerPlan;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What goes of convolutions in groups, held against ONNX Runtime. */
final class GroupedPruningTest {
    private final SplittableRandom random = new SplittableRandom(11);
    private final GraphBuilder graph = new GraphBuilder("grouped");

    /** Places of the first two axes that are zero. */
    @FunctionalInterface
    private interface Zeros {
        boolean at(int row, int column);
    }

    private Value conv(String name, Value x, int groups, Zeros zeros, long... shape) {
        return graph.add(
                name,
                new Conv(Windows.square(1, shape[2] == 3 ? 1 : 0), groups),
                x,
                weight(name, zeros, shape),
                bias(name, shape[0]));
    }

    private Value weight(String name, Zeros zeros, long... shape) {
        long inner = shape[2] * shape[3];
        return graph.parameter(
                name + ".weight",
                Tensor.compute(
                        DataType.FLOAT32,
                        shape,
                        i -> zeros.at((int) (i / inner / shape[1]), (int) (i / inner % shape[1]))
                                ? 0
                                : random.nextGaussian()));
    }

    private Value bias(String name, long size) {
        return graph.parameter(
                name + ".bias", Tensor.compute(DataType.FLOAT32, new long[] {size}, i -> random.nextGaussian()));
    }

    private Value relu(String name, Value x) {
        return graph.add(name, new Unary(Unary.Function.RELU), x);
    }

    private Value image() {
        return graph.input("image", DataType.FLOAT32, "batch", 3, 6, 6);
    }

    private static Zeros none() {
        return (row, column) -> false;
    }

    private static Zeros columns(Integer... gone) {
        return (row, column) -> Set.of(gone).contains(column);
    }

    private static Graph prune(Graph model) {
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        Graph pruned = plan.apply();
        try (Judge judge = Judge.of(model, SampleInputs.DEFAULT, 1)) {
            judge.compare(pruned, OnnxWriter.Options.DEFAULT).requireEqual(Equivalence.TOLERANCE);
        }
        assertSame(pruned, Pruner.plan(pruned, PruneOptions.DEFAULT).apply());
        long weights = plan.layers().stream().mapToLong(LayerPlan::weightsAfter).sum();
        long biases = pruned.initializers().keySet().stream()
                .filter(name -> name.endsWith("bias"))
                .mapToLong(name -> Objects.requireNonNull(pruned.tensor(name)).size())
                .sum();
        assertEquals(Cost.parameters(pruned), weights + biases, plan.toString());
        return pruned;
    }

    private static long[] shape(Graph model, String tensor) {
        return Objects.requireNonNull(model.tensor(tensor), tensor).shape();
    }

    /**
     * Three groups of four inputs and two outputs. The first reads inputs 0 and 2, the second 5 and 6, and the third, of which
     * nobody reads an output, goes.
     */
    @Test
    void groupsKeepEquallyManyChannels() {
        Value x = relu("first", conv("before", image(), 1, none(), 12, 3, 3, 3));
        Zeros unread = (row, column) -> row < 2 ? column % 2 == 1 : column == 0 || column == 3;
        Value y = relu("second", conv("grouped", x, 3, unread, 6, 4, 3, 3));
        Graph pruned = prune(graph.outputs(conv("after", y, 1, columns(0, 3, 4, 5), 5, 6, 1, 1)));
        assertArrayEquals(new long[] {2, 2, 3, 3}, shape(pruned, "grouped.weight"));
        assertArrayEquals(new long[] {4, 3, 3, 3}, shape(pruned, "before.weight"));
        assertArrayEquals(new long[] {5, 2, 1, 1}, shape(pruned, "after.weight"));
    }

    /** One output is read of the first group and two are of the second: both keep two. */
    @Test
    void aGroupWithFewerChannelsIsFilledUp() {
        Value x = relu("first", conv("before", image(), 1, none(), 6, 3, 3, 3));
        Value y = relu("second", conv("grouped", x, 2, none(), 6, 3, 3, 3));
        Graph pruned = prune(graph.outputs(conv("after", y, 1, columns(0, 1, 5), 5, 6, 1, 1)));
        assertArrayEquals(new long[] {4, 3, 3, 3}, shape(pruned, "grouped.weight"));
        assertTrue(shape(pruned, "after.weight")[1] <= 4);
    }

    /** As in MobileNet: what the second pointwise layer does not read goes from the depthwise one and from the first. */
    @Test
    void depthwiseChannelsGoWithTheirPointwiseNeighbours() {
        Value x = relu("first", conv("expand", image(), 1, none(), 8, 3, 1, 1));
        Value y = relu("second", conv("depthwise", x, 8, (row, column) -> row == 7, 8, 1, 3, 3));
        Graph pruned = prune(graph.outputs(conv("project", y, 1, columns(1, 4), 4, 8, 1, 1)));
        // Channel 7 is a constant of the depthwise layer: it is folded, for the last layer has no padding.
        assertArrayEquals(new long[] {5, 3, 1, 1}, shape(pruned, "expand.weight"));
        assertArrayEquals(new long[] {5, 1, 3, 3}, shape(pruned, "depthwise.weight"));
        assertArrayEquals(new long[] {4, 5, 1, 1}, shape(pruned, "project.weight"));
    }

    /** The depthwise layer makes two channels of each: they go by twos, or one of each. */
    @Test
    void multipliedChannelsGoAlike() {
        Value x = relu("first", conv("expand", image(), 1, none(), 4, 3, 1, 1));
        Value y = relu("second", conv("depthwise", x, 4, none(), 8, 1, 3, 3));
        Graph pruned = prune(graph.outputs(conv("project", y, 1, columns(1, 3, 4, 6, 7), 4, 8, 1, 1)));
        assertArrayEquals(new long[] {3, 1, 3, 3}, shape(pruned, "depthwise.weight"));
        assertArrayEquals(new long[] {3, 3, 1, 1}, shape(pruned, "expand.weight"));
    }

    /** Its weights have the inputs in front. */
    @Test
    void transposedConvolutionsAreCutWithinGroups() {
        Value x = relu("first", conv("before", image(), 1, none(), 6, 3, 3, 3));
        Value weight = weight("grouped", (row, column) -> row == 1 || row == 3, 6, 4, 2, 2);
        Value y = graph.add(
                "grouped", new ConvTranspose(Windows.square(2, 0), List.of(0L, 0L), 2), x, weight, bias("grouped", 8));
        Graph pruned = prune(graph.outputs(conv("after", relu("second", y), 1, columns(0, 5), 2, 8, 1, 1)));
        assertArrayEquals(new long[] {4, 3, 2, 2}, shape(pruned, "grouped.weight"));
        assertArrayEquals(new long[] {4, 3, 3, 3}, shape(pruned, "before.weight"));
    }

    /** As in ShuffleNet: channels of all groups by turns, between two convolutions in groups. */
    @Test
    void channelsThatAreShuffledAreFollowed() {
        Value x = relu("first", conv("before", image(), 1, none(), 6, 3, 1, 1));
        Value y = conv("one", x, 2, (row, column) -> column == 1, 12, 3, 1, 1);
        Value cut = graph.add(
                "cut", Reshape.DEFAULT, y, graph.constant("cut.shape", Tensor.of(new long[] {0, 2, 6, 6, 6})));
        Value turned = graph.add("turned", new Transpose(List.of(0L, 2L, 1L, 3L, 4L)), cut);
        Value joined = graph.add(
                "joined", Reshape.DEFAULT, turned, graph.constant("joined.shape", Tensor.of(new long[] {0, 12, 6, 6})));
        Zeros unread = (row, column) -> column == 2 || column == 3;
        Value z = conv("two", relu("second", joined), 2, unread, 8, 6, 3, 3);
        Graph pruned = prune(graph.outputs(conv("after", z, 1, columns(0), 3, 8, 1, 1)));
        assertArrayEquals(new long[] {8, 2, 1, 1}, shape(pruned, "one.weight"));
    }
}
