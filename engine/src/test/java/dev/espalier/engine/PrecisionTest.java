package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
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

    record Example(Graph graph, Tensor input, Device device) {
        static final Map<String, Tensor> TARGETS = Map.of("class", Tensor.of(new long[] {0, 1, 1, 0}));

        Map<String, Tensor> inputs() {
            return Map.of(graph.inputs().getFirst().name(), input);
        }
    }

    static Stream<Example> examples() {
        Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {4, 1, 8, 8}, i -> Math.sin((double) i * i));
        Tensor tokens = Tensor.computeLongs(DataType.INT64, new long[] {4, 5}, i -> i * 7 % 10);
        return Models.devices().stream()
                .flatMap(device -> Stream.of(
                        new Example(Models.convolutional(), images, device),
                        new Example(Models.transformer(), tokens, device)));
    }

    private record Outcome(Tensor logits, Terms terms, SequencedMap<String, Tensor> gradients) {}

    private static Outcome outcome(Example example, Precision precision) {
        try (Network network = new Network(example.graph(), Models.CLASSES, example.device())
                .seed(1)
                .precision(precision)) {
            Map<String, Tensor> inputs = example.inputs();
            Tensor logits = network.predict(inputs).firstEntry().getValue();
            assertEquals(DataType.FLOAT32, logits.type());
            Terms terms = network.terms(inputs, Example.TARGETS);
            Terms trained = network.addGradients(inputs, Example.TARGETS, 1);
            assertTrue(Double.isFinite(trained.loss()));
            SequencedMap<String, Tensor> gradients = new LinkedHashMap<>();
            network.gradients().keySet().forEach(name -> gradients.put(name, Tensors.tensor(network.gradient(name))));
            return new Outcome(logits, terms, gradients);
        }
    }

    /** What it is judged by comes from the rounded outputs, but is itself computed in single precision. */
    @ParameterizedTest
    @MethodSource("examples")
    void theObjectiveIsComputedInSinglePrecision(Example example) {
        Outcome rounded = outcome(example, Precision.BF16);
        Map<String, Tensor> read = new HashMap<>();
        read.put("logits", rounded.logits());
        Example.TARGETS.forEach((name, tensor) -> read.put(Objective.input(name), tensor));
        Tensor loss = Objects.requireNonNull(
                Evaluator.run(Models.CLASSES.alone(example.graph()), read).get(Objective.output(Objective.LOSS)));
        assertEquals(loss.getDouble(0), rounded.terms().loss(), 1e-6);
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

    @Test
    void tf32IsSwitched() {
        Torch.allowTf32(true);
        try {
            assertTrue(Tf32.isAllowed());
        } finally {
            Torch.allowTf32(false);
        }
        assertFalse(Tf32.isAllowed());
    }

    /** libtorch has one switch for all networks of a process; nothing that another does must change how one computes. */
    @Test
    void networksOfDifferentPrecisionTakeTurns() {
        Example example = examples().findFirst().orElseThrow();
        Map<String, Tensor> inputs = example.inputs();
        try (Network rounding = far(example).precision(Precision.TF32)) {
            rounding.addGradients(inputs, Example.TARGETS, 1);
            assertTrue(Tf32.isAllowed());
            try (Network exact = far(example)) {
                exact.predict(inputs);
                assertFalse(Tf32.isAllowed());
                exact.addGradients(inputs, Example.TARGETS, 1);
                assertFalse(Tf32.isAllowed());
            }
            try (Network exact = far(example).precision(Precision.FLOAT32)) {
                rounding.predict(inputs);
                assertTrue(Tf32.isAllowed(), "after another network was made");
                exact.predict(inputs);
                assertFalse(Tf32.isAllowed());
            }
            rounding.addGradients(inputs, Example.TARGETS, 1);
            assertTrue(Tf32.isAllowed(), "in training again");
        }
    }

    /** On a GPU if there is one; otherwise as if it were there. */
    private static Network far(Example example) {
        Device gpu = Device.gpu(0);
        return Network.outOfReach(example.graph(), Models.CLASSES, gpu.whyNot().isEmpty() ? gpu : Device.CPU);
    }

    /** libtorch keeps weights that it has converted; a pass must not find those of the pass before. */
    @ParameterizedTest
    @MethodSource("examples")
    void everyPassSeesTheWeightsAsTheyAre(Example example) {
        try (Network network = new Network(example.graph(), example.device()).precision(Precision.BF16)) {
            Map<String, Tensor> inputs = example.inputs();
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
