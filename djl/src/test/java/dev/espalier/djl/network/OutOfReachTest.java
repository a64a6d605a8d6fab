package dev.espalier.djl.network;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.djl.torch.Gpus;
import dev.espalier.djl.torch.Torch;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    static List<Device> devices() {
        return Torch.gpus() instanceof Gpus.Found ? List.of(Device.cpu(), Device.gpu(0)) : List.of(Device.cpu());
    }

    private static Network network(Device device) {
        return Network.outOfReach(Models.perceptron(4, 3), device);
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
        try (NDManager manager = network.manager().newSubManager()) {
            Tensor x = Tensor.compute(DataType.FLOAT32, new long[] {5, 4}, i -> Math.sin((double) i));
            NDList labels = new NDList(Tensors.of(manager, Tensor.of(new long[] {0, 1, 2, 1, 0})));
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), (weights, gradients) -> {});
            step.addGradients(Map.of("x", Tensors.of(manager, x)), labels, 1);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void weightsAreReadAsCopiesAndChangedByRoundTrips(Device device) {
        try (Network network = network(device);
                Network near = new Network(Models.perceptron(4, 3), Device.cpu())) {
            assertFalse(network.shared());
            assertTrue(near.shared());
            assertEquals(Torch.place(device), view(network.weights()).place());
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
    @MethodSource("devices")
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
    @MethodSource("devices")
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

    private static MemorySegment memory(Network network) {
        return Objects.requireNonNull(network.state().get("tensor/" + WEIGHT));
    }

    private static byte[] bytes(Network network) {
        return memory(network).toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @MethodSource("devices")
    void weightsAreMaskedWhereTheyAre(Device device) {
        try (Network network = network(device)) {
            double[] before = numbers(weight(network));
            int held = network.manager().getManagedArrays().size();
            try (NDManager scratch = network.manager().newSubManager()) {
                NDArray mask = Tensors.of(scratch, Tensor.compute(DataType.FLOAT32, new long[] {4, 4}, i -> i % 2));
                network.multiplyWeights(Map.of(WEIGHT, mask));
            }
            double[] after = numbers(weight(network));
            for (int i = 0; i < before.length; i++) {
                assertEquals(i % 2 * before[i], after[i], 0.0);
            }
            assertEquals(held, network.manager().getManagedArrays().size());
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void gradientsAreClippedByTheNormOfTheWhole(Device device) {
        try (Network network = network(device)) {
            network.clipGradients(1);
            addGradients(network);
            double norm = norm(network);
            int held = network.manager().getManagedArrays().size();
            network.clipGradients(2 * norm);
            assertEquals(norm, norm(network), 0.0, "it was short enough");
            network.clipGradients(norm / 4);
            assertEquals(norm / 4, norm(network), 1e-6 * norm);
            assertEquals(held, network.manager().getManagedArrays().size());
        }
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
