package dev.espalier.reproduce.convergence;

import dev.espalier.core.check.Check;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Solver;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.Tolerance;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.ToleranceSchedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Algorithm 2 from zero, in double precision and without haste, with everything recorded that the theorem speaks of.
 *
 * @param rule what makes the metric of a gradient; it has no momentum of its own
 * @param stepSize α
 * @param momentum ρ₀ of {@code m_t = (1 − ρ_t) g_t + ρ_t m_{t−1}, ρ_t = ρ₀ μ^t}, as the theorem wants it: it dies out
 * @param momentumDecay μ
 * @param batchSize samples for a gradient; 0 for all of them, without noise
 * @param tolerance how exactly the operator is solved: by bisection, which stops as early as it may, if that is not exact
 */
public record Descent(
        UpdateRule rule,
        double stepSize,
        double momentum,
        double momentumDecay,
        int batchSize,
        ToleranceSchedule tolerance) {

    /** Checks the numbers. */
    public Descent {
        Check.positive("stepSize (alpha)", stepSize);
        Check.fraction("momentum", momentum);
        Check.fraction("momentumDecay", momentumDecay);
        Check.atLeast("batchSize", batchSize, 0);
        if (rule.hasFirstMoment()) {
            throw new IllegalArgumentException(
                    "rule = " + rule + " has a momentum of its own: the theorem's dies out, set momentum instead");
        }
    }

    /**
     * Without noise, without momentum, exact.
     *
     * @param rule what makes the metric of a gradient
     * @param stepSize α
     */
    public Descent(UpdateRule rule, double stepSize) {
        this(rule, stepSize, 0, 0, 0, ToleranceSchedule.EXACT);
    }

    /**
     * The same with noise.
     *
     * @param samples samples for a gradient
     * @return the descent
     */
    public Descent withBatchSize(int samples) {
        return new Descent(rule, stepSize, momentum, momentumDecay, samples, tolerance);
    }

    /**
     * The same with momentum.
     *
     * @param initial ρ₀
     * @param decay μ
     * @return the descent
     */
    public Descent withMomentum(double initial, double decay) {
        return new Descent(rule, stepSize, initial, decay, batchSize, tolerance);
    }

    /**
     * The same with another tolerance.
     *
     * @param other how exactly the operator is solved
     * @return the descent
     */
    public Descent withTolerance(ToleranceSchedule other) {
        return new Descent(rule, stepSize, momentum, momentumDecay, batchSize, other);
    }

    /**
     * Goes down.
     *
     * @param problem f
     * @param penalty h of a group
     * @param steps T
     * @param seed what the batches depend on
     * @return what was met
     */
    public Trace run(Problem problem, Penalty penalty, int steps, long seed) {
        return run(problem, penalty, steps, seed, _ -> {});
    }

    /**
     * Goes down, and shows every iterate.
     *
     * @param problem f
     * @param penalty h of a group
     * @param steps T
     * @param seed what the batches depend on
     * @param visitor given x₁ … x_T, each before the next step overwrites it
     * @return what was met
     */
    public Trace run(Problem problem, Penalty penalty, int steps, long seed, Consumer<double[]> visitor) {
        Walk walk = new Walk(problem, penalty, new SplittableRandom(seed));
        for (int t = 0; t < steps; t++) {
            walk.step(t);
            visitor.accept(walk.x);
        }
        return walk.trace();
    }

    /**
     * The theorem with the constants that a descent has met.
     *
     * @param problem f
     * @param trace what was met
     * @return the theorem
     */
    public Theorem theorem(Problem problem, Trace trace) {
        return new Theorem(
                problem.smoothness(),
                trace.penaltySmoothness(),
                trace.metricBound(),
                trace.stepBound(),
                stepSize,
                momentum,
                momentumDecay,
                trace.gradientBound(),
                trace.moveBound(),
                trace.squaredErrors());
    }

    private final class Walk {
        private final Problem problem;
        private final Penalty penalty;
        private final RandomGenerator random;
        private final double[] x;
        private final double[] first;
        private final double[] second;
        private final double[] metric;
        private double[] exactGradient;
        private final List<Trace.Step> steps = new ArrayList<>();

        private double smallestMetric = Double.POSITIVE_INFINITY;
        private double largestMetric;
        private double longestGradient;
        private double longestMove;
        private double largestCurvature;
        private double largestVariance;

        Walk(Problem problem, Penalty penalty, RandomGenerator random) {
            this.problem = problem;
            this.penalty = penalty;
            this.random = random;
            x = new double[problem.dimension()];
            first = new double[x.length];
            second = new double[x.length];
            metric = new double[x.length];
            exactGradient = problem.gradient(x);
        }

        void step(int t) {
            if (batchSize > 0) {
                largestVariance = Math.max(largestVariance, problem.variance(x));
            }
            double[] gradient = batchSize == 0 ? exactGradient : problem.estimate(x, batchSize, random);
            double noise = squaredDifference(gradient, exactGradient);
            longestGradient = Math.max(longestGradient, Norm.of(gradient));
            moments(gradient, t);
            double error = move(t);
            exactGradient = problem.gradient(x);
            steps.add(new Trace.Step(problem.squaredDistance(penalty, x, exactGradient), noise, error));
        }

        private void moments(double[] gradient, int t) {
            Coefficients numbers = rule.at(t + 1L);
            double share = t == 0 ? 0 : momentum * Math.pow(momentumDecay, t);
            for (int i = 0; i < x.length; i++) {
                first[i] = (1 - share) * gradient[i] + share * first[i];
                second[i] = numbers.keepSecond() * second[i] + numbers.addSecond() * gradient[i] * gradient[i];
                metric[i] =
                        Math.sqrt(numbers.scaleSecond() * second[i] + numbers.innerEpsilon()) + numbers.outerEpsilon();
                smallestMetric = Math.min(smallestMetric, metric[i]);
                largestMetric = Math.max(largestMetric, metric[i]);
            }
        }

        /** Moves x; returns the squared error of the operator. */
        private double move(int t) {
            WeightedProx prox = operator(t);
            double squaredError = 0;
            double squaredMove = 0;
            for (int group = 0; group < problem.groups(); group++) {
                double[] d = problem.group(group, metric);
                double[] before = problem.group(group, x);
                double[] candidate = new double[d.length];
                for (int i = 0; i < d.length; i++) {
                    candidate[i] = before[i] - stepSize * first[group * d.length + i] / d[i];
                }
                Profile profile = penalty.profileOfSize(d.length);
                double[] exact = new double[d.length];
                WeightedProx.EXACT.apply(profile, candidate, d, stepSize, exact);
                double[] reached = exact;
                if (!prox.equals(WeightedProx.EXACT)) {
                    reached = new double[d.length];
                    prox.apply(profile, candidate, d, stepSize, reached);
                    squaredError += inexact(profile, exact, reached);
                }
                squaredMove += squaredDifference(exact, before);
                System.arraycopy(reached, 0, x, group * d.length, d.length);
            }
            longestMove = Math.max(longestMove, Math.sqrt(squaredMove));
            return squaredError;
        }

        private WeightedProx operator(int t) {
            return tolerance.equals(ToleranceSchedule.EXACT)
                    ? WeightedProx.EXACT
                    : new WeightedProx(new Solver.ByRoot(
                            new Bisection(), new Tolerance(tolerance.at(t), Tolerance.EXACT.maxIterations())));
        }

        /** The squared error in a group, and the curvature of h that it meets: radially the bend, tangentially h'(r)/r. */
        private double inexact(Profile profile, double[] exact, double[] reached) {
            double squared = squaredDifference(exact, reached);
            if (squared > 0) {
                double closest = Norm.of(exact) - Math.sqrt(squared);
                double bend = profile.pieces().stream()
                        .mapToDouble(piece -> Math.abs(piece.bend()))
                        .max()
                        .orElseThrow();
                double tangential = closest <= 0 ? Double.POSITIVE_INFINITY : profile.slope(closest) / closest;
                largestCurvature = Math.max(largestCurvature, Math.max(bend, tangential));
            }
            return squared;
        }

        Trace trace() {
            return new Trace(
                    steps,
                    smallestMetric,
                    stepSize / largestMetric,
                    longestGradient,
                    longestMove,
                    largestCurvature,
                    largestVariance,
                    (int) IntStream.range(0, problem.groups())
                            .filter(group ->
                                    Arrays.stream(problem.group(group, x)).anyMatch(weight -> weight != 0))
                            .count());
        }
    }

    private static double squaredDifference(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - b[i]) * (a[i] - b[i]);
        }
        return sum;
    }
}
