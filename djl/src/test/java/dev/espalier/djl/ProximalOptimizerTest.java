package dev.espalier.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

final class ProximalOptimizerTest {
    private static final LearningRate RATE = new LearningRate.Cosine(0.02, 0.001, 60);

    @TestFactory
    Stream<DynamicTest> updatesAreThoseOfCore() {
        return Stream.of(
                        new UpdateRule.Sgd(),
                        new UpdateRule.Momentum(),
                        new UpdateRule.AdaGrad(),
                        new UpdateRule.RmsProp(),
                        new UpdateRule.Adam())
                .flatMap(rule -> Stream.of(new GroupLasso(0.05), new GroupMcp(0.05, 3))
                        .map(penalty -> DynamicTest.dynamicTest(
                                rule + " with " + penalty, () -> assertSameAsCore(rule, penalty))));
    }

    private static void assertSameAsCore(UpdateRule rule, Penalty penalty) {
        ProximalOptions options =
                new ProximalOptions(rule, RATE, 0.5f, penalty, BlockGroups.DEFAULT, StepOptions.DEFAULT);
        try (TestModel model = TestModel.ofConvolutions();
                CoreTwin twin = new CoreTwin(model, options);
                ProximalOptimizer optimizer = Proximal.of(rule)
                        .forBlock(model.block())
                        .optPenalty(penalty)
                        .optLearningRate(RATE)
                        .optWeightDecays(0.5f)
                        .build()) {
            for (int step = 0; step < 40; step++) {
                model.backward(step);
                twin.step(model.gradients());
                update(model, optimizer, step);
                twin.assertSameWeights(model);
            }
        }
    }

    /** What DJL's trainer does, in an order of its own every time. */
    private static void update(TestModel model, ProximalOptimizer optimizer, int step) {
        List<Parameter> parameters =
                new ArrayList<>(model.block().getParameters().values());
        Collections.shuffle(parameters, new Random(step));
        for (Parameter parameter : parameters) {
            if (parameter.requiresGradient()) {
                try (NDArray gradient = parameter.getArray().getGradient();
                        NDArray copy = gradient.duplicate()) {
                    optimizer.update(parameter.getId(), parameter.getArray(), copy);
                }
            }
        }
    }

    private static ProximalOptimizer.Builder adam(TestModel model) {
        return ProximalAdam.builder()
                .forBlock(model.block())
                .optPenalty(new GroupLasso(0.05))
                .optLearningRate(RATE);
    }

    @Test
    void exactZerosAppearAndAreReported() {
        try (TestModel model = TestModel.ofPerceptron();
                ProximalOptimizer optimizer =
                        adam(model).optPenalty(new GroupLasso(0.2)).build()) {
            assertEquals(1, optimizer.groupsLeft().share());
            assertTrue(optimizer.reports().isEmpty());
            train(model, optimizer, 0, 200);
            GroupsLeft first = optimizer.groupsLeftBySet().getOrDefault(TestModel.FIRST, GroupsLeft.EMPTY);
            assertEquals(6, first.groups());
            assertTrue(first.zero() > 0, first::toString);
            assertEquals(11, optimizer.groupsLeft().groups());
            assertEquals(
                    List.of(TestModel.FIRST, TestModel.SECOND),
                    List.copyOf(optimizer.reports().keySet()));
            int zeroed = optimizer.reports().values().stream()
                    .mapToInt(report -> report.summary().zeroed())
                    .sum();
            assertEquals(optimizer.groupsLeft().zero(), zeroed);
        }
    }

    @Test
    void theGradientIsSetToZeroAndTheOneGivenIsNotTouched() {
        try (TestModel model = TestModel.ofPerceptron();
                NDManager manager = NDManager.newBaseManager("PyTorch");
                ProximalOptimizer optimizer = adam(model).setRescaleGrad(0.5f).build()) {
            model.backward(1);
            Parameter parameter = model.parameter(TestModel.FIRST);
            float[] values = new float[30];
            values[3] = 1;
            NDArray gradient = manager.create(values).reshape(5, 6);
            optimizer.update(parameter.getId(), parameter.getArray(), gradient);
            assertArrayEquals(values, gradient.toFloatArray());
            assertArrayEquals(new float[30], model.gradients().get(TestModel.FIRST));
        }
    }

    @Test
    void gradientsAreRescaledThenClipped() {
        try (TestModel model = TestModel.ofPerceptron();
                TestModel twin = TestModel.ofPerceptron();
                NDManager manager = NDManager.newBaseManager("PyTorch");
                ProximalOptimizer optimizer =
                        adam(model).setRescaleGrad(0.5f).optClipGrad(1).build();
                ProximalOptimizer expected = adam(twin).build()) {
            for (float value : new float[] {0.5f, 8, -8}) {
                NDArray gradient = manager.full(new Shape(3), value);
                NDArray conditioned = manager.full(new Shape(3), Math.clamp(value / 2, -1, 1));
                Parameter bias = model.parameter("03Linear_bias");
                optimizer.update(bias.getId(), bias.getArray(), gradient);
                Parameter twinBias = twin.parameter("03Linear_bias");
                expected.update(twinBias.getId(), twinBias.getArray(), conditioned);
            }
            assertArrayEquals(
                    twin.snapshot().get("03Linear_bias"), model.snapshot().get("03Linear_bias"));
        }
    }

    @Test
    void theFirstStepCanBeLater() {
        LearningRate late = new LearningRate.WarmUp(10, LearningRate.constant(0.01));
        try (TestModel model = TestModel.ofPerceptron();
                TestModel twin = TestModel.ofPerceptron();
                ProximalOptimizer optimizer = Proximal.sgd()
                        .forBlock(model.block())
                        .optPenalty(new GroupLasso(0))
                        .optLearningRate(late)
                        .optBeginNumUpdate(9)
                        .build();
                ProximalOptimizer expected = Proximal.sgd()
                        .forBlock(twin.block())
                        .optPenalty(new GroupLasso(0))
                        .optLearningRate(LearningRate.constant(0.01))
                        .build()) {
            train(model, optimizer, 0, 1);
            train(twin, expected, 0, 1);
            assertSame(twin, model);
        }
    }

    @Test
    void savedStateGoesOnBitForBit(@TempDir Path folder) {
        Path file = folder.resolve("optimizer.state");
        try (TestModel whole = TestModel.ofConvolutions();
                TestModel resumed = TestModel.ofConvolutions();
                ProximalOptimizer optimizer = adam(whole).build();
                ProximalOptimizer second = adam(resumed).build()) {
            train(whole, optimizer, 0, 20);
            optimizer.save(file);
            resumed.restore(whole.snapshot());
            second.load(file);
            train(whole, optimizer, 20, 40);
            train(resumed, second, 20, 40);
            assertSame(whole, resumed);
        }
    }

    @Test
    void theLearningRateCanBeReplacedWithoutLosingState() {
        try (TestModel model = TestModel.ofPerceptron();
                TestModel twin = TestModel.ofPerceptron();
                ProximalOptimizer optimizer =
                        adam(model).optLearningRate(LearningRate.constant(0.02)).build();
                ProximalOptimizer expected = adam(twin)
                        .optLearningRate(new LearningRate.MultiStep(0.02, 0.5, List.of(10L)))
                        .build()) {
            train(model, optimizer, 0, 10);
            optimizer.setLearningRate(LearningRate.constant(0.01));
            assertEquals(LearningRate.constant(0.01), optimizer.learningRate());
            train(model, optimizer, 10, 20);
            train(twin, expected, 0, 20);
            assertSame(twin, model);
        }
    }

    @Test
    void nothingIsLeaked() {
        try (TestModel model = TestModel.ofPerceptron();
                ProximalOptimizer optimizer = adam(model).optClipGrad(0.1f).build()) {
            train(model, optimizer, 0, 2_000);
            assertEquals(4, model.parameterManager().getManagedArrays().size(), "the parameters");
        }
    }

    @Test
    void mistakesAreExplained() {
        try (TestModel model = TestModel.ofPerceptron();
                NDManager manager = NDManager.newBaseManager("PyTorch");
                ProximalOptimizer optimizer = adam(model).build()) {
            NDArray weight = model.parameter(TestModel.FIRST).getArray();
            assertMessage(
                    "forBlock(model.getBlock())",
                    () -> ProximalAdam.builder().optPenalty(new GroupLasso(1)).build());
            assertMessage(
                    "optPenalty",
                    () -> ProximalAdam.builder().forBlock(model.block()).build());
            assertMessage(
                    "use a BlockStepper",
                    () -> adam(model)
                            .optGroups(BlockGroups.NONE.joint(0, TestModel.FIRST, "01Linear_bias"))
                            .build());
            assertMessage("there is no trained parameter of id x", () -> optimizer.update("x", weight, weight));
            assertMessage("beginNumUpdate = -1", () -> adam(model).optBeginNumUpdate(-1));
            assertMessage(
                    "holds float64",
                    () -> optimizer.update(
                            model.parameter(TestModel.FIRST).getId(), weight, manager.create(new double[30])));
            assertMessage(
                    "30",
                    () -> optimizer.update(
                            model.parameter(TestModel.FIRST).getId(), weight, manager.create(new float[7])));
        }
    }

    @Test
    void aClosedOptimizerIsOfNoUse() {
        try (TestModel model = TestModel.ofPerceptron()) {
            ProximalOptimizer optimizer = adam(model).build();
            train(model, optimizer, 0, 1);
            optimizer.close();
            optimizer.close();
            Map<String, float[]> before = model.snapshot();
            assertMessage("has been closed", () -> train(model, optimizer, 1, 2));
            before.forEach(
                    (name, values) -> assertArrayEquals(values, model.snapshot().get(name), name));
        }
    }

    private static void assertMessage(String part, Executable executable) {
        String message =
                String.valueOf(assertThrows(RuntimeException.class, executable).getMessage());
        assertTrue(message.contains(part), message);
    }

    private static void train(TestModel model, ProximalOptimizer optimizer, int from, int to) {
        for (int step = from; step < to; step++) {
            model.backward(step);
            update(model, optimizer, step);
        }
    }

    private static void assertSame(TestModel expected, TestModel actual) {
        Map<String, float[]> weights = actual.snapshot();
        expected.snapshot().forEach((name, values) -> assertArrayEquals(values, weights.get(name), name));
    }

    @Test
    void fewWeightsAreSteppedByOneThreadHoweverManyThereAre() {
        ProximalOptions options =
                ProximalOptions.adam(new GroupLasso(0.1)).withStepOptions(StepOptions.DEFAULT.withThreads(3));
        assertEquals("1 threads", threads(options, ProximalOptions.SMALL - 1));
        assertEquals("3 threads", threads(options, ProximalOptions.SMALL));
    }

    private static String threads(ProximalOptions options, long size) {
        ParameterSet set = new ParameterSet(
                List.of(dev.espalier.core.step.Parameter.of("weight", size)), options.learningRate(), 0, null, false);
        try (dev.espalier.core.step.Optimizer optimizer = options.optimizer(List.of(set))) {
            String name = optimizer.kernelName();
            return name.substring(name.lastIndexOf(", ") + 2);
        }
    }
}
