package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.LassoAndMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.NaiveProx;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The fused step against the slow path: the paper's table of optimizers in double, from the float32 state before the step,
 * then the weighted proximal operator of every group in double.
 */
class SlowPathTest {
    private static final double ALPHA = 0.05;
    private static final double DECAY = 0.1;
    private static final int STEPS = 30;

    /** Relative error that float32 state and sums are allowed. */
    private static final double PRECISION = 2e-6;

    /** Relative distance to a threshold within which float32 may take the other side. */
    private static final double CLOSE = 1e-5;

    /** So small a knee that the proximal problem has two local minima for many a metric. */
    private static final Penalty NOT_CONVEX = new GroupMcp(1.2, 0.06);

    /** Groups lie on all of its three pieces. */
    private static final Penalty SCAD = new GroupScad(0.8, 3, 0.5);

    static Stream<Arguments> steps() {
        List<UpdateRule> rules = List.of(
                new UpdateRule.Sgd(),
                new UpdateRule.Momentum(),
                new UpdateRule.AdaGrad(),
                new UpdateRule.RmsProp(),
                new UpdateRule.RmsProp(0, 1e-8),
                new UpdateRule.Adam());
        List<Penalty> penalties = List.of(
                new GroupLasso(0.8),
                new GroupMcp(0.8, 1.5),
                NOT_CONVEX,
                new GroupMcp(1.2, 0.004),
                GroupScad.classical(3, 2.5, GroupWeight.NONE),
                SCAD,
                new GroupScad(1.2, 0.08, 0.6),
                new LassoAndMcp(0.8, 1.5, 0.3, GroupWeight.SQRT_SIZE),
                new NestedLasso(0.8, 0.6),
                new SparseGroupLasso(0.8, 0.4));
        Stream<Arguments> floored = Stream.of(
                Arguments.of(new UpdateRule.Adam(), new GroupLasso(0.8), 0.3),
                Arguments.of(new UpdateRule.Adam(), new NestedLasso(0.8, 0.6), 0.3),
                Arguments.of(new UpdateRule.RmsProp(), new GroupMcp(0.8, 1.5), 0.3),
                Arguments.of(new UpdateRule.AdaGrad(), new SparseGroupLasso(0.8, 0.4), 0.3));
        return Stream.concat(
                rules.stream().flatMap(rule -> penalties.stream().map(penalty -> Arguments.of(rule, penalty, 0.0))),
                floored);
    }

    private static List<Groups> groups(Penalty penalty) {
        List<Groups> groups = new ArrayList<>(List.of(
                new AxisGroups(5, 24, 9),
                new AxisGroups(70, 19, 1),
                new AxisGroups(1, 21, 64),
                AxisGroups.single(50),
                new JointGroups(List.of(new AxisGroups(4, 18, 1), new AxisGroups(1, 18, 6), new AxisGroups(66, 18, 1))),
                new IndexGroups(9, List.of(List.of(8L, 2L, 4L), List.of(0L), List.of(7L, 1L)))));
        if (penalty instanceof NestedLasso) {
            groups.add(NestedGroups.ofParts(new JointGroups(
                    List.of(new AxisGroups(4, 18, 1), new AxisGroups(1, 18, 6), new AxisGroups(66, 18, 1)))));
            groups.add(NestedGroups.ofParts(new JointGroups(
                    List.of(new AxisGroups(40, 33, 1), new AxisGroups(40, 33, 1), new AxisGroups(40, 33, 1)))));
            groups.add(NestedGroups.of( // 2×2 kernels within input channels; the third filter's are in no inner group
                    new AxisGroups(3, 5, 4),
                    new IndexGroups(
                            60,
                            LongStream.range(0, 10)
                                    .mapToObj(kernel -> LongStream.range(4 * kernel, 4 * kernel + 4)
                                            .boxed()
                                            .toList())
                                    .toList())));
        }
        return groups;
    }

    /** A set, its slow twins and where each group is pulled to. */
    private static final class Case {
        final ParameterSet set;
        final Regularizer regularizer;
        final List<SlowRule> rules;
        final double[] targets;

        Case(int number, Groups groups, Penalty penalty, UpdateRule rule, double floor, boolean weighed) {
            Parameter[] parameters = new Parameter[groups.tensorSizes().size()];
            Arrays.setAll(
                    parameters,
                    i -> new Parameter(number + "/" + i, groups.tensorSizes().get(i)));
            regularizer = weighed ? weighed(penalty, groups) : new Regularizer(penalty, groups);
            set = ParameterSet.of(LearningRate.constant(ALPHA), parameters)
                    .withWeightDecay(DECAY)
                    .withRegularizer(regularizer);
            rules = Stream.of(parameters)
                    .map(parameter -> new SlowRule(rule, Math.toIntExact(parameter.size()), floor))
                    .toList();
            targets = new double[groups.count()];
        }

        List<TensorView> of(Map<String, TensorView> tensors) {
            return set.parameters().stream()
                    .map(parameter -> Objects.requireNonNull(tensors.get(parameter.name())))
                    .toList();
        }
    }

    /** What happened to groups over all steps. */
    private static final class Seen {
        final Map<Branch, Integer> branches = new EnumMap<>(Branch.class);
        final int[] cases = new int[4];
        int died;
        int revived;
        int close;
        int groups;

        /** Groups within groups that are zero while the group is not. */
        int innerDied;

        @Override
        public String toString() {
            return branches + ", cases " + Arrays.toString(cases) + ", died " + died + ", revived " + revived
                    + ", close " + close + " of " + groups + ", inner died " + innerDied;
        }
    }

    @ParameterizedTest
    @MethodSource("steps")
    void everyStepIsTheSlowOne(UpdateRule rule, Penalty penalty, double floor) {
        assertSlow(rule, penalty, floor, false);
    }

    /** As with a pilot: groups of one size differ in strength, and some bear as much as to be zero for good. */
    @ParameterizedTest
    @MethodSource("weighed")
    void soItIsWithAFactorForEachGroup(Penalty penalty) {
        assertSlow(new UpdateRule.Adam(), penalty, 0, true);
    }

    static Stream<Penalty> weighed() {
        return Stream.of(new GroupLasso(0.8), new GroupMcp(0.8, 1.5), SCAD);
    }

    private static Regularizer weighed(Penalty penalty, Groups groups) {
        List<Double> factors = new ArrayList<>();
        for (int group = 0; group < groups.count(); group++) {
            factors.add(group % 7 == 3 ? 1e30 : 0.5 + group % 5 * 0.25);
        }
        return new Regularizer(penalty, groups).withFactors(factors);
    }

    private static void assertSlow(UpdateRule rule, Penalty penalty, double floor, boolean weighed) {
        List<Case> cases = new ArrayList<>();
        for (Groups groups : groups(penalty)) {
            cases.add(new Case(cases.size(), groups, penalty, rule, floor, weighed));
        }
        List<ParameterSet> sets = cases.stream().map(one -> one.set).toList();
        SplittableRandom random = new SplittableRandom(21);
        Seen seen = new Seen();
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(
                        rule, sets, StepOptions.DEFAULT.withThreads(1).withMetricFloor(floor))) {
            for (Case one : cases) {
                scatter(one, model, random);
            }
            for (int step = 1; step <= STEPS; step++) {
                for (Case one : cases) {
                    pull(one, step, model, random);
                    readState(one, optimizer.state());
                }
                List<List<double[]>> before = cases.stream()
                        .map(one -> gather(one, one.of(model.weights())))
                        .toList();
                StepReport report = optimizer.step(model.weights(), model.gradients());
                for (int i = 0; i < cases.size(); i++) {
                    compare(
                            cases.get(i),
                            before.get(i),
                            step,
                            model,
                            report.sets().get(i),
                            seen);
                }
            }
        }
        assertTrue(seen.branches.getOrDefault(Branch.ZEROED, 0) > 50, seen::toString);
        assertTrue(seen.died > 5 && seen.revived > 5, seen::toString);
        if (!penalty.profileOfSize(1).pieces().getLast().flat()) { // no group goes unpenalised
            assertEquals(2, seen.branches.size(), seen::toString);
        } else {
            assertTrue(seen.branches.getOrDefault(Branch.UNTOUCHED, 0) > 50, seen::toString);
        }
        if (penalty.profileOfSize(1).slope(0.5) > 0) {
            assertTrue(seen.branches.getOrDefault(Branch.SHRUNK, 0) > 50, seen::toString);
        }
        if (penalty.equals(NOT_CONVEX) && (rule instanceof UpdateRule.AdaGrad || rule instanceof UpdateRule.Adam)) {
            assertTrue(Arrays.stream(seen.cases).min().orElseThrow() > 5, seen::toString);
        }
        if (penalty instanceof NestedLasso) {
            assertTrue(seen.innerDied > 100, seen::toString);
        }
        assertTrue(seen.close < seen.groups / 100, seen::toString);
    }

    /** Weights of every size, the same in a group. */
    private static void scatter(Case one, TestModel model, SplittableRandom random) {
        Groups groups = one.regularizer.groups();
        for (int group = 0; group < groups.count(); group++) {
            double[] x = new double[groups.size(group)];
            double scale = Math.exp(random.nextDouble(-4, 2));
            Arrays.setAll(x, i -> scale * random.nextGaussian());
            groups.scatter(group, x, one.of(model.weights()));
        }
    }

    /** Gradients that pull every group to a target of its own, a new one every ten steps, many of them near zero. */
    private static void pull(Case one, int step, TestModel model, SplittableRandom random) {
        Groups groups = one.regularizer.groups();
        List<TensorView> weights = one.of(model.weights());
        List<TensorView> gradients = one.of(model.gradients());
        for (TensorView gradient : gradients) {
            for (long i = 0; i < gradient.size(); i++) {
                gradient.set(i, random.nextGaussian()); // of the free weights
            }
        }
        for (int group = 0; group < groups.count(); group++) {
            if (step % 10 == 1) {
                one.targets[group] = random.nextInt(3) == 0 ? 0 : Math.exp(random.nextDouble(-3, 2));
            }
            double[] x = groups.gather(group, weights);
            double target = one.targets[group];
            double scale = Math.exp(random.nextDouble(-2, 1));
            int decades = group % 3; // over which the metric is spread
            int[] owners = groups instanceof NestedGroups nested ? nested.owners(group) : new int[x.length];
            int alone = groups instanceof NestedGroups ? (group + step / 10) % 5 : -1; // an inner group pulled to zero
            Arrays.setAll(
                    x,
                    i -> scale
                            * Math.pow(10, -decades * random.nextDouble())
                            * (x[i] - (owners[i] == alone ? 0 : target) * (1 + 0.1 * random.nextGaussian())));
            if (x.length > 1 && group % 2 == 0) {
                x[0] = 0; // a weight that never sees a gradient has only ε for a metric
            }
            groups.scatter(group, x, gradients);
        }
    }

    private static void readState(Case one, Map<String, MemorySegment> state) {
        for (int tensor = 0; tensor < one.rules.size(); tensor++) {
            String name = one.set.parameters().get(tensor).name();
            read(state.get("first/" + name), one.rules.get(tensor).mean());
            read(state.get("second/" + name), one.rules.get(tensor).squares());
        }
    }

    private static void read(@Nullable MemorySegment memory, double[] values) {
        if (memory != null) {
            Arrays.setAll(values, i -> memory.getAtIndex(ValueLayout.JAVA_FLOAT, i));
        }
    }

    private static List<double[]> gather(Case one, List<TensorView> tensors) {
        List<double[]> values = new ArrayList<>();
        for (int group = 0; group < one.regularizer.groups().count(); group++) {
            values.add(one.regularizer.groups().gather(group, tensors));
        }
        return values;
    }

    private static void compare(
            Case one, List<double[]> before, int step, TestModel model, StepReport.SetReport report, Seen seen) {
        Groups groups = one.regularizer.groups();
        List<TensorView> gradients = one.of(model.gradients());
        List<double[]> after = gather(one, one.of(model.weights()));
        List<TensorView> metrics = new ArrayList<>();
        List<TensorView> directions = new ArrayList<>();
        for (int tensor = 0; tensor < one.rules.size(); tensor++) {
            SlowRule rule = one.rules.get(tensor);
            rule.advance(step, TestModel.values(gradients.get(tensor)));
            metrics.add(TensorView.of(rule.metric()));
            directions.add(TensorView.of(rule.direction()));
        }
        int close = 0;
        int innerZeros = 0;
        Map<Branch, Integer> branches = new EnumMap<>(Branch.class);
        for (int group = 0; group < groups.count(); group++) {
            double[] start = before.get(group);
            double[] d = groups.gather(group, metrics);
            double[] m = groups.gather(group, directions);
            double[] x = new double[d.length];
            Arrays.setAll(x, i -> (1 - ALPHA * DECAY) * start[i] - ALPHA * m[i] / d[i]);
            NestedProfile whole = one.regularizer.whole(group);
            double[] z = new double[x.length];
            Branch branch = apply(whole, x, d, ALPHA, z);
            double[] actual = after.get(group);
            String what = "%s, group %d in step %d: %s".formatted(one.regularizer, group, step, branch);
            seen.groups++;
            if (nearThreshold(whole, x, d)) {
                close++;
            } else {
                double[] difference = new double[x.length];
                Arrays.setAll(difference, i -> actual[i] - z[i]);
                double scale = Math.max(Math.max(Norm.of(start), Norm.of(x)), 1e-30);
                assertEquals(0, Norm.of(difference) / scale, PRECISION, what);
                assertEquals(branch == Branch.ZEROED, Norm.of(actual) == 0, what);
                if (groups instanceof NestedGroups) {
                    boolean[] expected = zeros(whole.innerNorms(z));
                    assertArrayEquals(expected, zeros(whole.innerNorms(actual)), what);
                    innerZeros += count(expected);
                    seen.innerDied += branch == Branch.ZEROED ? 0 : count(expected);
                } else if (step % 10 == 5 && x.length < 10 && whole.inner().isEmpty()) {
                    double[] naive = NaiveProx.apply(whole.outer(), x, d, ALPHA);
                    Arrays.setAll(difference, i -> actual[i] - naive[i]);
                    assertEquals(0, Norm.of(difference) / scale, PRECISION, what);
                }
            }
            branches.merge(branch, 1, Integer::sum);
            if (one.regularizer.penalty() instanceof GroupMcp mcp) {
                double[] u = new double[x.length];
                Arrays.setAll(u, i -> d[i] * x[i]);
                double strength = mcp.strength(x.length);
                seen.cases[(Norm.of(x) > mcp.beta() * strength ? 2 : 0) + (Norm.of(u) > ALPHA * strength ? 1 : 0)]++;
            }
            seen.died += Norm.of(start) > 0 && Norm.of(actual) == 0 ? 1 : 0;
            seen.revived += Norm.of(start) == 0 && Norm.of(actual) > 0 ? 1 : 0;
        }
        seen.close += close;
        branches.forEach((branch, count) -> seen.branches.merge(branch, count, Integer::sum));
        assertEquals(groups.count(), report.summary().groups());
        assertEquals(branches.getOrDefault(Branch.ZEROED, 0), report.summary().zeroed(), close);
        assertEquals(branches.getOrDefault(Branch.SHRUNK, 0), report.summary().shrunk(), close);
        assertEquals(
                branches.getOrDefault(Branch.UNTOUCHED, 0), report.summary().untouched(), close);
        assertEquals(0, report.summary().unconverged());
        int most = close * groups.size(0);
        int zeros = innerZeros;
        assertTrue(
                report.summary().zeroedWithin() >= zeros && report.summary().zeroedWithin() <= zeros + most,
                () -> report.summary() + " of " + one.regularizer);
        double value = one.regularizer.value(one.of(model.weights()));
        assertEquals(value, report.penalty(), 1e-5 * value, () -> "penalty of " + one.regularizer);
    }

    private static Branch apply(NestedProfile whole, double[] x, double[] d, double stepSize, double[] z) {
        return WeightedProx.EXACT.apply(whole, x, d, stepSize, Double.NaN, z).branch();
    }

    private static boolean[] zeros(double[] norms) {
        boolean[] zeros = new boolean[norms.length];
        for (int i = 0; i < norms.length; i++) {
            zeros[i] = norms[i] == 0;
        }
        return zeros;
    }

    private static int count(boolean[] values) {
        int count = 0;
        for (boolean value : values) {
            count += value ? 1 : 0;
        }
        return count;
    }

    /** Whether a penalty slightly weaker or stronger takes another branch, or leaves other groups within alive. */
    private static boolean nearThreshold(NestedProfile whole, double[] x, double[] d) {
        double[] weaker = new double[x.length];
        double[] stronger = new double[x.length];
        Branch one = apply(whole, x, d, ALPHA * (1 - CLOSE), weaker);
        Branch other = apply(whole, x, d, ALPHA * (1 + CLOSE), stronger);
        boolean single = whole.inner().size() == x.length; // of so many weights some are always near
        return one != other
                || (!single && !Arrays.equals(zeros(whole.innerNorms(weaker)), zeros(whole.innerNorms(stronger))));
    }
}
