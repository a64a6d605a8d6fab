package dev.espalier.reproduce;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Solver;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.NewtonRaphson;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.root.RootFinder;
import dev.espalier.core.root.SecularEquation;
import dev.espalier.core.root.Tolerance;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Observations.Plan;
import dev.espalier.reproduce.ObservedTraining.Seen;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.run.StepView;
import dev.espalier.train.run.StepView.GroupProblem;
import dev.espalier.train.run.StepView.PenalisedSet;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The paper's Figure 3: how many iterations a group takes, by Newton's method, bisection and AdaProx, while a network is trained
 * with the ℓ1/ℓ2 penalty. All of them solve the same problem before each step; the optimizer applies its own solution.
 */
final class Iterations implements Item {
    static final String NEWTON = "Newton";
    static final String BISECTION = "bisection";
    static final String ADAPROX = "AdaProx";
    static final String COLD = "ours, cold";
    static final String WARM = "ours, warm";
    static final String OPTIMIZER = "ours, in the optimizer";

    /** The paper's ε, and its limit for AdaProx. */
    private static final Tolerance TOLERANCE = new Tolerance(1e-6, 100);

    private static final WeightedProx OURS = new WeightedProx(new Solver.ByRoot(new ReciprocalNewton(), TOLERANCE));
    private static final WeightedProx BY_DESCENT = new WeightedProx(new Solver.AdaProx(TOLERANCE));

    /** The text of section 6.4 and the caption of its figure. */
    private static final double PAPER_NEWTON_AT_THE_END = 1.65;

    private static final double PAPER_BISECTION_BY_NEWTON = 3;

    /**
     * What a step costs.
     *
     * @param step which step
     * @param groups number of groups
     * @param nonZero groups that the step does not set to zero: those with something to solve
     * @param newton iterations of Newton's method, over all groups
     * @param bisection of bisection
     * @param adaProx of AdaProx
     * @param atLimit groups for which AdaProx reached its limit
     * @param cold of our solver
     * @param warm of our solver that starts from the norm before the step
     */
    record Costs(
            long step,
            long groups,
            long nonZero,
            long newton,
            long bisection,
            long adaProx,
            long atLimit,
            long cold,
            long warm)
            implements ObservedTraining.Sample {

        static Costs none(long step) {
            return new Costs(step, 0, 0, 0, 0, 0, 0, 0, 0);
        }

        Costs plus(Costs other) {
            return new Costs(
                    step,
                    groups + other.groups,
                    nonZero + other.nonZero,
                    newton + other.newton,
                    bisection + other.bisection,
                    adaProx + other.adaProx,
                    atLimit + other.atLimit,
                    cold + other.cold,
                    warm + other.warm);
        }

        double perGroup(long iterations) {
            return (double) iterations / groups;
        }
    }

    @Override
    public String name() {
        return "iterations";
    }

    @Override
    public String title() {
        return "Iterations per group while training: Newton, bisection, AdaProx, and ours";
    }

    @Override
    public String place() {
        return "Figure 3, section 6.4";
    }

    @Override
    public boolean trains() {
        return true;
    }

    @Override
    public void require(Setting setting) {
        Observations.require(this, setting);
    }

    @Override
    public Optional<Findings> run(Setting setting) throws IOException {
        Plan plan = Observations.plan(this, setting, "observed-digits-lasso", "vgg16-cifar10-lasso-proximal");
        int every = Observations.every(setting.scale());
        int share = share(setting.scale());
        return new ObservedTraining<>(
                        plan.recipe(), every, Costs.class, view -> costs(view, share, view.step() / every))
                .run(setting, plan.folder())
                .map(seen -> findings(seen, setting.scale(), plan));
    }

    /** AdaProx alone passes a hundred times over groups that are not zero: of VGG-16, every eighth has to do, each time others. */
    private static int share(Scale scale) {
        return switch (scale) {
            case SMALL -> 1;
            case FULL -> 8;
        };
    }

    // --- What is seen of a step

    /**
     * What a step costs, of one group in {@code share}.
     *
     * @param look which of the looks it is: each sees other groups
     */
    static Costs costs(StepView view, int share, long look) {
        Costs sum = Costs.none(view.step());
        for (PenalisedSet set : view.penalised()) {
            sum = sum.plus(IntStream.range(0, set.regularizer().groups().count())
                    .filter(group -> (group + look) % share == 0)
                    .parallel()
                    .mapToObj(group -> costs(
                            view.step(),
                            set.regularizer()
                                    .penalty()
                                    .profileOfSize(set.regularizer().groups().size(group)),
                            set.problem().apply(group)))
                    .reduce(Costs.none(view.step()), Costs::plus));
        }
        return sum;
    }

    static Costs costs(long step, Profile profile, GroupProblem problem) {
        double[] x = problem.candidate();
        double[] z = new double[x.length];
        Outcome cold = OURS.apply(profile, x, problem.d(), problem.stepSize(), z);
        Outcome warm = OURS.apply(profile, x, problem.d(), problem.stepSize(), Norm.of(problem.before()), z);
        Outcome descent = BY_DESCENT.apply(profile, x, problem.d(), problem.stepSize(), z);
        return new Costs(
                step,
                1,
                cold.branch() == Branch.ZEROED ? 0 : 1,
                solve(new NewtonRaphson(), profile, problem),
                solve(new Bisection(), profile, problem),
                descent.iterations(),
                descent.converged() ? 0 : 1,
                cold.iterations(),
                warm.iterations());
    }

    /** Solves the equation of Theorem 1 as the paper does: between its bounds on θ. */
    private static int solve(RootFinder finder, Profile profile, GroupProblem problem) {
        double threshold = problem.stepSize() * profile.slope(0);
        SecularEquation equation = new SecularEquation(problem.u(), problem.d(), 0, threshold);
        if (!equation.startsAboveOne()) {
            return 0;
        }
        double lower = (Norm.of(problem.u()) - threshold) / Norm.largest(problem.d());
        return finder.find(equation, lower, equation.upperBound(), Double.NaN, TOLERANCE)
                .iterations();
    }

    // --- What is made of it

    private static Findings findings(Seen<Costs> seen, Scale scale, Plan plan) {
        List<Costs> samples = seen.samples();
        return new Findings(
                seen.kernel(),
                List.of(perGroup(seen), ratios(samples)),
                List.of(figure(seen), perSolved(samples)),
                Observations.notes(
                        plan,
                        "Before %s all solvers are given the same problems of %s, to a relative error of 1e-6 in θ; AdaProx ends"
                                        .formatted(
                                                Observations.often(scale),
                                                share(scale) == 1
                                                        ? "all groups"
                                                        : "every " + share(scale) + "th group, each time of others")
                                + " after at most 100 iterations. The paper stops at |G(θ)| ≤ 1e-6 instead.",
                        "An iteration is one pass over the group. Zero groups count as groups with no iteration, as in the paper."
                                + " Newton and bisection start from the paper's bounds. \"In the optimizer\" is what training itself"
                                + " spent, in float32."));
    }

    private static Comparison perGroup(Seen<Costs> seen) {
        List<Costs> samples = seen.samples();
        return new Comparison(
                "Iterations per group",
                "",
                "solver",
                Tenths.columns(Unit.NUMBER),
                List.of(
                        row(NEWTON, samples, PAPER_NEWTON_AT_THE_END, Costs::newton),
                        row(BISECTION, samples, Double.NaN, Costs::bisection),
                        row(ADAPROX, samples, Double.NaN, Costs::adaProx),
                        row(COLD, samples, Double.NaN, Costs::cold),
                        row(WARM, samples, Double.NaN, Costs::warm),
                        Tenths.row(OPTIMIZER, seen.metrics(), Double.NaN, Metrics::iterationsPerGroup)));
    }

    private static Row row(String name, List<Costs> samples, double paper, ToDoubleFunction<Costs> iterations) {
        return Tenths.row(name, samples, paper, costs -> costs.perGroup((long) iterations.applyAsDouble(costs)));
    }

    private static Comparison ratios(List<Costs> samples) {
        double newton = sum(samples, Costs::newton);
        return new Comparison(
                "Sums over all steps",
                "",
                "",
                List.of(new Column("value", Unit.NUMBER)),
                List.of(
                        Row.of(
                                "iterations of bisection, by those of Newton",
                                new Cell(
                                        Quote.number(PAPER_BISECTION_BY_NEWTON),
                                        Quote.number(sum(samples, Costs::bisection) / newton))),
                        Row.of(
                                "iterations of AdaProx, by those of Newton",
                                Cell.ours(sum(samples, Costs::adaProx) / newton)),
                        Row.of(
                                "iterations of ours, warm, by those of Newton",
                                Cell.ours(sum(samples, Costs::warm) / newton)),
                        Row.of(
                                "share of groups for which AdaProx reaches its limit",
                                Cell.ours(sum(samples, Costs::atLimit) / sum(samples, Costs::groups))),
                        Row.of(
                                "share of groups that are not zero, at the end",
                                Cell.ours(samples.getLast()
                                        .perGroup(samples.getLast().nonZero())))));
    }

    private static double sum(List<Costs> samples, ToDoubleFunction<Costs> value) {
        return samples.stream().mapToDouble(value).sum();
    }

    private static Figure figure(Seen<Costs> seen) {
        return new Figure.Plot(
                "Iterations per group",
                "The more groups are zero, the less there is to solve; AdaProx iterates all the same.",
                Axis.linear("step"),
                Axis.logarithmic("iterations per group"),
                List.of(
                        Observations.curve(NEWTON, seen.samples(), costs -> costs.perGroup(costs.newton())),
                        Observations.curve(BISECTION, seen.samples(), costs -> costs.perGroup(costs.bisection())),
                        Observations.curve(ADAPROX, seen.samples(), costs -> costs.perGroup(costs.adaProx())),
                        Observations.curve(COLD, seen.samples(), costs -> costs.perGroup(costs.cold())),
                        Observations.curve(WARM, seen.samples(), costs -> costs.perGroup(costs.warm()))));
    }

    private static Figure perSolved(List<Costs> samples) {
        return new Figure.Plot(
                "Iterations per group that is not zero",
                "",
                Axis.linear("step"),
                Axis.linear("iterations per group with something to solve"),
                List.of(
                        Observations.curve(NEWTON, samples, costs -> (double) costs.newton() / costs.nonZero()),
                        Observations.curve(COLD, samples, costs -> (double) costs.cold() / costs.nonZero()),
                        Observations.curve(WARM, samples, costs -> (double) costs.warm() / costs.nonZero())));
    }
}
