package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.LassoAndMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.NewtonRaphson;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.root.Tolerance;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/**
 * Random proximal problems of one group. Each is made from a seed, and a failure names it: {@code -Despalier.seed=N}
 * replays that case alone.
 */
public final class Cases {
    /** The solvers that solve for θ; each must be as exact as double allows. */
    public static final List<Solver> ROOT_SOLVERS = List.of(
            new Solver.ByRoot(new ReciprocalNewton(), Tolerance.EXACT),
            new Solver.ByRoot(new NewtonRaphson(), Tolerance.EXACT),
            new Solver.ByRoot(new Bisection(), Tolerance.EXACT));

    private Cases() {}

    /** Families of problems. */
    public enum Kind {
        /** ℓ1/ℓ2: convex. */
        LASSO,
        /** MCP with {@code α < β d_min}: the paper's Theorem 2, one local minimiser. */
        CONVEX_MCP,
        /** MCP with {@code α > β d_min}: up to two local minimisers. */
        MCP,
        /** SCAD: three pieces, a concave slope, up to two local minimisers. */
        SCAD,
        /** MCP above the norm, which no solver knows of: two pieces, the last above zero. */
        LASSO_AND_MCP;

        /** The problem of a seed. */
        public Problem make(long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            return switch (this) {
                case LASSO -> lasso(seed, random);
                case CONVEX_MCP -> convexMcp(seed, random);
                case MCP -> mcp(seed, random);
                case SCAD -> scad(seed, random);
                case LASSO_AND_MCP -> lassoAndMcp(seed, random);
            };
        }
    }

    /** What a solver made of a problem. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Solution(double[] z, Outcome outcome) {}

    /** {@code argmin_z ½ Σ d_i (z_i − x_i)² + α h(‖z‖)}. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Problem(long seed, Penalty penalty, double[] x, double[] d, double stepSize) {

        /** The penalty of this group. */
        public Profile profile() {
            return penalty.profileOfSize(x.length);
        }

        /** {@code u = D x}. */
        public double[] u() {
            return times(d, x);
        }

        /** {@code l = α λ_g}. */
        public double threshold() {
            return stepSize * penalty.strength(x.length);
        }

        /** Solves without a guess. */
        public Solution solve(Solver solver) {
            return solve(solver, Double.NaN);
        }

        /** Solves from a guess of θ. */
        public Solution solve(Solver solver, double start) {
            double[] z = new double[x.length];
            return new Solution(z, new WeightedProx(solver).apply(profile(), x, d, stepSize, start, z));
        }

        /** The value of what is minimised. */
        public double objective(double[] z) {
            return NaiveProx.objective(profile(), x, d, stepSize, z);
        }

        /** A fresh source of randomness for what a property needs besides the problem. */
        public SplittableRandom random() {
            return new SplittableRandom(~seed);
        }

        @Override
        public String toString() {
            return "%s, x = %s, d = %s, alpha = %s"
                    .formatted(penalty, Arrays.toString(x), Arrays.toString(d), stepSize);
        }
    }

    /** Checks a property of many problems. */
    public static void check(Kind kind, int count, Consumer<Problem> property) {
        for (long seed : seeds(count)) {
            Problem problem = kind.make(seed);
            try {
                property.accept(problem);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "%s, replay with -Despalier.seed=%d: %s; %s".formatted(kind, seed, e.getMessage(), problem), e);
            }
        }
    }

    /** The seeds of a test: the one asked for, or so many. */
    public static long[] seeds(int count) {
        Long replay = Long.getLong("espalier.seed");
        return replay == null ? LongStream.range(0, count).toArray() : new long[] {replay};
    }

    /** Whether one case is replayed, so that counts over many have no meaning. */
    public static boolean replaying() {
        return Long.getLong("espalier.seed") != null;
    }

    /** Uniform in the exponent. */
    public static double logUniform(SplittableRandom random, double low, double high) {
        return low < high ? Math.exp(random.nextDouble(Math.log(low), Math.log(high))) : low;
    }

    /** So many independent normal numbers. */
    public static double[] normal(SplittableRandom random, int size) {
        return DoubleStream.generate(random::nextGaussian).limit(size).toArray();
    }

    /** A metric log-uniform over some orders of magnitude, about a random level. */
    public static double[] metric(SplittableRandom random, int size, double orders) {
        double level = logUniform(random, 1e-3, 1e3);
        return random.doubles(size)
                .map(fraction -> level * Math.pow(10, orders * (fraction - 0.5)))
                .toArray();
    }

    /** Elementwise product. */
    public static double[] times(double[] left, double[] right) {
        double[] product = new double[left.length];
        Arrays.setAll(product, i -> left[i] * right[i]);
        return product;
    }

    /** {@code ‖left − right‖}. */
    public static double distance(double[] left, double[] right) {
        double[] difference = new double[left.length];
        Arrays.setAll(difference, i -> left[i] - right[i]);
        return Norm.of(difference);
    }

    private static double smallest(double[] values) {
        return Arrays.stream(values).min().orElseThrow();
    }

    private static int size(SplittableRandom random) {
        return (int) logUniform(random, 1, 60);
    }

    private static double[] anyMetric(SplittableRandom random, int size) {
        double[] orders = {0, 1, 3, 7};
        return metric(random, size, orders[random.nextInt(orders.length)]);
    }

    /** Normal numbers; in some problems larger where the metric is small, in some with zeros in between. */
    private static double[] group(SplittableRandom random, double[] d) {
        double[] x = normal(random, d.length);
        int style = random.nextInt(4);
        for (int i = 0; i < x.length; i++) {
            x[i] *= style == 1 ? 1 / Math.sqrt(d[i]) : style == 2 && random.nextInt(3) == 0 ? 0 : 1;
        }
        x[0] = x[0] == 0 ? 1 : x[0];
        return x;
    }

    private static Problem lasso(long seed, SplittableRandom random) {
        double[] d = anyMetric(random, size(random));
        double[] x = group(random, d);
        double stepSize = logUniform(random, 1e-4, 1e1);
        double lambda = Norm.of(times(d, x)) / stepSize * logUniform(random, 1e-6, 1.5);
        return new Problem(seed, new GroupLasso(lambda, GroupWeight.NONE), x, d, stepSize);
    }

    private static Problem convexMcp(long seed, SplittableRandom random) {
        double[] d = anyMetric(random, size(random));
        double beta = logUniform(random, 0.1, 100);
        return mcp(seed, random, d, beta, beta * smallest(d) * random.nextDouble(0.01, 0.99));
    }

    private static Problem mcp(long seed, SplittableRandom random) {
        double[] d = anyMetric(random, size(random));
        double beta = logUniform(random, 0.1, 100);
        return mcp(seed, random, d, beta, beta * logUniform(random, 1.01 * smallest(d), 10 * Norm.largest(d)));
    }

    private static Problem mcp(long seed, SplittableRandom random, double[] d, double beta, double stepSize) {
        double[] x = group(random, d);
        double lambda = betweenKneeAndThreshold(random, Norm.of(x) / beta, Norm.of(times(d, x)) / stepSize);
        return new Problem(seed, new GroupMcp(lambda, beta, GroupWeight.NONE), x, d, stepSize);
    }

    private static Problem scad(long seed, SplittableRandom random) {
        double[] d = anyMetric(random, size(random));
        double[] x = group(random, d);
        double beta = logUniform(random, 0.1, 100);
        double flat = random.nextInt(3) == 0 ? 1 / (1 + beta) : random.nextDouble(0.95);
        double stepSize = beta * (1 - flat) * logUniform(random, 0.01 * smallest(d), 10 * Norm.largest(d));
        double lambda = betweenKneeAndThreshold(random, Norm.of(x) / beta, Norm.of(times(d, x)) / stepSize);
        return new Problem(seed, new GroupScad(lambda, beta, flat, GroupWeight.NONE), x, d, stepSize);
    }

    private static Problem lassoAndMcp(long seed, SplittableRandom random) {
        Problem mcp = mcp(seed, random);
        if (!(mcp.penalty() instanceof GroupMcp(double lambda, double beta, GroupWeight weight))) {
            throw new AssertionError(mcp.penalty());
        }
        Penalty both = new LassoAndMcp(lambda, beta, random.nextDouble(), weight);
        return new Problem(seed, both, mcp.x(), mcp.d(), mcp.stepSize());
    }

    /**
     * A strength λ about the two at which something changes: {@code x} at the penalty's knee, {@code u} at the threshold.
     */
    private static double betweenKneeAndThreshold(SplittableRandom random, double knee, double threshold) {
        return logUniform(random, 0.3 * Math.min(knee, threshold), 2 * Math.max(knee, threshold));
    }
}
