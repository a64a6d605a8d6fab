package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
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
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a step says of the error of its norms is at least what that error is, near the threshold too. */
class ResidualTest {
    private static final double ALPHA = 0.1;

    /** One group, in tensors of native memory, stepped once by AdaGrad: d is the gradient's magnitude, and ε. */
    private static final class OneGroup implements AutoCloseable {
        final Groups groups;
        final StepKernel kernel;
        final Regularizer regularizer;
        final List<TensorView> weights = new ArrayList<>();
        final List<TensorView> gradients = new ArrayList<>();
        private final Arena arena = Arena.ofConfined();

        OneGroup(Groups groups, Penalty penalty, LaneChoice lanes) {
            this.groups = groups;
            regularizer = new Regularizer(penalty, groups);
            List<String> names = new ArrayList<>();
            for (long size : groups.tensorSizes()) {
                names.add("w" + names.size());
                weights.add(TensorView.of(arena.allocate(size * Float.BYTES, 64), ElementType.FLOAT32, size));
                gradients.add(TensorView.of(arena.allocate(size * Float.BYTES, 64), ElementType.FLOAT32, size));
            }
            SetPlan plan = new SetPlan(names, groups.tensorSizes(), regularizer, true);
            kernel = lanes.create(new UpdateRule.AdaGrad(), List.of(plan), 1);
        }

        Summary step() {
            SetStep step = new SetStep(weights, gradients, ALPHA, 0);
            return kernel.step(List.of(step), new UpdateRule.AdaGrad().at(1), ReciprocalNewton.smallHalleyStep(1e-7))
                    .sets()
                    .getFirst()
                    .summary();
        }

        /** The exact operator on the same numbers; z gets the solution. */
        Outcome exact(double[] z) {
            Update update = Update.of(new UpdateRule.AdaGrad().at(1), ALPHA, 0);
            double[] x = groups.gather(0, weights);
            double[] d = groups.gather(0, gradients);
            for (int i = 0; i < x.length; i++) {
                float g = (float) d[i];
                float metric = update.metric(update.second(0, g));
                d[i] = metric;
                x[i] = update.preconditioned(metric, (float) x[i], update.first(0, g)) / d[i];
            }
            return WeightedProx.EXACT.apply(regularizer.whole(0), x, d, ALPHA, Double.NaN, z);
        }

        MemorySegment norms() {
            return Objects.requireNonNull(kernel.state().lastEntry()).getValue();
        }

        /** The norm that the step found. */
        double norm() {
            double sum = 0;
            for (float norm : norms().toArray(ValueLayout.JAVA_FLOAT)) {
                sum += (double) norm * norm;
            }
            return Math.sqrt(sum);
        }

        @Override
        public void close() {
            kernel.close();
            arena.close();
        }
    }

    private enum Kind {
        LASSO,
        MCP,
        SCAD,
        NESTED;

        Penalty penalty(double lambda) {
            return switch (this) {
                case LASSO -> new GroupLasso(lambda);
                case MCP -> new GroupMcp(lambda, 40);
                case SCAD -> new GroupScad(lambda, 40, 0.01);
                case NESTED -> new NestedLasso(lambda, 0.4);
            };
        }

        Groups groups(int rows) {
            JointGroups joint = new JointGroups(List.of(new AxisGroups(rows, 1, 3), new AxisGroups(2 * rows, 1, 1)));
            return switch (this) {
                case LASSO, MCP, SCAD -> new AxisGroups(rows, 1, 5);
                case NESTED -> NestedGroups.ofParts(joint);
            };
        }
    }

    /** λ at which the group of weights that were drawn becomes zero: found by bisection with the exact operator. */
    private static double threshold(Kind kind, int rows, long seed) {
        double low = 0;
        double high = 1e6;
        for (int i = 0; i < 60; i++) {
            double middle = (low + high) / 2;
            try (OneGroup one = drawn(kind, rows, middle, seed)) {
                boolean zero = one.exact(new double[one.groups.size(0)]).branch() == Branch.ZEROED;
                low = zero ? low : middle;
                high = zero ? middle : high;
            }
        }
        return low;
    }

    private static OneGroup drawn(Kind kind, int rows, double lambda, long seed) {
        OneGroup one = new OneGroup(kind.groups(rows), kind.penalty(lambda), LaneChoice.BEST);
        SplittableRandom random = new SplittableRandom(seed);
        double[] x = new double[one.groups.size(0)];
        Arrays.setAll(x, i -> random.nextGaussian());
        one.groups.scatter(0, x, one.weights);
        Arrays.setAll(x, i -> Math.exp(random.nextDouble(-3, 0)) * random.nextGaussian());
        one.groups.scatter(0, x, one.gradients);
        return one;
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void itIsNoLessThanTheError(Kind kind) {
        int compared = 0;
        double worst = 0;
        for (int seed = 0; seed < 40; seed++) {
            int rows = 1 + seed * 7 % 130;
            double threshold = threshold(kind, rows, seed);
            for (double distance : new double[] {0.3, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
                try (OneGroup one = drawn(kind, rows, threshold * (1 - distance), seed)) {
                    Outcome exact = one.exact(new double[one.groups.size(0)]);
                    Summary summary = one.step();
                    if (summary.shrunk() == 1 && exact.branch() == Branch.SHRUNK) {
                        double error = Math.abs(one.norm() - exact.theta()) / exact.theta();
                        String what = "rows %d, seed %d, distance %s: error %s, said %s"
                                .formatted(rows, seed, distance, error, summary.residual());
                        assertTrue(error <= summary.residual() + 1e-7, what);
                        assertTrue(distance < 0.1 || summary.residual() < 1e-4, what);
                        worst = Math.max(worst, error);
                        compared++;
                    }
                }
            }
        }
        assertTrue(compared > 150 && worst > 1e-4, compared + " groups, worst " + worst);
    }

    /** Squares in float vanish where θ, still that of the step before, is far too large; that is no zero. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aNormThatIsFarTooLargeZeroesNothing(Kind kind) {
        for (float previous : new float[] {1e10f, 1e24f, 1e30f, 3e38f}) {
            for (LaneChoice lanes : List.of(LaneChoice.SCALAR, LaneChoice.VECTOR)) {
                try (OneGroup one = new OneGroup(kind.groups(3), kind.penalty(0.1), lanes)) {
                    double[] x = new double[one.groups.size(0)];
                    SplittableRandom random = new SplittableRandom(2);
                    Arrays.setAll(x, i -> random.nextGaussian());
                    one.groups.scatter(0, x, one.weights);
                    one.groups.scatter(0, x, one.gradients);
                    double[] z = new double[x.length];
                    assertEquals(Branch.SHRUNK, one.exact(z).branch());
                    MemorySegment norms = one.norms();
                    for (long i = 0; i < norms.byteSize() / Float.BYTES; i++) {
                        norms.setAtIndex(ValueLayout.JAVA_FLOAT, i, previous);
                    }
                    assertEquals(1, one.step().shrunk(), kind + " from " + previous);
                    double[] found = one.groups.gather(0, one.weights);
                    for (int i = 0; i < z.length; i++) {
                        assertEquals(z[i], found[i], 1e-6, kind + " from " + previous);
                    }
                }
            }
        }
    }
}
