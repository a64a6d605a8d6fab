package dev.espalier.reproduce;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import dev.espalier.reproduce.convergence.Descent;
import dev.espalier.reproduce.convergence.Problem;
import dev.espalier.reproduce.convergence.Problem.Loss;
import dev.espalier.reproduce.convergence.Theorem;
import dev.espalier.reproduce.convergence.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Theorem 3 and its corollary on problems whose constants are known: the mean of {@code dist(0, ∂F)²} falls like 1/T without
 * noise, levels off with it, and stays below the bound.
 */
final class Convergence implements Item {
    /** What λ is, as a share of the one from which on zero is the solution. */
    private static final double SHARE_OF_LARGEST_LAMBDA = 0.3;

    private static final double BETA = 4;

    /** The problem of every part but the one with noise, which goes through all seeds. */
    static final long FIRST = 1;

    /** ε of RMSprop: it bounds D from below, by 0.1. */
    static final double EPSILON = 1e-2;

    /** Gradient steps in the Euclidean metric, α = δ/4L: half of what the theorem allows. */
    static final Descent PLAIN = new Descent(new UpdateRule.Sgd(), 0.25);

    /** Steps in a metric that follows the gradients. */
    static final Descent ADAPTIVE = new Descent(new UpdateRule.RmsProp(0.99, EPSILON), 0.25 * Math.sqrt(EPSILON));

    /**
     * How much is done.
     *
     * @param size of the problems
     * @param steps T without noise
     * @param noisySteps T with noise
     * @param inexactSize of the problems with an inexact operator
     * @param inexactSteps T with an inexact operator: it takes long until the mean shows that it levels off
     * @param promises ε² of the corollary, as shares of the squared distance at the start
     */
    record Effort(
            Problem.Size size,
            int steps,
            int noisySteps,
            Problem.Size inexactSize,
            int inexactSteps,
            List<Double> promises) {
        static Effort of(Scale scale) {
            return switch (scale) {
                case SMALL ->
                    new Effort(
                            new Problem.Size(200, 6, 2, 10),
                            4_000,
                            2_000,
                            new Problem.Size(200, 8, 3, 30),
                            20_000,
                            List.of(0.8));
                case FULL ->
                    new Effort(
                            new Problem.Size(2_000, 20, 5, 30),
                            100_000,
                            10_000,
                            new Problem.Size(2_000, 20, 5, 30),
                            200_000,
                            List.of(0.8, 0.4));
            };
        }
    }

    /**
     * A composite problem.
     *
     * @param name for people
     * @param problem f
     * @param penalty h of a group
     */
    record Case(String name, Problem problem, Penalty penalty) {
        /** Δ: F is nowhere below zero, and descents begin at zero, where the penalty is. */
        double gap() {
            return problem.value(new double[problem.dimension()]);
        }

        double squaredDistanceAtStart() {
            double[] start = new double[problem.dimension()];
            return problem.squaredDistance(penalty, start, problem.gradient(start));
        }
    }

    /** A table with its figures. */
    record Part(Comparison table, List<Figure> figures) {}

    static List<Case> cases(Problem.Size size, long seed) {
        List<Case> cases = new ArrayList<>();
        for (Loss loss : Loss.values()) {
            Problem problem = new Problem(loss, size, seed);
            double lambda = SHARE_OF_LARGEST_LAMBDA * problem.largestLambda();
            String name = switch (loss) {
                case LEAST_SQUARES -> "least squares";
                case LOGISTIC -> "logistic";
            };
            cases.add(new Case(name + ", ℓ1/ℓ2", problem, new GroupLasso(lambda)));
            cases.add(new Case(name + ", group MCP", problem, new GroupMcp(lambda, BETA)));
        }
        return List.copyOf(cases);
    }

    @Override
    public String name() {
        return "convergence";
    }

    @Override
    public String title() {
        return "The convergence theorem: rate, noise, inexactness, bound";
    }

    @Override
    public String place() {
        return "Theorem 3, Corollary 1, Algorithm 2";
    }

    @Override
    public boolean trains() {
        return false;
    }

    @Override
    public Optional<Findings> run(Setting setting) {
        Effort effort = Effort.of(setting.scale());
        List<Comparison> tables = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        List<BiFunction<Effort, Setting, Part>> parts = List.of(
                WithoutNoise::part, WithNoise::part, WithErrors::part, WithPromise::part, WithDrawnOutput::part);
        for (BiFunction<Effort, Setting, Part> part : parts) {
            if (setting.run().stop().getAsBoolean()) {
                return Optional.empty();
            }
            Part done = part.apply(effort, setting);
            tables.add(done.table());
            figures.addAll(done.figures());
            setting.note(done.table().title() + ": done");
        }
        return Optional.of(new Findings(
                "Algorithm 2 in double precision; rows marked fused: the optimizer that trains networks, float32",
                tables,
                figures,
                List.of(
                        "L = 1 by construction. α = δ/4L, half of what the theorem allows. Descents begin at zero; Δ is"
                                + " F there, since F is never below zero.",
                        "The constants are those of the paper's proof, with a factor of 3 put back that it drops in two"
                                + " terms of C₃ (docs/math/convergence.md). The proof bounds every single run by the noise"
                                + " that it met, so the bound is compared run by run.")));
    }

    /** The mean of a trace over T. */
    static Curve means(String name, Trace trace) {
        return new Curve(
                name,
                trace.means().stream()
                        .map(mean -> new Point(mean.steps(), mean.distance()))
                        .toList());
    }

    /** Its bound. */
    static Curve bound(String name, Trace trace, Theorem theorem, double gap) {
        return new Curve(
                name + ", bound",
                Figure.Stroke.DASHED,
                trace.means().stream()
                        .map(mean -> new Point(mean.steps(), theorem.bound(mean.steps(), mean.noise(), gap)))
                        .toList());
    }

    /** How much of the bound a run uses up, at most, whenever it is stopped. */
    static double shareOfBound(Trace trace, Theorem theorem, double gap) {
        return trace.means().stream()
                .mapToDouble(mean -> mean.distance() / theorem.bound(mean.steps(), mean.noise(), gap))
                .max()
                .orElseThrow();
    }
}
