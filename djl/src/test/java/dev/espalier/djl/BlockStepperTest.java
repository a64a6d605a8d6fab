package dev.espalier.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.core.Linear;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.NonFiniteGradientException;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepOptions.NonFinite;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.Torch;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BlockStepperTest {
    private static final ProximalOptions OPTIONS = options(new GroupLasso(0.02));

    /** One thread: these models are small. */
    private static ProximalOptions options(Penalty penalty) {
        return ProximalOptions.adam(penalty)
                .withLearningRate(LearningRate.constant(0.01))
                .withStepOptions(StepOptions.DEFAULT.withThreads(1));
    }

    @Test
    void stepsAreThoseOfCore() {
        ProximalOptions options = OPTIONS.withWeightDecay(0.1).withStepOptions(StepOptions.DEFAULT);
        try (TestModel model = TestModel.ofConvolutions();
                BlockStepper stepper = new BlockStepper(model.block(), options);
                CoreTwin twin = new CoreTwin(model, options)) {
            for (int step = 0; step < 50; step++) {
                model.backward(step);
                twin.step(model.gradients());
                assertEquals(step + 1, stepper.step().step());
                twin.assertSameWeights(model);
            }
        }
    }

    @Test
    void gradientsAreZeroAfterTheStep() {
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), OPTIONS)) {
            model.backward(1);
            model.gradients().forEach((name, values) -> assertNotEquals(0, values[0], name));
            stepper.step();
            model.gradients().forEach((name, values) -> assertArrayEquals(new float[values.length], values, name));
        }
    }

    @Test
    void groupsThatSpanParametersVanishTogether() {
        // A neuron of the first layer: its weights and its bias.
        ProximalOptions options =
                options(new GroupLasso(0.3)).withGroups(BlockGroups.NONE.joint(0, TestModel.FIRST, "01Linear_bias"));
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), options)) {
            run(model, stepper, 0, 200);
            model.backward(200);
            StepReport report = stepper.step();
            GroupsLeft sparsity = stepper.groupsLeft();
            assertEquals(5, sparsity.groups());
            assertTrue(sparsity.zero() > 0, sparsity::toString);
            assertEquals(sparsity.zero(), report.summary().zeroed());
            TensorView weights = model.weight(TestModel.FIRST);
            TensorView bias = model.weight("01Linear_bias");
            int zero = 0;
            for (int neuron = 0; neuron < 5; neuron++) {
                int first = neuron * 6;
                boolean rowIsZero = IntStream.range(first, first + 6).allMatch(i -> weights.get(i) == 0);
                assertEquals(rowIsZero, bias.get(neuron) == 0, "bias and weights of neuron " + neuron);
                zero += rowIsZero ? 1 : 0;
            }
            assertEquals(sparsity.zero(), zero);
            assertEquals(Map.of(TestModel.FIRST + " + 01Linear_bias", sparsity), stepper.groupsLeftBySet());
        }
    }

    /** An input dimension of an attention layer, as query, key and value read it. */
    @Test
    void queryKeyAndValueDropTheSameInputs() {
        String[] names = {"01Linear_weight", "02Linear_weight", "03Linear_weight"};
        ParallelBlock attention = new ParallelBlock(
                outputs -> new NDList(outputs.stream()
                        .map(NDList::singletonOrThrow)
                        .reduce(NDArray::add)
                        .orElseThrow()),
                List.of(linear(4), linear(4), linear(4)));
        ProximalOptions options = options(new GroupLasso(0.2)).withGroups(BlockGroups.NONE.joint(1, names));
        try (TestModel model = new TestModel(attention, new Shape(8, 6));
                BlockStepper stepper = new BlockStepper(model.block(), options);
                CoreTwin twin = new CoreTwin(model, options)) {
            for (int step = 0; step < 150; step++) {
                model.backward(step);
                twin.step(model.gradients());
                stepper.step();
            }
            twin.assertSameWeights(model);
            assertEquals(6, stepper.groupsLeft().groups());
            assertTrue(
                    stepper.groupsLeft().zero() > 0, () -> stepper.groupsLeft().toString());
            for (int input = 0; input < 6; input++) {
                int column = input;
                assertEquals(
                        1,
                        Arrays.stream(names)
                                .map(name -> IntStream.range(0, 4)
                                        .allMatch(unit -> model.weight(name).get(unit * 6L + column) == 0))
                                .distinct()
                                .count(),
                        "all three read input " + input + ", or none");
            }
        }
    }

    private static Linear linear(int units) {
        return Linear.builder().setUnits(units).build();
    }

    @Test
    void aSkippedStepChangesOnlyTheGradients() {
        ProximalOptions options = OPTIONS.withStepOptions(OPTIONS.stepOptions().withNonFinite(NonFinite.SKIP));
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), options)) {
            spoil(model);
            Map<String, float[]> before = model.snapshot();
            assertTrue(stepper.step().skipped());
            assertSame(before, model.snapshot());
            run(model, stepper, 2, 4);
            assertEquals(2, stepper.optimizer().steps());
            assertEquals(1, stepper.optimizer().skippedSteps());
        }
    }

    /** A gradient of which one number is not finite. */
    private static void spoil(TestModel model) {
        model.backward(1);
        try (NDArray gradient = model.parameter("03Linear_bias").getArray().getGradient()) {
            Torch.view(gradient).set(0, Double.NaN);
        }
    }

    @Test
    void aClosedStepperIsOfNoUse(@TempDir Path folder) {
        try (TestModel model = TestModel.ofPerceptron()) {
            BlockStepper stepper = new BlockStepper(model.block(), OPTIONS);
            stepper.close();
            stepper.close();
            model.backward(1);
            assertStateMessage(stepper, "has been closed");
            assertThrows(IllegalStateException.class, () -> stepper.save(folder.resolve("state")));
            assertThrows(IllegalStateException.class, () -> stepper.setLearningRate(LearningRate.constant(1)));
        }
    }

    @Test
    void exactZerosAppear() {
        ProximalOptions options = options(new GroupMcp(0.1, 10));
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), options)) {
            assertEquals(1, stepper.groupsLeft().share());
            for (int step = 0; step < 300; step++) {
                model.backward(step);
                stepper.step();
            }
            GroupsLeft sparsity = stepper.groupsLeft();
            assertEquals(11, sparsity.groups());
            assertTrue(sparsity.zero() > 0, sparsity::toString);
            assertTrue(sparsity.share() < 1, sparsity::toString);
        }
    }

    @Test
    void aBadGradientChangesNothing() {
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), OPTIONS)) {
            spoil(model);
            Map<String, float[]> before = model.snapshot();
            Map<String, float[]> gradients = model.gradients();
            assertThrows(NonFiniteGradientException.class, stepper::step);
            assertSame(before, model.snapshot());
            assertSame(gradients, model.gradients());
        }
    }

    @Test
    void missingGradientsAreNamed() {
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), OPTIONS)) {
            assertStateMessage(stepper, TestModel.FIRST);
            model.backward(1);
            model.parameter(TestModel.FIRST).freeze(true);
            assertStateMessage(stepper, "frozen since");
        }
    }

    private static void assertStateMessage(BlockStepper stepper, String part) {
        String message = String.valueOf(
                assertThrows(IllegalStateException.class, stepper::step).getMessage());
        assertTrue(message.contains(part), message);
    }

    @Test
    void frozenParametersStay() {
        try (TestModel model = TestModel.ofPerceptron()) {
            model.parameter(TestModel.FIRST).freeze(true);
            float[] before = model.snapshot().get(TestModel.FIRST);
            try (BlockStepper stepper = new BlockStepper(model.block(), OPTIONS)) {
                model.backward(1);
                stepper.step();
            }
            assertArrayEquals(before, model.snapshot().get(TestModel.FIRST));
        }
    }

    @Test
    void savedStateGoesOnBitForBit(@TempDir Path folder) {
        Path file = folder.resolve("optimizer.state");
        try (TestModel whole = TestModel.ofConvolutions();
                TestModel resumed = TestModel.ofConvolutions();
                BlockStepper stepper = new BlockStepper(whole.block(), OPTIONS)) {
            run(whole, stepper, 0, 20);
            stepper.save(file);
            Map<String, float[]> saved = whole.snapshot();
            run(whole, stepper, 20, 40);

            resumed.restore(saved);
            try (BlockStepper second = new BlockStepper(resumed.block(), OPTIONS)) {
                second.load(file);
                assertEquals(20, second.optimizer().steps());
                run(resumed, second, 20, 40);
            }
            assertSame(whole.snapshot(), resumed.snapshot());
        }
        try (TestModel other = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(other.block(), OPTIONS)) {
            assertThrows(IllegalArgumentException.class, () -> stepper.load(file));
        }
    }

    @Test
    void theLearningRateCanBeReplacedWithoutLosingState() {
        ProximalOptions scheduled = OPTIONS.withLearningRate(new LearningRate.MultiStep(0.01, 0.1, List.of(10L)));
        try (TestModel model = TestModel.ofPerceptron();
                TestModel twin = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), OPTIONS);
                BlockStepper expected = new BlockStepper(twin.block(), scheduled)) {
            run(model, stepper, 0, 10);
            LearningRate slower = LearningRate.constant(0.01 * 0.1);
            stepper.setLearningRate(slower);
            assertEquals(slower, stepper.learningRate());
            run(model, stepper, 10, 20);
            run(twin, expected, 0, 20);
            assertSame(twin.snapshot(), model.snapshot());
        }
    }

    /** Every array that DJL makes belongs to a manager: whoever forgets to close one leaves it there. */
    @Test
    void nothingIsLeaked() {
        try (TestModel model = TestModel.ofPerceptron();
                BlockStepper stepper = new BlockStepper(model.block(), OPTIONS)) {
            run(model, stepper, 0, 1);
            int before = model.parameterManager().getManagedArrays().size();
            run(model, stepper, 0, 2_000);
            stepper.groupsLeft();
            assertEquals(before, model.parameterManager().getManagedArrays().size());
            assertEquals(4, before, "the parameters");
        }
    }

    private static void run(TestModel model, BlockStepper stepper, int from, int to) {
        for (int step = from; step < to; step++) {
            model.backward(step);
            assertFalse(stepper.step().skipped());
        }
    }

    private static void assertSame(Map<String, float[]> expected, Map<String, float[]> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach(
                (name, values) -> assertTrue(Arrays.equals(values, actual.get(name)), () -> "weights differ: " + name));
    }
}
