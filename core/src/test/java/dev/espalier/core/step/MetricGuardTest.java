package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Metric;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.tensor.TensorView;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps a penalty from zeroing what only looks free because no gradient has been seen yet. */
class MetricGuardTest {
    private static final StepOptions OPTIONS = StepOptions.DEFAULT.withThreads(2);
    private static final double ALPHA = 1e-3;

    private static List<ParameterSet> sets(Groups groups, Penalty penalty, double decay) {
        Parameter[] parameters = new Parameter[groups.tensorSizes().size()];
        Arrays.setAll(
                parameters, i -> new Parameter("w" + i, groups.tensorSizes().get(i)));
        return List.of(ParameterSet.of(LearningRate.constant(ALPHA), parameters)
                .withWeightDecay(decay)
                .withRegularizer(new Regularizer(penalty, groups)));
    }

    private static TensorView first(SequencedMap<String, TensorView> tensors) {
        return tensors.firstEntry().getValue();
    }

    /** A layer that shall give its own answers: {@code y = Wx}, each sum of the student's in another order than the teacher's. */
    private static final class Student {
        static final int INPUTS = 64;
        static final int OUTPUTS = 768;
        static final int BATCH = 8;

        final List<ParameterSet> sets = sets(new AxisGroups(1, OUTPUTS, INPUTS), new GroupLasso(2e-5), 0);
        final double[] teacher = new double[OUTPUTS * INPUTS];
        final SplittableRandom random = new SplittableRandom(7);

        Student() {
            Arrays.setAll(teacher, i -> (float) (0.05 * random.nextGaussian()));
        }

        /** The gradient of the mean squared difference on a batch, in float32. */
        void differentiate(TensorView weights, TensorView gradient) {
            double[] g = new double[teacher.length];
            float[] x = new float[INPUTS];
            for (int sample = 0; sample < BATCH; sample++) {
                for (int i = 0; i < INPUTS; i++) {
                    x[i] = (float) random.nextGaussian();
                }
                for (int output = 0; output < OUTPUTS; output++) {
                    float mine = 0;
                    float yours = 0;
                    for (int i = 0; i < INPUTS; i++) {
                        int other = INPUTS - 1 - i;
                        mine += (float) weights.get((long) output * INPUTS + i) * x[i];
                        yours += (float) teacher[output * INPUTS + other] * x[other];
                    }
                    for (int i = 0; i < INPUTS; i++) {
                        g[output * INPUTS + i] += 2.0 * (mine - yours) * x[i] / (BATCH * OUTPUTS);
                    }
                }
            }
            for (int i = 0; i < g.length; i++) {
                gradient.set(i, g[i]);
            }
        }
    }

    /** All gradients are rounding: D is ε, nearly, and the operator in that metric would leave nothing. */
    @Test
    void aStudentThatEqualsItsTeacherKeepsAllGroupsInItsFirstStep() {
        Student student = new Student();
        Regularizer regularizer = Objects.requireNonNull(student.sets.getFirst().regularizer());
        UpdateRule rule = new UpdateRule.Adam();
        try (TestModel model = new TestModel(student.sets);
                Optimizer optimizer = new Optimizer(rule, student.sets, OPTIONS)) {
            TensorView weights = first(model.weights());
            TensorView gradient = first(model.gradients());
            for (int i = 0; i < student.teacher.length; i++) {
                weights.set(i, student.teacher[i]);
            }
            student.differentiate(weights, gradient);
            double[] noise = TestModel.values(gradient);
            double largest = Arrays.stream(noise).map(Math::abs).max().orElseThrow();
            assertTrue(largest > 0 && largest < 1e-8, () -> "largest gradient " + largest);

            SlowRule table = new SlowRule(rule, noise.length, 0.5); // a share of a mean that is ε helps nobody
            table.advance(1, noise);
            TensorView candidate = TensorView.of(table.candidate(TestModel.values(weights), ALPHA, 0));
            Summary without = regularizer.apply(
                    WeightedProx.EXACT, List.of(candidate), new Metric(List.of(TensorView.of(table.metric())), ALPHA));
            assertEquals(Student.OUTPUTS, without.zeroed());

            Summary first = optimizer.step(model.weights(), model.gradients()).summary();
            assertEquals(new Summary(0, 0, Student.OUTPUTS, 0, 0, 0, 0), first);
        }
    }

    /** The way to start: a student that differs a little has gradients to tell, and the penalty has its usual strength. */
    @Test
    void aPerturbedStudentDoesNotWaitAndLosesNothingEither() {
        Student student = new Student();
        try (TestModel model = new TestModel(student.sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), student.sets, OPTIONS)) {
            TensorView weights = first(model.weights());
            TensorView gradient = first(model.gradients());
            for (int i = 0; i < student.teacher.length; i++) {
                weights.set(i, student.teacher[i] * (1 + 0.02 * student.random.nextGaussian()));
            }
            for (int step = 1; step <= 5; step++) {
                student.differentiate(weights, gradient);
                Summary summary =
                        optimizer.step(model.weights(), model.gradients()).summary();
                assertEquals(Student.OUTPUTS, summary.shrunk(), "step " + step);
            }
        }
    }

    static Stream<Groups> groups() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(5, 6, 1), new AxisGroups(1, 6, 70)));
        return Stream.of(
                new AxisGroups(5, 6, 3),
                AxisGroups.single(20),
                joint,
                new IndexGroups(9, List.of(List.of(8L, 2L), List.of(0L), List.of(7L, 1L))),
                NestedGroups.ofParts(joint),
                NestedGroups.of(new AxisGroups(3, 5, 4), new AxisGroups(1, 15, 4)));
    }

    /** Without a gradient there is only the decay; then the penalty acts as on the first day. */
    @ParameterizedTest
    @MethodSource("groups")
    void aSetWithoutGradientsIsLeftToItsDecay(Groups groups) {
        Penalty penalty = new NestedLasso(0.1, 0.5);
        for (UpdateRule rule : List.of(new UpdateRule.Adam(), new UpdateRule.RmsProp(), new UpdateRule.AdaGrad())) {
            for (double decay : new double[] {0, 0.25}) {
                List<ParameterSet> sets = sets(groups, penalty, decay);
                try (TestModel model = new TestModel(sets);
                        Optimizer optimizer = new Optimizer(rule, sets, OPTIONS)) {
                    TestModel.fill(model.weights(), new SplittableRandom(3), 1);
                    List<TensorView> weights = List.copyOf(model.weights().values());
                    groups.forEach(0, (tensor, index) -> weights.get(tensor).set(index, 0));
                    for (int step = 1; step <= 3; step++) {
                        double[] before = values(weights);
                        StepReport report = optimizer.step(model.weights(), model.gradients());
                        double[] expected = Arrays.stream(before)
                                .map(x -> (float) x + (float) (-(float) (ALPHA * decay) * x))
                                .toArray();
                        assertArrayEquals(expected, values(weights), 1e-7);
                        assertTrue(decay > 0 || Arrays.equals(before, values(weights)));
                        Summary summary = report.summary();
                        assertEquals(1, summary.zeroed());
                        assertEquals(groups.count() - 1, summary.untouched());
                        assertTrue(groups instanceof NestedGroups == summary.zeroedWithin() > 0, summary::toString);
                        Regularizer regularizer =
                                Objects.requireNonNull(sets.getFirst().regularizer());
                        assertEquals(
                                regularizer.value(weights),
                                report.sets().getFirst().penalty(),
                                1e-9);
                    }
                    TestModel.fill(model.gradients(), new SplittableRandom(4), 1e-6);
                    Summary summary =
                            optimizer.step(model.weights(), model.gradients()).summary();
                    assertEquals(0, summary.untouched());
                    assertEquals(0, summary.unconverged());
                    assertTrue(summary.zeroed() > 1, summary::toString);
                }
            }
        }
    }

    private static double[] values(List<TensorView> tensors) {
        return tensors.stream()
                .flatMapToDouble(tensor -> Arrays.stream(TestModel.values(tensor)))
                .toArray();
    }

    /** A rule without a second moment has nothing to wait for. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.9})
    void aMetricThatNoGradientMakesDoesNotWait(double momentum) {
        List<ParameterSet> sets = sets(new AxisGroups(5, 6, 3), new GroupLasso(0.1), 0);
        UpdateRule rule = momentum == 0 ? new UpdateRule.Sgd() : new UpdateRule.Momentum(momentum);
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(rule, sets, OPTIONS)) {
            TestModel.fill(model.weights(), new SplittableRandom(3), 1);
            assertEquals(
                    6,
                    optimizer.step(model.weights(), model.gradients()).summary().shrunk());
        }
    }

    /** An input that is never lit: the others' gradients say that this one has none. A floor of the metric gives it time. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.5})
    void aDeadGroupAmongOthersIsZeroedAtOnceUnlessTheMetricHasAFloor(double floor) {
        List<ParameterSet> sets = sets(new AxisGroups(50, 6, 1), new GroupLasso(1e-3), 0);
        UpdateRule rule = new UpdateRule.Adam();
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(rule, sets, OPTIONS.withMetricFloor(floor))) {
            TestModel.fill(model.weights(), new SplittableRandom(3), 0.1);
            TestModel.fill(model.gradients(), new SplittableRandom(4), 1e-3);
            TensorView gradient = first(model.gradients());
            for (int row = 0; row < 50; row++) {
                gradient.set(row * 6L, 0);
            }
            Summary summary = optimizer.step(model.weights(), model.gradients()).summary();
            assertEquals(floor == 0 ? 1 : 0, summary.zeroed());
            assertEquals(floor == 0, first(model.weights()).get(0) == 0);
        }
    }

    /** Whether a set waits follows from its moments: who goes on from a file does not forget what was seen. */
    @Test
    void whatHasBeenSeenIsInTheState() {
        List<ParameterSet> sets = sets(new AxisGroups(5, 6, 3), new GroupLasso(0.1), 0);
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS);
                Optimizer successor = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS)) {
            TestModel.fill(model.weights(), new SplittableRandom(3), 1e-3);
            first(model.gradients()).set(77, 1e-3);
            optimizer.step(model.weights(), model.gradients());
            first(model.gradients()).set(77, 0);
            var state = optimizer.state();
            successor.state().forEach((name, memory) -> memory.copyFrom(Objects.requireNonNull(state.get(name))));
            Summary summary = successor.step(model.weights(), model.gradients()).summary();
            assertEquals(0, summary.untouched());
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1, Double.NaN})
    void aFloorThatIsNoShareIsRefused(double floor) {
        String message = assertThrows(IllegalArgumentException.class, () -> OPTIONS.withMetricFloor(floor))
                .toString();
        assertTrue(message.contains("metricFloor"), message);
    }
}
