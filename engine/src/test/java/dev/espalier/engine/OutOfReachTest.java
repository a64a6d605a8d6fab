package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Networks whose memory the processor must not touch: on a GPU if there is one, and as if there were one on the CPU. */
class OutOfReachTest {
    private static final String WEIGHT = "hidden.weight";

    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    private static Network network(Device device) {
        return Network.outOfReach(Models.perceptron(4, 3), Models.CLASSES, device);
    }

    private static Tensor weight(Network network) {
        return Objects.requireNonNull(network.graph().tensor(WEIGHT));
    }

    private static TensorView view(Map<String, TensorView> views) {
        return Objects.requireNonNull(views.get(WEIGHT));
    }

    private static double[] numbers(Tensor tensor) {
        double[] numbers = new double[(int) tensor.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = tensor.getDouble(i);
        }
        return numbers;
    }

    private static void addGradients(Network network) {
        Tensor x = Tensor.compute(DataType.FLOAT32, new long[] {5, 4}, i -> Math.sin((double) i));
        network.addGradients(Map.of("x", x), Map.of("class", Tensor.of(new long[] {0, 1, 2, 1, 0})), 1);
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void weightsAreReadAsCopiesAndChangedByRoundTrips(Device device) {
        try (Network network = network(device);
                Network near = new Network(Models.perceptron(4, 3), Device.CPU)) {
            assertEquals(device.place(), view(network.weights()).place());
            double before = weight(network).getDouble(5);
            view(network.readableWeights()).set(5, 70);
            assertEquals(before, weight(network).getDouble(5), "a copy was written to");
            network.changeWeights(weights -> view(weights).set(5, 7));
            assertEquals(7, weight(network).getDouble(5));
            assertEquals(7, view(network.readableWeights()).get(5));
            near.changeWeights(weights -> view(weights).set(5, 7));
            assertArrayEquals(numbers(weight(near)), numbers(weight(network)));
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void viewsAreMadeOnceAndGradientsFollowWhatIsTrained(Device device) {
        try (Network network = network(device)) {
            assertEquals(view(network.weights()), view(network.weights()));
            assertTrue(network.gradients().isEmpty());
            addGradients(network);
            assertEquals(network.weights().keySet(), network.gradients().keySet());
            network.freeze(WEIGHT::equals);
            assertFalse(network.gradients().containsKey(WEIGHT));
            network.freeze(name -> false);
            addGradients(network);
            assertEquals(
                    network.gradient(WEIGHT).getShape().size(),
                    view(network.gradients()).size());
            assertEquals(
                    Torch.address(network.gradient(WEIGHT)),
                    view(network.gradients()).segment().address());
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void whatIsReadIntoTheStateCountsOnceItIsRestored(Device device) {
        try (Network network = network(device)) {
            double[] first = numbers(weight(network));
            byte[] saved = bytes(network);
            network.changeWeights(weights -> view(weights).set(0, 9));
            assertNotEquals(first[0], weight(network).getDouble(0));
            MemorySegment memory = memory(network);
            memory.copyFrom(MemorySegment.ofArray(saved));
            assertEquals(9, weight(network).getDouble(0), "not before it is restored");
            network.restore();
            assertArrayEquals(first, numbers(weight(network)));
            network.changeWeights(weights -> view(weights).set(0, 9));
            network.restore();
            assertEquals(9, weight(network).getDouble(0), "nothing is restored twice");
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void stateAndSnapshotsShareOneCopy(Device device) {
        try (Network network = network(device)) {
            long address = memory(network).address();
            network.changeWeights(weights -> view(weights).set(0, 9));
            assertEquals(address, memory(network).address());
            assertEquals(9, memory(network).getAtIndex(ValueLayout.JAVA_FLOAT, 0));
            assertEquals(
                    address,
                    view(network.snapshot().weights(Set.of(WEIGHT))).segment().address());
        }
    }

    private static MemorySegment memory(Network network) {
        return Objects.requireNonNull(network.state().get("tensor/" + WEIGHT));
    }

    private static byte[] bytes(Network network) {
        return memory(network).toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void aSnapshotIsTheNetworkAsItIs(Device device) {
        try (Network far = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network network : List.of(near, far)) {
                for (int i = 0; i < 3; i++) {
                    int place = i;
                    network.changeWeights(weights -> view(weights).set(place, 7 + place));
                    Snapshot snapshot = network.snapshot();
                    assertEquals(7 + i, view(snapshot.weights(Set.of(WEIGHT))).get(i));
                    Graph graph = network.graph();
                    graph.initializers()
                            .forEach((name, initializer) -> assertTrue(
                                    initializer
                                            .tensor()
                                            .sameAs(Objects.requireNonNull(
                                                    snapshot.graph().tensor(name))),
                                    name));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void decayIsAddedWhereTheGradientsAre(Device device) {
        try (Network network = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network one : List.of(near, network)) {
                addGradients(one);
                double[] before = numbers(Tensors.tensor(one.gradient(WEIGHT)));
                double[] bias = numbers(Tensors.tensor(one.gradient("logits.bias")));
                double[] x = numbers(weight(one));
                one.decayGradients(0.5, Set.of(WEIGHT));
                Arrays.setAll(before, i -> before[i] + 0.5 * x[i]);
                assertArrayEquals(before, numbers(Tensors.tensor(one.gradient(WEIGHT))), 1e-6);
                assertArrayEquals(bias, numbers(Tensors.tensor(one.gradient("logits.bias"))));
            }
        }
    }

    /** A pass by hand, too, begins with gradients of zero once they have been set to it. */
    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void gradientsAreZeroBeforeAnyPass(Device device) {
        double[][] found = new double[2][];
        try (Network network = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network one : List.of(near, network)) {
                addGradients(one);
                one.zeroGradients();
                Map<String, Tensor> x = Map.of("x", Tensor.compute(DataType.FLOAT32, new long[] {5, 4}, i -> i));
                try (Pass pass = one.forward(x, Mode.TRAINING)) {
                    pass.backward(pass.outputs().firstEntry().getValue(), 1);
                }
                found[one == near ? 0 : 1] = numbers(Tensors.tensor(one.gradient("logits.bias")));
            }
        }
        assertArrayEquals(found[0], found[1], 1e-6);
        assertEquals(5, found[0][0], 1e-6, "each of five samples adds one");
    }

    /** The first column, then the second one; a step in between changes what is not held. */
    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void heldWeightsAreZeroAfterEveryStepWhereTheyAre(Device device) {
        try (Network network = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            int arrays = network.manager().getManagedArrays().size();
            for (Network one : List.of(near, network)) {
                one.hold(column(0));
                TrainingStep step = new TrainingStep(one, (weights, gradients, _) -> {});
                double[] before = numbers(weight(one));
                step.apply();
                assertColumns(before, weight(one), 0);
                one.hold(column(1));
                one.changeWeights(weights -> view(weights).set(0, 5));
                step.apply();
                assertEquals(5, weight(one).getDouble(0), "it is not held any more");
                assertEquals(0, weight(one).getDouble(1), 0.0);
                one.release().changeWeights(weights -> view(weights).set(1, 6));
                step.apply();
                assertEquals(6, weight(one).getDouble(1), "nothing is held any more");
            }
            assertEquals(arrays, network.manager().getManagedArrays().size(), "masks are left");
        }
    }

    private static Map<String, List<ZeroPlaces>> column(int place) {
        BitSet places = new BitSet();
        places.set(place);
        return Map.of(WEIGHT, List.of(new ZeroPlaces(new AxisGroups(4, 4, 1), places)));
    }

    private static void assertColumns(double[] before, Tensor after, int zeroed) {
        for (int i = 0; i < before.length; i++) {
            assertEquals(i % 4 == zeroed ? 0 : before[i], after.getDouble(i) + 0.0, "element " + i);
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void gradientsAreClippedByTheNormOfTheWhole(Device device) {
        try (Network far = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network network : List.of(near, far)) {
                network.clipGradients(1);
                addGradients(network);
                double norm = norm(network);
                int held = network.manager().getManagedArrays().size();
                network.clipGradients(2 * norm);
                assertEquals(norm, norm(network), 0.0, "it was short enough");
                network.clipGradients(norm / 4);
                assertEquals(norm / 4, norm(network), 1e-6 * norm);
                assertEquals(held, network.manager().getManagedArrays().size());
                assertThrows(IllegalArgumentException.class, () -> network.clipGradients(0));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void aGradientThatIsNotFiniteIsLeftToTheOptimizer(Device device) {
        try (Network far = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network network : List.of(near, far)) {
                network.changeWeights(weights -> view(weights).set(0, Double.NaN));
                addGradients(network);
                network.clipGradients(1);
                assertTrue(Double.isNaN(norm(network)));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void productsOfWeightsAndGradientsAreAddedUpAlongAnAxis(Device device) {
        try (Network far = network(device);
                Network near = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU)) {
            for (Network network : List.of(near, far)) {
                addGradients(network);
                double[] x = numbers(weight(network));
                double[] g = numbers(Tensors.tensor(network.gradient(WEIGHT)));
                double[] rows = new double[4];
                double[] columns = new double[4];
                for (int i = 0; i < x.length; i++) {
                    rows[i / 4] += x[i] * g[i];
                    columns[i % 4] += x[i] * g[i];
                }
                assertArrayEquals(rows, products(network, new Axis(1, 4, 4)), 1e-12);
                assertArrayEquals(columns, products(network, new Axis(4, 4, 1)), 1e-12);
                Map<String, double[]> both = network.products(
                                Map.of(WEIGHT, new Axis(1, 4, 4), "logits.bias", new Axis(1, 3, 1)))
                        .get();
                assertEquals(3, Objects.requireNonNull(both.get("logits.bias")).length);
                assertArrayEquals(rows, Objects.requireNonNull(both.get(WEIGHT)), 1e-12);
                assertThrows(
                        IllegalArgumentException.class, () -> network.products(Map.of("nothing", new Axis(1, 1, 1))));
            }
        }
    }

    /** What is frozen neither counts for the norm nor is scaled; what others have so far stays, wherever it is moved. */
    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void gradientsLieSideBySideWhicheverAreTrained(Device device) {
        try (Network far = network(device)) {
            addGradients(far);
            double all = norm(far);
            double[] bias = numbers(Tensors.tensor(far.gradient("logits.bias")));
            far.freeze(WEIGHT::equals);
            double rest = norm(far);
            assertTrue(rest < all);
            assertArrayEquals(bias, numbers(Tensors.tensor(far.gradient("logits.bias"))));
            far.clipGradients(rest / 2);
            assertEquals(rest / 2, norm(far), 1e-6 * rest);
            far.zeroGradients();
            assertEquals(0, norm(far));
            addGradients(far);
            assertEquals(rest, norm(far), 1e-6 * rest, "libtorch adds to where they are now");
            far.zeroGradients();
            far.freeze(_ -> false);
            addGradients(far);
            assertEquals(all, norm(far), 1e-6 * all);
            far.readableGradients()
                    .forEach((name, view) -> assertArrayEquals(
                            numbers(Tensors.tensor(far.gradient(name))),
                            LongStream.range(0, view.size())
                                    .mapToDouble(view::get)
                                    .toArray()));
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void gradientsApartAreClippedToTheSame(Device device) {
        double[][] clipped = new double[2][];
        for (int way = 0; way < 2; way++) {
            if (way == 1) {
                System.setProperty("espalier.gradients", "apart");
            }
            try (Network far = network(device)) {
                addGradients(far);
                far.clipGradients(0.01);
                clipped[way] = numbers(Tensors.tensor(far.gradient(WEIGHT)));
                far.zeroGradients();
                assertEquals(0, norm(far));
            } finally {
                System.clearProperty("espalier.gradients");
            }
        }
        assertArrayEquals(clipped[0], clipped[1], 1e-9);
    }

    private static double[] products(Network network, Axis axis) {
        return Objects.requireNonNull(
                network.products(Map.of(WEIGHT, axis)).get().get(WEIGHT));
    }

    private static double norm(Network network) {
        double squares = 0;
        for (String name : network.gradients().keySet()) {
            for (double number : numbers(Tensors.tensor(network.gradient(name)))) {
                squares += number * number;
            }
        }
        return Math.sqrt(squares);
    }
}
