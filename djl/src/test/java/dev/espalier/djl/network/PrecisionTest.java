package dev.espalier.djl.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.djl.torch.Gpus;
import dev.espalier.djl.torch.Tf32;
import dev.espalier.djl.torch.Torch;
import dev.espalier.graph.Graph;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Products in fewer bits, on all devices that there are. */
class PrecisionTest {

    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    record Example(Graph graph, Tensor input, Device device) {}

    static Stream<Example> examples() {
        Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {4, 1, 8, 8}, i -> Math.sin((double) i * i));
        Tensor tokens = Tensor.computeLongs(DataType.INT64, new long[] {4, 5}, i -> i * 7 % 10);
        List<Device> devices =
                Torch.gpus() instanceof Gpus.Found ? List.of(Device.cpu(), Device.gpu(0)) : List.of(Device.cpu());
        return devices.stream()
                .flatMap(device -> Stream.of(
                        new Example(Models.convolutional(), images, device),
                        new Example(Models.transformer(), tokens, device)));
    }

    private record Outcome(Tensor logits, SequencedMap<String, Tensor> gradients) {}

    private static Outcome outcome(Example example, Precision precision) {
        try (Network network =
                        new Network(example.graph(), example.device()).seed(1).precision(precision);
                NDManager manager = network.manager().newSubManager()) {
            Map<String, NDArray> inputs =
                    Map.of(example.graph().inputs().getFirst().name(), Tensors.of(manager, example.input()));
            NDList labels = new NDList(Tensors.of(manager, Tensor.of(new long[] {0, 1, 1, 0})));
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), (weights, gradients) -> {});
            TrainingStep.Result result = step.addGradients(inputs, labels, 1, "logits");
            SequencedMap<String, Tensor> gradients = new LinkedHashMap<>();
            network.gradients().keySet().forEach(name -> gradients.put(name, Tensors.tensor(network.gradient(name))));
            Tensor logits = result.outputs().firstEntry().getValue();
            assertEquals(DataType.FLOAT32, logits.type());
            assertTrue(Double.isFinite(result.loss()));
            return new Outcome(logits, gradients);
        }
    }

    /** The cosine of the angle between all numbers of one and all of the other. */
    private static double cosine(Iterable<Tensor> left, Map<String, Tensor> right) {
        double product = 0;
        double squares = 0;
        double others = 0;
        var other = right.values().iterator();
        for (Tensor one : left) {
            Tensor two = other.next();
            for (long i = 0; i < one.size(); i++) {
                product += one.getDouble(i) * two.getDouble(i);
                squares += one.getDouble(i) * one.getDouble(i);
                others += two.getDouble(i) * two.getDouble(i);
            }
        }
        return product / Math.sqrt(squares * others);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void bfloat16GivesNearlyTheSameOutputsAndGradients(Example example) {
        boolean drawn = example.graph().nodes().stream().anyMatch(node -> node.operator() instanceof Dropout);
        assumeFalse(drawn && example.device().isGpu(), "on a GPU, dropout draws other numbers for another type");
        Outcome exact = outcome(example, Precision.FLOAT32);
        Outcome rounded = outcome(example, Precision.BF16);
        double largest = 0;
        for (long i = 0; i < exact.logits().size(); i++) {
            double difference =
                    Math.abs(exact.logits().getDouble(i) - rounded.logits().getDouble(i));
            largest = Math.max(largest, difference);
        }
        assertTrue(largest > 1e-6 && largest < 0.1, "logits differ by " + largest);
        assertEquals(exact.gradients().keySet(), rounded.gradients().keySet());
        double cosine = cosine(exact.gradients().values(), rounded.gradients());
        assertTrue(cosine > 0.99, "cosine of the gradients: " + cosine);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void tf32GivesNearlyTheSame(Example example) {
        Outcome exact = outcome(example, Precision.FLOAT32);
        Outcome rounded = outcome(example, Precision.TF32);
        double cosine = cosine(exact.gradients().values(), rounded.gradients());
        assertTrue(cosine > 0.999, "cosine of the gradients: " + cosine);
    }

    /** libtorch has one switch for all networks of a process; nothing that another does must change how one computes. */
    @Test
    void networksOfDifferentPrecisionTakeTurns() {
        Example example = examples().findFirst().orElseThrow();
        Map<String, Tensor> inputs = Map.of(example.graph().inputs().getFirst().name(), example.input());
        try (Network rounding = far(example).precision(Precision.TF32);
                NDManager manager = rounding.manager().newSubManager()) {
            Map<String, NDArray> arrays = new LinkedHashMap<>();
            inputs.forEach((name, tensor) -> arrays.put(name, Tensors.of(manager, tensor)));
            try (Pass pass = rounding.forward(arrays, Mode.TRAINING)) {
                assertTrue(Tf32.isAllowed());
                try (Network exact = far(example)) {
                    exact.predict(inputs);
                    assertFalse(Tf32.isAllowed());
                }
                pass.backward(pass.output("logits"));
                assertTrue(Tf32.isAllowed(), "in the backward pass");
            }
            try (Network exact = far(example).precision(Precision.FLOAT32)) {
                rounding.predict(inputs);
                assertTrue(Tf32.isAllowed(), "after another network was made");
                exact.predict(inputs);
                assertFalse(Tf32.isAllowed());
            }
        }
    }

    /** On a GPU if there is one; otherwise as if it were there. */
    private static Network far(Example example) {
        Device device = Torch.gpus() instanceof Gpus.Found ? Device.gpu(0) : Device.cpu();
        return Network.outOfReach(example.graph(), device);
    }

    /** libtorch keeps weights that it has converted; a pass must not find those of the pass before. */
    @ParameterizedTest
    @MethodSource("examples")
    void everyPassSeesTheWeightsAsTheyAre(Example example) {
        try (Network network = new Network(example.graph(), example.device()).precision(Precision.BF16)) {
            Map<String, Tensor> inputs =
                    Map.of(example.graph().inputs().getFirst().name(), example.input());
            double before = network.predict(inputs).firstEntry().getValue().getDouble(0);
            network.changeWeights(weights -> weights.forEach((name, view) -> {
                for (long i = 0; i < view.size(); i++) {
                    view.set(i, 0);
                }
            }));
            assertNotEquals(0, before);
            assertEquals(0, network.predict(inputs).firstEntry().getValue().getDouble(0));
        }
    }
}
