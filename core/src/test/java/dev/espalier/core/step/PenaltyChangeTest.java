package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.StepOptions.Method;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A penalty that changes between steps. */
class PenaltyChangeTest {
    private static final LearningRate RATE = new LearningRate.Cosine(0.1, 0.01, 20);
    private static final Penalty LASSO = new GroupLasso(0.2);
    private static final Penalty MCP = new GroupMcp(0.3, 2);

    /** One set for each kind of block, one without a penalty, one that is frozen. */
    private static List<ParameterSet> sets(Penalty penalty) {
        return List.of(
                ParameterSet.of(RATE, new Parameter("bias", 1_003)),
                ParameterSet.of(RATE, new Parameter("conv", 6 * 40 * 9))
                        .withRegularizer(new Regularizer(penalty, new AxisGroups(6, 40, 9))),
                ParameterSet.of(RATE, new Parameter("query", 7 * 30), new Parameter("key", 5 * 30))
                        .withRegularizer(new Regularizer(
                                penalty, new JointGroups(List.of(new AxisGroups(7, 30, 1), new AxisGroups(5, 30, 1))))),
                ParameterSet.of(RATE, new Parameter("odd", 9))
                        .withRegularizer(new Regularizer(
                                penalty, new IndexGroups(9, List.of(List.of(8L, 2L, 3L), List.of(0L, 1L))))),
                ParameterSet.of(RATE, new Parameter("single", 77))
                        .withRegularizer(new Regularizer(penalty, AxisGroups.single(77))),
                ParameterSet.of(RATE, new Parameter("frozen", 4))
                        .withRegularizer(new Regularizer(penalty, new AxisGroups(2, 2, 1)))
                        .withoutTraining());
    }

    /** Groups within groups: such that a step takes on its sums, and such that go to the exact operator; and plain ones. */
    private static List<ParameterSet> nestedSets(Penalty penalty) {
        return List.of(
                ParameterSet.of(RATE, new Parameter("query", 7 * 30), new Parameter("key", 5 * 30))
                        .withRegularizer(new Regularizer(
                                penalty,
                                NestedGroups.ofParts(
                                        new JointGroups(List.of(new AxisGroups(7, 30, 1), new AxisGroups(5, 30, 1)))))),
                ParameterSet.of(RATE, new Parameter("conv", 4 * 5 * 6))
                        .withRegularizer(new Regularizer(
                                penalty, NestedGroups.of(new AxisGroups(4, 5, 6), new AxisGroups(1, 20, 6)))),
                ParameterSet.of(RATE, new Parameter("plain", 6 * 9))
                        .withRegularizer(new Regularizer(penalty, new AxisGroups(6, 9, 1))));
    }

    /** A model, its optimizer, and gradients that are the same for every run. */
    private static final class Run implements AutoCloseable {
        final TestModel model;
        final Optimizer optimizer;

        Run(List<ParameterSet> sets, UpdateRule rule, Method method) {
            model = new TestModel(sets);
            optimizer =
                    new Optimizer(rule, sets, StepOptions.DEFAULT.withThreads(2).withMethod(method));
            TestModel.fill(model.weights(), new SplittableRandom(1), 0.3);
        }

        StepReport step() {
            TestModel.fill(model.gradients(), new SplittableRandom(1000 + optimizer.steps()), 1);
            return optimizer.step(model.weights(), model.gradients());
        }

        void steps(int count) {
            for (int i = 0; i < count; i++) {
                step();
            }
        }

        /** Takes over weights and state. */
        void goOnFrom(Run other) {
            model.weights()
                    .forEach((name, view) -> view.segment()
                            .copyFrom(other.model
                                    .weights()
                                    .getOrDefault(name, view)
                                    .segment()));
            optimizer
                    .state()
                    .forEach((name, memory) ->
                            memory.copyFrom(other.optimizer.state().getOrDefault(name, memory)));
        }

        @Override
        public void close() {
            optimizer.close();
            model.close();
        }
    }

    static Stream<Arguments> changes() {
        List<Penalty> penalties = List.of(LASSO, MCP, new GroupScad(0.2, 3, 0.4), new GroupLasso(0));
        return Stream.of(Method.values())
                .flatMap(method -> Stream.of(new UpdateRule.Adam(), new UpdateRule.Momentum())
                        .flatMap(rule -> penalties.stream()
                                .flatMap(from -> penalties.stream()
                                        .filter(to -> to != from)
                                        .map(to -> Arguments.of(method, rule, from, to)))));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void itIsAsIfTheOptimizerHadBeenMadeWithTheNewPenalty(Method method, UpdateRule rule, Penalty from, Penalty to) {
        assertChanges(rule, method, sets(from), sets(to), to);
    }

    /** As where groups of one set cost more than those of another. */
    @ParameterizedTest
    @EnumSource(Method.class)
    void everySetCanHaveAPenaltyOfItsOwn(Method method) {
        List<ParameterSet> each = sets(LASSO).stream()
                .map(set -> set.regularizer() == null
                        ? set
                        : set.withRegularizer(set.regularizer().withPenalty(ofItsOwn(set))))
                .toList();
        try (Run changed = new Run(sets(MCP), new UpdateRule.Adam(), method);
                Run made = new Run(each, new UpdateRule.Adam(), method)) {
            changed.steps(5);
            made.goOnFrom(changed);
            changed.optimizer.changePenalties(PenaltyChangeTest::ofItsOwn);
            assertEquals(each, changed.optimizer.sets());
            for (int i = 0; i < 4; i++) {
                assertEquals(made.step(), changed.step());
            }
            assertArrayEquals(TestModel.bits(made.model.weights()), TestModel.bits(changed.model.weights()));
        }
    }

    private static Penalty ofItsOwn(ParameterSet set) {
        return new GroupLasso(0.01 * set.name().length());
    }

    private static void assertChanges(
            UpdateRule rule, Method method, List<ParameterSet> before, List<ParameterSet> after, Penalty to) {
        try (Run changed = new Run(before, rule, method);
                Run stubborn = new Run(before, rule, method);
                Run made = new Run(after, rule, method)) {
            changed.steps(5);
            stubborn.steps(9);
            made.goOnFrom(changed);
            changed.optimizer.changePenalty(to);
            assertEquals(after, changed.optimizer.sets());
            for (int i = 0; i < 4; i++) {
                assertEquals(made.step(), changed.step());
            }
            int[] weights = TestModel.bits(changed.model.weights());
            assertArrayEquals(TestModel.bits(made.model.weights()), weights);
            assertEquals(TestModel.copy(made.optimizer.state()), TestModel.copy(changed.optimizer.state()));
            assertFalse(Arrays.equals(TestModel.bits(stubborn.model.weights()), weights), "the change has no effect");
        }
    }

    static Stream<Arguments> nestedChanges() {
        List<Penalty> penalties = List.of(
                new NestedLasso(0.2, 0.4),
                new NestedLasso(0.4, 0.4),
                new NestedLasso(0.2, 0),
                new NestedLasso(0.2, 1),
                new NestedLasso(0, 0.4));
        return Stream.of(Method.values())
                .flatMap(method -> penalties.stream()
                        .flatMap(from ->
                                penalties.stream().filter(to -> to != from).map(to -> Arguments.of(method, from, to))));
    }

    @ParameterizedTest
    @MethodSource("nestedChanges")
    void soItIsForGroupsWithinGroups(Method method, Penalty from, Penalty to) {
        assertChanges(new UpdateRule.Adam(), method, nestedSets(from), nestedSets(to), to);
    }

    @Test
    void groupsWithinGroupsRefuseAPenaltyThatDoesNotNestAndStayAsTheyAre() {
        Penalty nested = new NestedLasso(0.2, 0.4);
        try (Run plain = new Run(nestedSets(nested), new UpdateRule.Adam(), Method.PROXIMAL);
                Run asked = new Run(nestedSets(nested), new UpdateRule.Adam(), Method.PROXIMAL)) {
            plain.steps(2);
            asked.steps(2);
            for (Penalty wrong : List.of(LASSO, MCP)) {
                String message = assertThrows(
                                IllegalArgumentException.class, () -> asked.optimizer.changePenalty(wrong))
                        .toString();
                assertTrue(message.contains("NestedLasso"), message);
            }
            assertEquals(nestedSets(nested), asked.optimizer.sets());
            assertEquals(plain.step(), asked.step());
            assertArrayEquals(TestModel.bits(plain.model.weights()), TestModel.bits(asked.model.weights()));
        }
    }

    /** As a run's phases do it: none, some, none. */
    @ParameterizedTest
    @EnumSource
    void withoutStrengthGroupsWithinGroupsAreSteppedAsWithoutPenalty(Method method) {
        List<ParameterSet> plainSets = nestedSets(new NestedLasso(0, 0.4)).stream()
                .map(set ->
                        new ParameterSet(set.parameters(), set.learningRate(), set.weightDecay(), null, set.frozen()))
                .toList();
        try (Run idle = new Run(nestedSets(new NestedLasso(0.2, 0.4)), new UpdateRule.Adam(), method);
                Run plain = new Run(plainSets, new UpdateRule.Adam(), method)) {
            idle.steps(3);
            plain.goOnFrom(idle);
            idle.optimizer.changePenalty(new NestedLasso(0, 0.4));
            Summary summary = idle.step().summary();
            plain.step();
            assertEquals(0, summary.zeroed());
            assertEquals(0, summary.zeroedWithin());
            assertEquals(0, summary.unconverged());
            requireClose(plain, idle, method);
        }
    }

    private static void requireClose(Run plain, Run idle, Method method) {
        double tolerance = method == Method.PROXIMAL ? 4 * Math.ulp(1f) : 0;
        idle.model.weights().forEach((name, view) -> {
            double[] expected = TestModel.values(plain.model.weights().getOrDefault(name, view));
            double[] actual = TestModel.values(view);
            for (int i = 0; i < actual.length; i++) {
                assertEquals(expected[i], actual[i], tolerance * Math.max(0.1, Math.abs(expected[i])), name);
            }
        });
    }

    @Test
    void changingBackAndForthBetweenStepsIsNoChange() {
        try (Run plain = new Run(sets(MCP), new UpdateRule.Adam(), Method.PROXIMAL);
                Run nervous = new Run(sets(MCP), new UpdateRule.Adam(), Method.PROXIMAL)) {
            for (int i = 0; i < 5; i++) {
                nervous.optimizer.changePenalty(LASSO);
                nervous.optimizer.changePenalty(MCP);
                assertEquals(plain.step(), nervous.step());
            }
            assertArrayEquals(TestModel.bits(plain.model.weights()), TestModel.bits(nervous.model.weights()));
        }
    }

    /** The blocks with a penalty go by way of D·x, so they may differ from the plain step by float32's rounding. */
    @ParameterizedTest
    @EnumSource
    void withoutStrengthAGroupIsSteppedAsWithoutPenalty(Method method) {
        List<ParameterSet> plainSets = sets(LASSO).stream()
                .map(set ->
                        new ParameterSet(set.parameters(), set.learningRate(), set.weightDecay(), null, set.frozen()))
                .toList();
        try (Run idle = new Run(sets(LASSO), new UpdateRule.Adam(), method);
                Run plain = new Run(plainSets, new UpdateRule.Adam(), method)) {
            for (Penalty none : List.of(new GroupLasso(0), new GroupMcp(0, 2))) {
                idle.steps(3);
                plain.goOnFrom(idle);
                idle.optimizer.changePenalty(none);
                Summary summary = idle.step().summary();
                plain.step();
                assertEquals(0, summary.zeroed());
                assertEquals(0, summary.shrunk());
                assertEquals(method == Method.PROXIMAL ? 40 + 30 + 2 + 77 : 0, summary.untouched());
                requireClose(plain, idle, method);
                idle.optimizer.changePenalty(LASSO);
            }
        }
    }

    @Test
    void setsWithoutAPenaltyStayWithout() {
        try (Run run = new Run(sets(LASSO), new UpdateRule.Sgd(), Method.PROXIMAL)) {
            ParameterSet bias = run.optimizer.sets().getFirst();
            run.optimizer.changePenalty(MCP);
            assertSame(bias, run.optimizer.sets().getFirst());
        }
    }

    @Test
    void aClosedOptimizerRefuses() {
        Run run = new Run(sets(LASSO), new UpdateRule.Sgd(), Method.PROXIMAL);
        run.close();
        String message = assertThrows(IllegalStateException.class, () -> run.optimizer.changePenalty(MCP))
                .toString();
        assertTrue(message.contains("closed"), message);
    }
}
