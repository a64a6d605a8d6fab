package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.LassoAndMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.step.TestModel;
import dev.espalier.core.step.TestModel.Layout;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A step is the same to the last bit on one lane and on many, on one thread and on many, and however tensors lie. */
class LaneTwinTest {
    private static final List<UpdateRule> RULES = List.of(
            new UpdateRule.Sgd(),
            new UpdateRule.Momentum(),
            new UpdateRule.AdaGrad(),
            new UpdateRule.RmsProp(),
            new UpdateRule.RmsProp(0, 1e-8),
            new UpdateRule.Adam());
    private static final List<Penalty> PENALTIES = List.of(
            new GroupLasso(2),
            new GroupMcp(2, 0.7),
            new GroupMcp(1, 0.05),
            GroupScad.classical(2, 2.5, GroupWeight.NONE),
            new GroupScad(2, 0.2, 0.5),
            new LassoAndMcp(2, 0.7, 0.2, GroupWeight.SQRT_SIZE),
            new SparseGroupLasso(2, 0.3));

    /** Everything that a few steps leave behind. */
    private record Trace(IntBuffer weights, Object state, List<StepReport> reports) {
        void assertSame(Trace other, String what) {
            assertEquals(-1, weights.mismatch(other.weights), what);
            assertEquals(state, other.state, what);
            assertEquals(reports, other.reports, what);
        }

        Summary total() {
            return reports.stream().map(StepReport::summary).reduce(Summary.EMPTY, Summary::plus);
        }
    }

    private static Trace run(
            UpdateRule rule, List<ParameterSet> sets, Layout weights, Layout gradients, LaneChoice lanes, int threads) {
        return run(rule, sets, weights, gradients, lanes, StepOptions.DEFAULT.withThreads(threads));
    }

    private static Trace run(
            UpdateRule rule,
            List<ParameterSet> sets,
            Layout weights,
            Layout gradients,
            LaneChoice lanes,
            StepOptions options) {
        try (TestModel model = new TestModel(sets, weights, gradients);
                Optimizer optimizer = new Optimizer(rule, sets, options, lanes)) {
            SplittableRandom random = new SplittableRandom(5);
            TestModel.fill(model.weights(), random, 0.5);
            List<StepReport> reports = new ArrayList<>();
            for (int step = 0; step < 5; step++) {
                TestModel.fill(model.gradients(), random, step == 3 ? 6 : 1);
                reports.add(optimizer.step(model.weights(), model.gradients()));
            }
            return new Trace(
                    IntBuffer.wrap(TestModel.bits(model.weights())), TestModel.copy(optimizer.state()), reports);
        }
    }

    private static ParameterSet set(String name, Groups groups, Penalty penalty) {
        Parameter[] parameters = new Parameter[groups.tensorSizes().size()];
        Arrays.setAll(
                parameters, i -> new Parameter(name + i, groups.tensorSizes().get(i)));
        return ParameterSet.of(LearningRate.constant(0.1), parameters)
                .withWeightDecay(0.1)
                .withRegularizer(new Regularizer(penalty, groups));
    }

    @Test
    void lanesAgreeOnAwkwardShapes() {
        int[] sizes = {1, 2, 3, 5, 7, 9, 16, 17, 64, 65, 130};
        int number = 0;
        Summary total = Summary.EMPTY;
        for (int outer : sizes) {
            for (int count : sizes) {
                for (int inner : sizes) {
                    if ((long) outer * count * inner <= 8000) {
                        total = total.plus(assertLanesAgree(new AxisGroups(outer, count, inner), number++));
                    }
                }
            }
        }
        assertTrue(Math.min(Math.min(total.zeroed(), total.shrunk()), total.untouched()) > 500, total::toString);
    }

    private static Summary assertLanesAgree(Groups groups, int number) {
        UpdateRule rule = RULES.get(number % RULES.size());
        List<ParameterSet> sets = List.of(set("w", groups, PENALTIES.get(number % PENALTIES.size())));
        Trace scalar = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.SCALAR, 1);
        Trace vector = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.VECTOR, 1);
        scalar.assertSame(vector, rule + " on " + sets);
        return scalar.total();
    }

    static Stream<Groups> groups() {
        List<List<Long>> scattered = new ArrayList<>();
        for (long group = 0; group < 20; group++) {
            long first = group;
            scattered.add(
                    LongStream.iterate(first, i -> i < 700, i -> i + 23).boxed().toList());
        }
        return Stream.of(
                new AxisGroups(1, 7, 512),
                new AxisGroups(1, 33, 1024),
                new AxisGroups(1, 12, 576),
                new AxisGroups(1, 3, 64),
                new AxisGroups(1, 5, 8256), // more columns than a job otherwise has
                new AxisGroups(23, 131, 9), // more columns than are gone through row by row
                new AxisGroups(70, 33, 9),
                new AxisGroups(130, 65, 9),
                new AxisGroups(65, 130, 1),
                new AxisGroups(200, 16, 1),
                AxisGroups.single(1013),
                new JointGroups(
                        List.of(new AxisGroups(67, 21, 1), new AxisGroups(3, 21, 5), new AxisGroups(1, 21, 64))),
                new JointGroups(List.of(new AxisGroups(16, 9, 9), new AxisGroups(1, 9, 1), new AxisGroups(130, 9, 3))),
                new IndexGroups(700, scattered)); // the places 20, 21 and 22 of every 23 are free
    }

    @ParameterizedTest
    @MethodSource("groups")
    void lanesLayoutsAndThreadsAgree(Groups groups) {
        Summary total = Summary.EMPTY;
        for (int number = 0; number < PENALTIES.size(); number++) {
            UpdateRule rule = RULES.get(Math.floorMod(-1 - number, RULES.size()));
            List<ParameterSet> sets = List.of(set("w", groups, PENALTIES.get(number)));
            Trace scalar = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.SCALAR, 1);
            String what = rule + " with " + PENALTIES.get(number) + " on " + groups;
            scalar.assertSame(run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.VECTOR, 2), what);
            scalar.assertSame(run(rule, sets, Layout.TRANSPOSED, Layout.ROW_MAJOR, LaneChoice.VECTOR, 1), what);
            scalar.assertSame(run(rule, sets, Layout.ROW_MAJOR, Layout.SLICED, LaneChoice.VECTOR, 3), what);
            scalar.assertSame(run(rule, sets, Layout.SLICED, Layout.TRANSPOSED, LaneChoice.BEST, 2), what);
            total = total.plus(scalar.total());
        }
        assertTrue(Math.min(Math.min(total.zeroed(), total.shrunk()), total.untouched()) > 0, total.toString());
    }

    static Stream<NestedGroups> nestedGroups() {
        return Stream.of(
                NestedGroups.ofParts(new JointGroups(
                        List.of(new AxisGroups(67, 21, 1), new AxisGroups(3, 21, 5), new AxisGroups(1, 21, 64)))),
                NestedGroups.ofParts(new JointGroups(
                        List.of(new AxisGroups(130, 33, 1), new AxisGroups(130, 33, 1), new AxisGroups(16, 33, 9)))),
                NestedGroups.of(new AxisGroups(6, 7, 9), new AxisGroups(1, 42, 9)));
    }

    @ParameterizedTest
    @MethodSource("nestedGroups")
    void nestedGroupsAgreeToo(NestedGroups groups) {
        Summary total = Summary.EMPTY;
        for (double share : new double[] {0, 0.4, 0.9, 1}) {
            for (UpdateRule rule : RULES) {
                List<ParameterSet> sets = List.of(set("w", groups, new NestedLasso(2, share)));
                Trace scalar = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.SCALAR, 1);
                String what = rule + " with share " + share + " on " + groups;
                scalar.assertSame(run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.VECTOR, 2), what);
                scalar.assertSame(run(rule, sets, Layout.SLICED, Layout.TRANSPOSED, LaneChoice.BEST, 3), what);
                total = total.plus(scalar.total());
            }
        }
        assertTrue(Math.min(total.zeroed(), total.shrunk()) > 50 && total.unconverged() == 0, total.toString());
        assertTrue(total.zeroedWithin() > 100, total.toString());
    }

    @ParameterizedTest
    @MethodSource("rules")
    void layoutsAgreeWithoutAPenalty(UpdateRule rule) {
        List<ParameterSet> sets =
                List.of(ParameterSet.of(LearningRate.constant(0.1), new Parameter("w", PlainBlock.CHUNK + 13)));
        Trace scalar = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.SCALAR, 1);
        scalar.assertSame(run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.VECTOR, 2), "row-major");
        scalar.assertSame(run(rule, sets, Layout.SLICED, Layout.TRANSPOSED, LaneChoice.VECTOR, 1), "strided");
    }

    /** The mean of a metric is a sum over a whole tensor: over more than a piece of it, with an odd end. */
    @ParameterizedTest
    @MethodSource("rules")
    void aFloorOfTheMetricIsTheSameForAll(UpdateRule rule) {
        List<ParameterSet> sets = List.of(
                ParameterSet.of(LearningRate.constant(0.1), new Parameter("a", 140_003), new Parameter("b", 7)),
                set(
                        "c",
                        new JointGroups(List.of(new AxisGroups(67, 21, 1), new AxisGroups(3, 21, 5))),
                        PENALTIES.get(0)),
                set("d", AxisGroups.single(1013), PENALTIES.get(1)),
                set("e", new AxisGroups(130, 65, 9), PENALTIES.getLast()));
        StepOptions options = StepOptions.DEFAULT.withMetricFloor(0.7);
        Trace scalar = run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.SCALAR, options.withThreads(1));
        scalar.assertSame(
                run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.VECTOR, options.withThreads(3)),
                "row-major");
        scalar.assertSame(
                run(rule, sets, Layout.SLICED, Layout.TRANSPOSED, LaneChoice.VECTOR, options.withThreads(2)),
                "strided");
    }

    static List<UpdateRule> rules() {
        return RULES;
    }

    /** Many sets at once, of every kind, some of more jobs than there are threads. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void threadsDoNotMatter(int threads) {
        List<ParameterSet> sets = new ArrayList<>(List.of(
                ParameterSet.of(LearningRate.constant(0.1), new Parameter("a", 100_003), new Parameter("b", 10)),
                ParameterSet.of(LearningRate.constant(0.1), new Parameter("c", 7))));
        List<Groups> all = groups().toList();
        for (int i = 0; i < all.size(); i++) {
            sets.add(set("set" + i + "/", all.get(i), PENALTIES.get(i % PENALTIES.size())));
        }
        UpdateRule rule = new UpdateRule.Adam();
        run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.BEST, 1)
                .assertSame(
                        run(rule, sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR, LaneChoice.BEST, threads),
                        threads + " threads");
    }
}
