package dev.espalier.core.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.SlowRule;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.TestModel;
import dev.espalier.core.tensor.TensorView;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every update rule, as the optimizer does it, against the paper's table in double. */
class UpdateRuleTest {
    private static final int SIZE = 83;
    private static final double ALPHA = 0.02;

    static Stream<Arguments> rules() {
        return Stream.of(
                        new UpdateRule.Sgd(),
                        new UpdateRule.Momentum(),
                        new UpdateRule.Momentum(0.5),
                        new UpdateRule.AdaGrad(),
                        new UpdateRule.AdaGrad(0.5),
                        new UpdateRule.RmsProp(),
                        new UpdateRule.RmsProp(0.7, 0.25),
                        new UpdateRule.Adam(),
                        new UpdateRule.Adam(0.6, 0.8, 0.125),
                        new UpdateRule.Adam(0, 0, 1e-3),
                        new UpdateRule.Adam(0.6, 0.8, 0.125).withMetric(UpdateRule.Adam.Metric.UNCORRECTED))
                .flatMap(rule -> Stream.of(
                        Arguments.of(rule, 0.0, 0.0), Arguments.of(rule, 0.7, 0.0), Arguments.of(rule, 0.7, 0.6)));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void fiftyStepsFollowTheTable(UpdateRule rule, double decay, double floor) {
        List<ParameterSet> sets = List.of(ParameterSet.of(LearningRate.constant(ALPHA), new Parameter("w", SIZE))
                .withWeightDecay(decay));
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(
                        rule, sets, StepOptions.DEFAULT.withThreads(1).withMetricFloor(floor))) {
            SplittableRandom random = new SplittableRandom(11);
            TestModel.fill(model.weights(), random, 1);
            TensorView weights = model.weights().firstEntry().getValue();
            TensorView gradient = model.gradients().firstEntry().getValue();
            double[] slow = TestModel.values(weights);
            SlowRule table = new SlowRule(rule, SIZE, floor);
            for (int step = 1; step <= 50; step++) {
                TestModel.fill(model.gradients(), random, Math.exp(random.nextGaussian()));
                gradient.set(3, 0); // a weight that never sees a gradient has only ε for a metric
                double[] before = TestModel.values(weights);
                optimizer.step(model.weights(), model.gradients());
                table.advance(step, TestModel.values(gradient));
                slow = table.candidate(slow, ALPHA, decay);
                double[] next = table.candidate(before, ALPHA, decay);
                double largest = Arrays.stream(slow).map(Math::abs).max().orElseThrow();
                for (int i = 0; i < SIZE; i++) {
                    String at = "weight " + i + " in step " + step;
                    assertEquals(slow[i], weights.get(i), 2e-6 * step * largest, at);
                    double moved = Math.abs(next[i] - before[i]);
                    assertEquals(next[i], weights.get(i), 2e-7 * Math.abs(before[i]) + 1e-5 * moved + 1e-7, at);
                }
            }
            assertEquals(50, optimizer.steps());
        }
    }

    @ParameterizedTest
    @MethodSource("rules")
    void theStateHoldsTheMomentsThatTheRuleKeeps(UpdateRule rule, double decay, double floor) {
        List<ParameterSet> sets = List.of(ParameterSet.of(LearningRate.constant(ALPHA), new Parameter("w", SIZE))
                .withWeightDecay(decay));
        StepOptions options = StepOptions.DEFAULT.withThreads(1).withMetricFloor(floor);
        try (Optimizer optimizer = new Optimizer(rule, sets, options)) {
            assertEquals(rule.hasFirstMoment(), optimizer.state().containsKey("first/w"));
            assertEquals(rule.hasSecondMoment(), optimizer.state().containsKey("second/w"));
        }
    }

    @Test
    void badNumbersAreRefusedByName() {
        assertRefused("momentum", () -> new UpdateRule.Momentum(1));
        assertRefused("momentum", () -> new UpdateRule.Momentum(-0.1));
        assertRefused("epsilon", () -> new UpdateRule.AdaGrad(0));
        assertRefused("decay", () -> new UpdateRule.RmsProp(1, 1e-8));
        assertRefused("epsilon", () -> new UpdateRule.RmsProp(0.9, Double.NaN));
        assertRefused("beta1", () -> new UpdateRule.Adam(1, 0.9, 1e-8));
        assertRefused("beta2", () -> new UpdateRule.Adam(0.9, Double.NaN, 1e-8));
        assertRefused("epsilon", () -> new UpdateRule.Adam(0.9, 0.9, 0));
    }

    private static void assertRefused(String name, Executable executable) {
        String message =
                assertThrows(IllegalArgumentException.class, executable).toString();
        assertTrue(message.contains(name), message);
    }
}
