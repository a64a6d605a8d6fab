package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.StepOptions.Method;
import dev.espalier.core.step.StepOptions.NonFinite;
import dev.espalier.core.step.TestModel.Layout;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an optimizer accepts, what it refuses, and what it reports. */
class OptimizerTest {
    private static final StepOptions OPTIONS = StepOptions.DEFAULT.withThreads(2);
    private static final LearningRate RATE = LearningRate.constant(0.1);

    private static List<ParameterSet> sets() {
        return List.of(
                ParameterSet.of(RATE, new Parameter("bias", 70_001)),
                ParameterSet.of(RATE, Parameter.of("conv", 6, 8, 3, 3))
                        .withRegularizer(new Regularizer(new GroupLasso(1), AxisGroups.along(1, 6, 8, 3, 3))),
                ParameterSet.of(RATE, new Parameter("last", 12))
                        .withRegularizer(new Regularizer(new GroupMcp(1, 2), AxisGroups.single(12))));
    }

    private static TensorView view(Map<String, TensorView> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name));
    }

    static Stream<Arguments> badGradients() {
        return Stream.of(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 1e16f, -1e16f)
                .flatMap(value -> Stream.of("bias/69999", "conv/77", "last/11")
                        .flatMap(place -> Stream.of(Layout.ROW_MAJOR, Layout.SLICED)
                                .map(layout -> Arguments.of(value, place, layout))));
    }

    @ParameterizedTest
    @MethodSource("badGradients")
    void aBadGradientChangesNothing(float value, String place, Layout layout) {
        String name = place.substring(0, place.indexOf('/'));
        long index = Long.parseLong(place.substring(place.indexOf('/') + 1));
        for (LaneChoice lanes : List.of(LaneChoice.SCALAR, LaneChoice.VECTOR)) {
            for (NonFinite choice : NonFinite.values()) {
                try (TestModel model = new TestModel(sets(), Layout.ROW_MAJOR, layout);
                        Optimizer optimizer =
                                new Optimizer(new UpdateRule.Adam(), sets(), OPTIONS.withNonFinite(choice), lanes)) {
                    SplittableRandom random = new SplittableRandom(3);
                    TestModel.fill(model.weights(), random, 1);
                    TestModel.fill(model.gradients(), random, 1);
                    optimizer.step(model.weights(), model.gradients());
                    int[] weights = TestModel.bits(model.weights());
                    int[] before = bits(optimizer);
                    double good = view(model.gradients(), name).get(index);
                    view(model.gradients(), name).set(index, value);
                    switch (choice) {
                        case FAIL -> {
                            String message = assertThrows(
                                            NonFiniteGradientException.class,
                                            () -> optimizer.step(model.weights(), model.gradients()))
                                    .toString();
                            assertTrue(message.contains(name) && message.contains("step 2"), message);
                            assertTrue(message.contains("" + Math.abs(value)), message);
                            assertEquals(0, optimizer.skippedSteps());
                            assertArrayEquals(before, bits(optimizer));
                        }
                        case SKIP -> {
                            StepReport report = optimizer.step(model.weights(), model.gradients());
                            assertEquals(new StepReport(2, true, List.of()), report);
                            assertEquals(1, optimizer.skippedSteps());
                            int[] after = bits(optimizer);
                            assertNotEquals(before[2], after[2]); // the count of skipped steps
                            after[2] = before[2];
                            assertArrayEquals(before, after);
                        }
                    }
                    assertArrayEquals(weights, TestModel.bits(model.weights()));
                    assertEquals(1, optimizer.steps());
                    view(model.gradients(), name).set(index, good);
                    assertEquals(
                            2,
                            optimizer.step(model.weights(), model.gradients()).step());
                    assertEquals(2, optimizer.steps());
                }
            }
        }
    }

    /** The largest gradient that is allowed: nothing overflows. */
    @Test
    void aHugeGradientIsStillAStep() {
        try (TestModel model = new TestModel(sets());
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets(), OPTIONS)) {
            TestModel.fill(model.weights(), new SplittableRandom(3), 1);
            model.gradients().values().forEach(gradient -> {
                for (long i = 0; i < gradient.size(); i++) {
                    gradient.set(i, 1e15f);
                }
            });
            assertFalse(optimizer.step(model.weights(), model.gradients()).skipped());
            for (TensorView tensor : model.weights().values()) {
                for (double weight : TestModel.values(tensor)) {
                    assertTrue(Math.abs(weight) < 10, () -> "" + weight);
                }
            }
        }
    }

    /** All of an optimizer's state, its counters first. */
    private static int[] bits(Optimizer optimizer) {
        return optimizer.state().values().stream()
                .flatMapToInt(memory -> Arrays.stream(memory.toArray(ValueLayout.JAVA_INT_UNALIGNED)))
                .toArray();
    }

    @Test
    void frozenSetsStayAndNeedNoGradient() {
        List<ParameterSet> sets = sets().stream()
                .map(set -> set.name().equals("conv") ? set.withoutTraining() : set)
                .toList();
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS)) {
            TestModel.fill(model.weights(), new SplittableRandom(1), 1);
            TestModel.fill(model.gradients(), new SplittableRandom(2), 1);
            double[] before = TestModel.values(view(model.weights(), "conv"));
            double[] moving = TestModel.values(view(model.weights(), "last"));
            model.gradients().remove("conv");
            StepReport report = optimizer.step(model.weights(), model.gradients());
            assertArrayEquals(before, TestModel.values(view(model.weights(), "conv")));
            assertFalse(Arrays.equals(moving, TestModel.values(view(model.weights(), "last"))));
            assertEquals(
                    List.of("last"),
                    report.sets().stream().map(StepReport.SetReport::name).toList());
            assertFalse(optimizer.state().keySet().stream().anyMatch(name -> name.contains("conv")));
            assertEquals(sets, optimizer.sets());
        }
        List<ParameterSet> allFrozen =
                sets().stream().map(ParameterSet::withoutTraining).toList();
        try (Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), allFrozen, OPTIONS)) {
            assertEquals(1, optimizer.step(Map.of(), Map.of()).step());
        }
    }

    @Test
    void everySetHasItsOwnRateAndDecay() {
        List<ParameterSet> sets = List.of(
                ParameterSet.of(LearningRate.constant(0.5), new Parameter("a", 3))
                        .withWeightDecay(0.25),
                ParameterSet.of(new LearningRate.StepDecay(0.25, 0.5, 1), new Parameter("b", 3)));
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Sgd(), sets, OPTIONS)) {
            for (int i = 0; i < 3; i++) {
                view(model.weights(), "a").set(i, 8);
                view(model.weights(), "b").set(i, 8);
                view(model.gradients(), "a").set(i, 2);
                view(model.gradients(), "b").set(i, 2);
            }
            optimizer.step(model.weights(), model.gradients());
            assertEquals(6, view(model.weights(), "a").get(1)); // 8·(1 − 0.5·0.25) − 0.5·2
            assertEquals(7.5, view(model.weights(), "b").get(1));
            optimizer.step(model.weights(), model.gradients());
            assertEquals(4.25, view(model.weights(), "a").get(1));
            assertEquals(7.25, view(model.weights(), "b").get(1));
        }
    }

    /** A phase ends after so many batches, whatever became of them: a rate that waited for skipped steps would end later. */
    @Test
    void aSkippedStepDoesNotHoldUpTheLearningRate() {
        List<ParameterSet> sets =
                List.of(ParameterSet.of(new LearningRate.StepDecay(1, 0.5, 1), new Parameter("a", 1)));
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer =
                        new Optimizer(new UpdateRule.Sgd(), sets, OPTIONS.withNonFinite(NonFinite.SKIP))) {
            TensorView weight = view(model.weights(), "a");
            for (int step = 0; step < 6; step++) {
                double before = weight.get(0);
                boolean bad = step == 1 || step == 2;
                view(model.gradients(), "a").set(0, bad ? Double.NaN : -1);
                assertEquals(
                        bad, optimizer.step(model.weights(), model.gradients()).skipped());
                assertEquals(bad ? 0 : Math.pow(0.5, step), weight.get(0) - before);
                assertEquals(step + 1, optimizer.allSteps());
            }
            assertEquals(4, optimizer.steps());
        }
    }

    @Test
    void badModelsAreRefusedByName() {
        Parameter parameter = new Parameter("twice", 4);
        ParameterSet set = ParameterSet.of(RATE, parameter);
        assertRefused("twice", () -> new Optimizer(new UpdateRule.Sgd(), List.of(set, set), OPTIONS).close());
        assertRefused(
                "twice",
                () -> new Optimizer(new UpdateRule.Sgd(), List.of(ParameterSet.of(RATE, parameter, parameter)), OPTIONS)
                        .close());
        assertRefused(
                "frozen",
                () -> new Optimizer(
                                new UpdateRule.Sgd(),
                                List.of(
                                        ParameterSet.of(RATE, new Parameter("frozen", 4)),
                                        ParameterSet.of(RATE, new Parameter("frozen", 4))
                                                .withoutTraining()),
                                OPTIONS)
                        .close());
        assertRefused("twice", () -> set.withRegularizer(new Regularizer(new GroupLasso(1), new AxisGroups(1, 5, 1))));
        assertRefused("weightDecay", () -> set.withWeightDecay(-1));
        assertRefused("number of parameters", () -> ParameterSet.of(RATE));
        assertRefused("size of none", () -> new Parameter("none", 0));
        assertRefused("threads", () -> OPTIONS.withThreads(-1));
    }

    @Test
    void badTensorsAreRefusedByNameBeforeAnythingIsChanged() {
        try (TestModel model = new TestModel(sets());
                Arena arena = Arena.ofShared();
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets(), OPTIONS)) {
            TestModel.fill(model.weights(), new SplittableRandom(1), 1);
            TestModel.fill(model.gradients(), new SplittableRandom(2), 1);
            int[] before = TestModel.bits(model.weights());
            int[] state = bits(optimizer);
            TensorView heap = TensorView.of(new float[12]);
            TensorView doubles = TensorView.of(arena.allocate(12 * 8), ElementType.FLOAT64, 12);
            TensorView tooLong = TensorView.of(arena.allocate(13 * 4), ElementType.FLOAT32, 13);
            for (TensorView bad : List.of(heap, doubles, tooLong)) {
                assertRefused("weights of last", () -> optimizer.step(with(model.weights(), bad), model.gradients()));
                assertRefused("gradient of last", () -> optimizer.step(model.weights(), with(model.gradients(), bad)));
            }
            assertRefused("weights of last", () -> optimizer.step(without(model.weights()), model.gradients()));
            assertRefused("gradient of last", () -> optimizer.step(model.weights(), without(model.gradients())));
            assertArrayEquals(before, TestModel.bits(model.weights()));
            assertArrayEquals(state, bits(optimizer));
        }
    }

    /** The kernels go by addresses, so nobody but the optimizer can see that memory is gone, or not to be written. */
    @Test
    void memoryThatIsGoneOrReadOnlyIsRefused() {
        try (TestModel model = new TestModel(sets());
                Arena arena = Arena.ofShared();
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets(), OPTIONS)) {
            MemorySegment alive = arena.allocate(12 * 4);
            TensorView readOnly = TensorView.of(alive.asReadOnly(), ElementType.FLOAT32, 12);
            Arena closed = Arena.ofShared();
            TensorView gone = TensorView.of(closed.allocate(12 * 4), ElementType.FLOAT32, 12);
            closed.close();
            assertRefused("weights of last", () -> optimizer.step(with(model.weights(), readOnly), model.gradients()));
            assertRefused("weights of last", () -> optimizer.step(with(model.weights(), gone), model.gradients()));
            assertRefused("gradient of last", () -> optimizer.step(model.weights(), with(model.gradients(), gone)));
            assertEquals(
                    1,
                    optimizer
                            .step(model.weights(), with(model.gradients(), readOnly))
                            .step());
        }
    }

    @Test
    void aClosedOptimizerStepsNoMore() {
        try (TestModel model = new TestModel(sets())) {
            Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets(), OPTIONS);
            optimizer.close();
            optimizer.close();
            assertThrows(IllegalStateException.class, () -> optimizer.step(model.weights(), model.gradients()));
        }
    }

    private static SequencedMap<String, TensorView> with(SequencedMap<String, TensorView> tensors, TensorView last) {
        SequencedMap<String, TensorView> copy = new LinkedHashMap<>(tensors);
        copy.put("last", last);
        return copy;
    }

    private static SequencedMap<String, TensorView> without(SequencedMap<String, TensorView> tensors) {
        SequencedMap<String, TensorView> copy = new LinkedHashMap<>(tensors);
        copy.remove("last");
        return copy;
    }

    private static void assertRefused(String what, Executable executable) {
        String message =
                assertThrows(IllegalArgumentException.class, executable).toString();
        assertTrue(message.contains(what), message);
    }

    /** The subgradient method is the plain rule on the gradient of objective and penalty. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSubgradientMethodIsThePlainRuleOnTheSum(boolean indexed) {
        Regularizer regularizer = new Regularizer(
                new GroupLasso(3),
                indexed
                        ? new IndexGroups(60, List.of(List.of(3L, 7L), List.of(59L, 2L, 11L)))
                        : new AxisGroups(4, 5, 3));
        List<ParameterSet> plain =
                List.of(ParameterSet.of(RATE, new Parameter("w", 60)).withWeightDecay(0.1));
        List<ParameterSet> penalised = List.of(plain.getFirst().withRegularizer(regularizer));
        UpdateRule rule = new UpdateRule.Adam();
        try (TestModel one = new TestModel(plain);
                TestModel other = new TestModel(penalised);
                Optimizer slow = new Optimizer(rule, plain, OPTIONS);
                Optimizer fast = new Optimizer(rule, penalised, OPTIONS.withMethod(Method.SUBGRADIENT))) {
            TestModel.fill(one.weights(), new SplittableRandom(1), 1);
            TestModel.fill(other.weights(), new SplittableRandom(1), 1);
            for (int step = 0; step < 40; step++) {
                TestModel.fill(one.gradients(), new SplittableRandom(step), 0.1);
                TestModel.fill(other.gradients(), new SplittableRandom(step), 0.1);
                regularizer.addSubgradient(List.of(view(one.weights(), "w")), List.of(view(one.gradients(), "w")));
                slow.step(one.weights(), one.gradients());
                StepReport report = fast.step(other.weights(), other.gradients());
                assertEquals(List.of(), report.sets());
                assertArrayEquals(TestModel.bits(one.weights()), TestModel.bits(other.weights()));
            }
            for (double weight : TestModel.values(view(other.weights(), "w"))) {
                assertNotEquals(0, weight);
            }
        }
    }

    /** Reports against the weights that the step left behind. */
    @ParameterizedTest
    @EnumSource(value = LaneChoice.class)
    void reportsAgreeWithTheWeights(LaneChoice lanes) {
        try (TestModel model = new TestModel(sets());
                Optimizer optimizer = new Optimizer(new UpdateRule.RmsProp(), sets(), OPTIONS, lanes)) {
            SplittableRandom random = new SplittableRandom(4);
            TestModel.fill(model.weights(), random, 0.3);
            long iterations = 0;
            for (int step = 1; step <= 10; step++) {
                TestModel.fill(model.gradients(), random, 1);
                StepReport report = optimizer.step(model.weights(), model.gradients());
                assertEquals(step, report.step());
                assertFalse(report.skipped());
                assertEquals(
                        List.of("conv", "last"),
                        report.sets().stream().map(StepReport.SetReport::name).toList());
                double penalty = 0;
                double squares = 0;
                for (int i = 0; i < 2; i++) {
                    StepReport.SetReport set = report.sets().get(i);
                    Regularizer regularizer =
                            Objects.requireNonNull(sets().get(i + 1).regularizer());
                    List<TensorView> weights = List.of(view(model.weights(), set.name()));
                    assertEquals(regularizer.groups().count(), set.summary().groups());
                    assertEquals(
                            regularizer.groups().count() - set.summary().zeroed(), regularizer.nonZeroGroups(weights));
                    double value = regularizer.value(weights);
                    assertEquals(value, set.penalty(), 1e-5 * value + 1e-12);
                    penalty += value;
                    squares += regularizer.squaredStationarityDistance(
                            weights, List.of(view(model.gradients(), set.name())));
                    iterations += set.summary().iterations();
                }
                for (double gradient : TestModel.values(view(model.gradients(), "bias"))) {
                    squares += gradient * gradient;
                }
                assertEquals(penalty, report.penalty(), 1e-5 * penalty + 1e-12);
                assertEquals(
                        squares,
                        optimizer.squaredStationarityDistance(model.weights(), model.gradients()),
                        1e-9 * squares);
            }
            assertTrue(iterations > 0);
            assertTrue(optimizer.kernelName().contains("2 threads"), optimizer::kernelName);
        }
    }

    /** Weights that no group holds are trained without a penalty, and their gradient is their distance. */
    @Test
    void freeWeightsCountAsStationarityDistance() {
        List<ParameterSet> sets = List.of(ParameterSet.of(RATE, new Parameter("w", 3))
                .withRegularizer(new Regularizer(new GroupLasso(1), new IndexGroups(3, List.of(List.of(0L))))));
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Sgd(), sets, OPTIONS)) {
            view(model.weights(), "w").set(0, 2);
            view(model.gradients(), "w").set(0, 1);
            view(model.gradients(), "w").set(1, 3);
            view(model.gradients(), "w").set(2, 4);
            // (1 + 1)² of the group and 3² + 4² of the free weights
            assertEquals(29, optimizer.squaredStationarityDistance(model.weights(), model.gradients()), 1e-12);
        }
    }

    @ParameterizedTest
    @EnumSource(value = LaneChoice.class)
    void aLearningRateOfZeroLeavesTheWeights(LaneChoice lanes) {
        ParameterSet odd = ParameterSet.of(RATE, new Parameter("odd", 40))
                .withRegularizer(new Regularizer(
                        new GroupLasso(1), new IndexGroups(40, List.of(List.of(8L, 2L, 39L), List.of(0L)))));
        List<ParameterSet> sets = Stream.concat(sets().stream(), Stream.of(odd))
                .map(set -> new ParameterSet(
                        set.parameters(), LearningRate.constant(0), 0.5, set.regularizer(), set.frozen()))
                .toList();
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, lanes)) {
            TestModel.fill(model.weights(), new SplittableRandom(1), 1);
            int[] before = TestModel.bits(model.weights());
            for (int step = 0; step < 3; step++) {
                TestModel.fill(model.gradients(), new SplittableRandom(step), 1);
                StepReport report = optimizer.step(model.weights(), model.gradients());
                assertEquals(22, report.summary().untouched());
                assertEquals(0, report.summary().iterations());
                assertArrayEquals(before, TestModel.bits(model.weights()));
                double value =
                        Objects.requireNonNull(sets.get(1).regularizer()).value(List.of(view(model.weights(), "conv")));
                assertEquals(value, report.sets().getFirst().penalty(), 1e-5 * value);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = LaneChoice.class)
    void aPenaltyOfZeroIsThePlainRule(LaneChoice lanes) {
        List<ParameterSet> plain = List.of(ParameterSet.of(RATE, new Parameter("w", 60)));
        for (Regularizer nothing : List.of(
                new Regularizer(new GroupLasso(0), new AxisGroups(4, 5, 3)),
                new Regularizer(new GroupMcp(0, 2), new AxisGroups(4, 5, 3)),
                new Regularizer(new GroupLasso(0), new IndexGroups(60, List.of(List.of(3L, 9L)))))) {
            List<ParameterSet> penalised = List.of(plain.getFirst().withRegularizer(nothing));
            try (TestModel one = new TestModel(plain);
                    TestModel other = new TestModel(penalised);
                    Optimizer slow = new Optimizer(new UpdateRule.Adam(), plain, OPTIONS, lanes);
                    Optimizer fast = new Optimizer(new UpdateRule.Adam(), penalised, OPTIONS, lanes)) {
                TestModel.fill(one.weights(), new SplittableRandom(1), 1);
                TestModel.fill(other.weights(), new SplittableRandom(1), 1);
                for (int step = 0; step < 5; step++) {
                    TestModel.fill(one.gradients(), new SplittableRandom(step), 0.1);
                    TestModel.fill(other.gradients(), new SplittableRandom(step), 0.1);
                    slow.step(one.weights(), one.gradients());
                    StepReport report = fast.step(other.weights(), other.gradients());
                    assertEquals(nothing.groups().count(), report.summary().untouched());
                    assertEquals(0, report.summary().iterations());
                    assertEquals(0, report.penalty());
                    for (int i = 0; i < 60; i++) {
                        assertEquals(
                                view(one.weights(), "w").get(i),
                                view(other.weights(), "w").get(i),
                                1e-6);
                    }
                }
            }
        }
    }

    /** Memory that only one thread may touch is refused, or stepped, but never left half done. */
    @Test
    void confinedMemoryIsRefusedOrStepped() {
        List<ParameterSet> sets = List.of(ParameterSet.of(RATE, new Parameter("w", 400_000)));
        try (Arena confined = Arena.ofConfined();
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS)) {
            TensorView strided = TensorView.of(
                    confined.allocate(800_000 * 4L), ElementType.FLOAT32, new long[] {400_000}, new long[] {2});
            TensorView whole = TensorView.of(confined.allocate(400_000 * 4L), ElementType.FLOAT32, 400_000);
            int[] before = bits(optimizer);
            try {
                optimizer.step(Map.of("w", strided), Map.of("w", whole));
                assertEquals(1, optimizer.steps());
            } catch (IllegalArgumentException refused) {
                assertTrue(refused.toString().contains("of w is in memory"), refused::toString);
                assertArrayEquals(before, bits(optimizer));
            }
        }
    }
}
