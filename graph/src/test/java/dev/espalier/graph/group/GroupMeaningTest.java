package dev.espalier.graph.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a group means: without its weights, and only then, a layer does not listen to the input channel. */
class GroupMeaningTest {
    private static final Initialization NORMAL = new Initialization.Normal(1);

    @SuppressWarnings("ArrayRecordComponent") // nobody compares these records
    record Layer(String label, Operator operator, long[] input, int channelAxis, long[] weight, boolean weightFirst) {
        Graph graph() {
            GraphBuilder builder = new GraphBuilder(label);
            Value x = builder.input(
                    "x", DataType.FLOAT32, Arrays.stream(input).boxed().toArray());
            Value w = builder.parameter("w", Weights.seeded(1).tensor("w", NORMAL, weight));
            return builder.outputs(weightFirst ? builder.add("y", operator, w, x) : builder.add("y", operator, x, w));
        }

        @Override
        public String toString() {
            return label;
        }
    }

    private static long[] shape(long... lengths) {
        return lengths;
    }

    static Stream<Layer> layers() {
        Windows windows = Windows.square(1, 1);
        return Stream.of(
                new Layer("convolution", new Conv(windows, 1), shape(2, 4, 5, 5), 1, shape(3, 4, 3, 3), false),
                new Layer("in two parts", new Conv(windows, 2), shape(2, 6, 5, 5), 1, shape(4, 3, 3, 3), false),
                new Layer("depthwise", new Conv(windows, 4), shape(2, 4, 5, 5), 1, shape(4, 1, 3, 3), false),
                new Layer("depthwise, doubled", new Conv(windows, 4), shape(2, 4, 5, 5), 1, shape(8, 1, 3, 3), false),
                new Layer("one filter a part", new Conv(windows, 2), shape(2, 6, 5, 5), 1, shape(2, 3, 3, 3), false),
                new Layer("linear", Gemm.LINEAR, shape(3, 4), 1, shape(5, 4), false),
                new Layer("gemm", new Gemm(1, 1, false, false), shape(3, 4), 1, shape(4, 5), false),
                new Layer("gemm of columns", new Gemm(1, 1, true, false), shape(4, 3), 0, shape(4, 5), false),
                new Layer("gemm from the left", new Gemm(1, 1, false, false), shape(4, 3), 0, shape(5, 4), true),
                new Layer("turned, from the left", new Gemm(1, 1, true, false), shape(4, 3), 0, shape(4, 5), true),
                new Layer("product", new MatMul(), shape(2, 3, 4), 2, shape(4, 5), false),
                new Layer("product from the left", new MatMul(), shape(2, 4, 3), 1, shape(5, 4), true),
                new Layer("many products", new MatMul(), shape(2, 3, 4), 2, shape(2, 4, 5), false));
    }

    @ParameterizedTest
    @MethodSource("layers")
    void aLayerWithoutAGroupDoesNotListenToItsChannel(Layer layer) {
        Graph graph = layer.graph();
        LayerGroups groups = GroupRules.everything().derive(graph).layers().getFirst();
        assertEquals(layer.input()[layer.channelAxis()], groups.groups().count());
        Tensor x = Weights.seeded(2).tensor("x", NORMAL, layer.input());
        for (int channel = 0; channel < groups.groups().count(); channel++) {
            Tensor changed = changed(layer, x, channel);
            assertFalse(Arrays.equals(run(graph, x), run(graph, changed)), "channel " + channel);
            Graph without = without(graph, groups, channel);
            assertArrayEquals(run(without, x), run(without, changed), 0f, "channel " + channel);
            assertEquals(1, groups.zeroGroups(without));
        }
    }

    private static float[] run(Graph graph, Tensor x) {
        return Objects.requireNonNull(Evaluator.run(graph, Map.of("x", x)).get("y"))
                .toFloats();
    }

    private static Tensor changed(Layer layer, Tensor x, int channel) {
        long[] shape = layer.input();
        long inner = Arrays.stream(shape).skip(layer.channelAxis() + 1L).reduce(1, Math::multiplyExact);
        long length = shape[layer.channelAxis()];
        return Tensor.compute(
                DataType.FLOAT32, shape, i -> i / inner % length == channel ? x.getDouble(i) + 1 : x.getDouble(i));
    }

    private static Graph without(Graph graph, LayerGroups groups, int channel) {
        Set<Long> members = new HashSet<>();
        groups.groups().forEach(channel, (tensor, index) -> members.add(index));
        Tensor weight = Objects.requireNonNull(graph.tensor("w"));
        return graph.withTensors(Map.of(
                "w",
                Tensor.compute(DataType.FLOAT32, weight.shape(), i -> members.contains(i) ? 0 : weight.getDouble(i))));
    }
}
