package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Group MCP in the fused step, where many weights see no gradient, so that κ = α/β is anything up to 1e12 times their d: all
 * is finite, no sign is flipped, and every group is within 1e-5 of the minimiser of the same u and d in double.
 *
 * <p>Where two local minimisers are nearly equally good, float32 sums cannot tell which is better, and need not: then the step
 * may end at either, but its objective must be the least up to rounding.
 */
class McpPrecisionTest {
    /** Error of a weight, relative to the largest of the group's before the penalty. */
    private static final double PRECISION = 1e-5;

    /** Difference of objectives that is a tie, relative to the penalty. */
    private static final double TIE = 1e-6;

    /** A local minimum. */
    private static final class Minimum {
        final double[] z;
        final double objective;

        Minimum(double[] z, double objective) {
            this.z = z;
            this.objective = objective;
        }
    }

    /**
     * All local minima of {@code ½Σd(z − x)² + αh(‖z‖)}, by bisection of docs/math/group-mcp.md's equation. The unknown is the
     * pull {@code e = l − κθ}, by its logarithm where it is small: so a root loses no digit however near to the knee it is.
     */
    private static final class Definition {
        final double[] u;
        final double[] d;
        final double[] x;
        final double alpha;
        final Profile profile;
        final double l;
        final double kappa;
        final double knee;

        Definition(double[] u, double[] d, double alpha, Profile profile) {
            double strength = profile.pieces().getFirst().height();
            double beta = 1 / profile.pieces().getFirst().bend();
            this.u = u;
            this.d = d;
            this.alpha = alpha;
            this.profile = profile;
            x = new double[u.length];
            Arrays.setAll(x, i -> u[i] / d[i]);
            l = alpha * strength;
            kappa = alpha / beta;
            knee = beta * strength;
        }

        /** From l at place 1, where θ = 0, evenly to the half at place 0, and on to next to nothing at −1, the knee. */
        double pull(double place) {
            return place > 0 ? l * (1 + place) / 2 : l / 2 * Math.pow(10, 40 * place);
        }

        double t(double place) {
            double pull = pull(place);
            double sum = 0;
            for (int i = 0; i < u.length; i++) {
                double w = u[i] / (d[i] * (l - pull) / kappa + pull);
                sum += w * w;
            }
            return sum;
        }

        double slope(double place) {
            double pull = pull(place);
            double sum = 0;
            for (int i = 0; i < u.length; i++) {
                double divisor = d[i] * (l - pull) / kappa + pull;
                double w = u[i] / divisor;
                sum += w * w * (1 - d[i] / kappa) / divisor;
            }
            return sum; // of t with respect to θ, but for a positive factor
        }

        List<Minimum> minima() {
            List<Minimum> all = new ArrayList<>();
            if (t(1) <= 1) {
                all.add(minimum(new double[u.length], 0));
            } else {
                double valley = -1;
                if (slope(-1) > 0) {
                    double right = 1;
                    for (int i = 0; i < 200; i++) {
                        double middle = (valley + right) / 2;
                        if (slope(middle) > 0) {
                            valley = middle;
                        } else {
                            right = middle;
                        }
                    }
                }
                if (t(valley) <= 1) {
                    double left = valley;
                    double right = 1;
                    for (int i = 0; i < 200; i++) {
                        double middle = (left + right) / 2;
                        if (t(middle) > 1) {
                            right = middle;
                        } else {
                            left = middle;
                        }
                    }
                    double pull = pull(left);
                    double theta = (l - pull) / kappa;
                    double[] z = new double[u.length];
                    Arrays.setAll(z, i -> theta * u[i] / (d[i] * theta + pull));
                    all.add(minimum(z, theta));
                }
            }
            if (Norm.of(x) >= knee) {
                all.add(minimum(x, knee));
            }
            return all;
        }

        private Minimum minimum(double[] z, double theta) {
            double penalty = l * theta - kappa * theta * theta / 2;
            double distance = 0;
            for (int i = 0; i < z.length; i++) {
                distance += d[i] * (z[i] - x[i]) * (z[i] - x[i]);
            }
            return new Minimum(z, distance / 2 + penalty);
        }
    }

    /** What was seen in all. */
    private static final class Seen {
        int groups;
        int zero;
        int shrunk;
        int untouched;
        int ties;
        double worst;
        String where = "";

        @Override
        public String toString() {
            return "%d groups: %d zero, %d shrunk, %d untouched, %d ties; worst %.2e: %s"
                    .formatted(groups, zero, shrunk, untouched, ties, worst, where);
        }
    }

    /**
     * How a model is made.
     *
     * @param rule the update rule
     * @param alpha α
     * @param beta β
     * @param gradients about how large the gradients of weights are that have some
     * @param seed of all that is random, λ too
     */
    private record Case(UpdateRule rule, double alpha, double beta, double gradients, long seed) {
        /** Every third weight has no gradient, ever; and some groups have none in some steps. */
        TensorView gradient(AxisGroups groups, boolean first, SplittableRandom random, Arena arena) {
            TensorView g = tensor(groups, arena);
            for (int group = 0; group < groups.count(); group++) {
                double scale = gradients * Math.pow(10, random.nextDouble(-1, 1));
                boolean moves = first || random.nextInt(3) > 0;
                groups.forEach(group, (tensor, index) -> {
                    double value = scale * random.nextGaussian();
                    g.set(index, index % 3 == 0 || !moves ? 0 : value);
                });
            }
            return g;
        }
    }

    private static TensorView tensor(AxisGroups groups, Arena arena) {
        long size = groups.tensorSizes().getFirst();
        return TensorView.of(arena.allocate(size * Float.BYTES, 64), ElementType.FLOAT32, size);
    }

    /** Does a few steps, and compares each with the definition. Returns the bits of the weights in the end. */
    private static int[] steps(Case one, AxisGroups groups, LaneChoice lanes, Seen seen) {
        SplittableRandom random = new SplittableRandom(one.seed());
        GroupMcp penalty = new GroupMcp(Math.pow(10, random.nextDouble(-3, -1)), one.beta());
        double knee = penalty.strength(groups.size(0)) * one.beta();
        long size = groups.tensorSizes().getFirst();
        SetPlan plan = new SetPlan(List.of("w"), List.of(size), new Regularizer(penalty, groups), true);
        try (Arena arena = Arena.ofConfined();
                StepKernel kernel = lanes.create(one.rule(), List.of(plan), 1)) {
            TensorView x = tensor(groups, arena);
            for (int group = 0; group < groups.count(); group++) {
                double scale = knee * Math.exp(random.nextDouble(-2, 1)) / Math.sqrt(groups.size(group));
                groups.forEach(group, (tensor, index) -> x.set(index, scale * random.nextGaussian()));
            }
            for (int step = 1; step <= 3; step++) {
                TensorView g = one.gradient(groups, step == 1, random, arena);
                Update update = Update.of(one.rule().at(step), one.alpha(), 0);
                float[] m = moments(kernel, "first/w", size);
                float[] v = moments(kernel, "second/w", size);
                double[] u = new double[m.length];
                double[] d = new double[m.length];
                for (int i = 0; i < u.length; i++) {
                    float gradient = (float) g.get(i);
                    d[i] = update.metric(update.second(v[i], gradient));
                    u[i] = update.preconditioned((float) d[i], (float) x.get(i), update.first(m[i], gradient));
                }
                SetStep set = new SetStep(List.of(x), List.of(g), one.alpha(), 0);
                double smallStep = ReciprocalNewton.smallHalleyStep(1e-7);
                Summary summary = kernel.step(List.of(set), one.rule().at(step), smallStep)
                        .sets()
                        .getFirst()
                        .summary();
                assertEquals(0, summary.unconverged(), one::toString);
                List<TensorView> both = List.of(TensorView.of(u), TensorView.of(d));
                for (int group = 0; group < groups.count(); group++) {
                    Definition definition = new Definition(
                            groups.gather(group, both.subList(0, 1)),
                            groups.gather(group, both.subList(1, 2)),
                            one.alpha(),
                            penalty.profileOfSize(groups.size(group)));
                    String where = one + ", step " + step + ", group " + group;
                    compare(definition, groups.gather(group, List.of(x)), where, seen);
                }
            }
            return IntStream.range(0, (int) size)
                    .map(i -> Float.floatToRawIntBits((float) x.get(i)))
                    .toArray();
        }
    }

    private static float[] moments(StepKernel kernel, String name, long size) {
        MemorySegment memory = kernel.state().get(name);
        return memory == null ? new float[(int) size] : memory.toArray(ValueLayout.JAVA_FLOAT);
    }

    private static void compare(Definition definition, double[] z, String where, Seen seen) {
        List<Minimum> minima = definition.minima();
        Minimum best = Collections.min(minima, Comparator.comparingDouble(minimum -> minimum.objective));
        double most = best.objective + TIE * definition.l * definition.knee;
        List<Minimum> good =
                minima.stream().filter(minimum -> minimum.objective <= most).toList();
        for (int i = 0; i < z.length; i++) {
            assertTrue(Double.isFinite(z[i]), where);
            assertTrue(z[i] * definition.u[i] >= 0, where);
        }
        double error = error(definition, good, z);
        assertTrue(error <= PRECISION, () -> error + " in " + where);
        double[] exact = new double[z.length];
        WeightedProx.EXACT.apply(definition.profile, definition.x, definition.d, definition.alpha, exact);
        double exactError = error(definition, good, exact);
        assertTrue(exactError <= 1e-8, () -> exactError + " of the exact operator in " + where);
        double norm = Norm.of(best.z);
        seen.groups++;
        seen.ties += good.size() - 1;
        seen.zero += norm == 0 ? 1 : 0;
        seen.shrunk += norm > 0 && norm < definition.knee ? 1 : 0;
        seen.untouched += norm >= definition.knee ? 1 : 0;
        seen.where = error > seen.worst ? where : seen.where;
        seen.worst = Math.max(seen.worst, error);
    }

    /** How far z is from the nearest of some minima. */
    private static double error(Definition definition, List<Minimum> minima, double[] z) {
        double nearest = Double.POSITIVE_INFINITY;
        for (Minimum minimum : minima) {
            double difference = 0;
            for (int i = 0; i < z.length; i++) {
                difference = Math.max(difference, Math.abs(z[i] - minimum.z[i]));
            }
            nearest = Math.min(nearest, difference);
        }
        return nearest == 0 ? 0 : nearest / Norm.largest(definition.x);
    }

    static Stream<UpdateRule> rules() {
        return Stream.of(
                new UpdateRule.Sgd(),
                new UpdateRule.Momentum(),
                new UpdateRule.AdaGrad(),
                new UpdateRule.AdaGrad(1e-8),
                new UpdateRule.RmsProp(),
                new UpdateRule.RmsProp(0.99, 1e-10),
                new UpdateRule.Adam(),
                new UpdateRule.Adam(0.9, 0.999, 1e-10));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void everyStepIsTheExactOperator(UpdateRule rule) {
        Seen seen = new Seen();
        for (double alpha : new double[] {1e-4, 1e-3, 1e-2, 1e-1}) {
            for (double beta : new double[] {1.5, 5, 100, 5000}) {
                for (double gradients : new double[] {alpha / beta, 1e-2, 1}) {
                    Case one = new Case(rule, alpha, beta, gradients, seen.groups);
                    steps(one, new AxisGroups(4, 60, 3), LaneChoice.BEST, seen);
                }
            }
        }
        assertTrue(seen.shrunk > 1000 && seen.untouched > 1000, seen::toString);
        assertTrue(seen.ties < seen.groups / 200, seen::toString);
    }

    /** Weights without gradient have ε for a d: κ is chosen times as large. */
    @ParameterizedTest
    @ValueSource(doubles = {1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1, 10, 1e2, 1e4, 1e6, 1e7, 1e8, 1e10, 1e12, 1e15})
    void howeverMuchLargerKappaIs(double ratio) {
        Seen seen = new Seen();
        for (double alpha : new double[] {1e-4, 1e-1}) {
            for (double beta : new double[] {1.5, 5000}) {
                double kappa = alpha / beta;
                for (double gradients : new double[] {kappa, 100 * kappa, 1e5 * kappa}) {
                    UpdateRule rule = new UpdateRule.AdaGrad(kappa / ratio);
                    Case one = new Case(rule, alpha, beta, gradients, seen.groups);
                    steps(one, new AxisGroups(2, 100, 6), LaneChoice.BEST, seen);
                }
            }
        }
        assertTrue(seen.shrunk > 200 && seen.untouched > 200, seen::toString);
    }

    /** λ decides how l, κ and the knee are rounded, and with that which way {@code (d − κ)θ + l} went wrong. */
    @ParameterizedTest
    @ValueSource(doubles = {1.5, 5})
    void adaGradWithAThirdOfTheWeightsWithoutGradient(double beta) {
        Seen seen = new Seen();
        for (int seed = 0; seed < 40; seed++) {
            Case one = new Case(new UpdateRule.AdaGrad(), 1e-2, beta, seed % 2 == 0 ? 1 : 1e-2, seed);
            AxisGroups groups = new AxisGroups(4, 100, 3);
            int[] vector = steps(one, groups, LaneChoice.VECTOR, seen);
            assertArrayEquals(steps(one, groups, LaneChoice.SCALAR, seen), vector, one::toString);
        }
        assertTrue(Math.min(seen.zero, Math.min(seen.shrunk, seen.untouched)) > 500, seen::toString);
    }
}
