package dev.espalier.reproduce;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.NaiveProx;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Observations.Plan;
import dev.espalier.reproduce.ObservedTraining.Seen;
import dev.espalier.train.run.StepView;
import dev.espalier.train.run.StepView.GroupProblem;
import dev.espalier.train.run.StepView.PenalisedSet;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Beyond the paper: its Theorem 2 assumes {@code α < β d_min}. How often does that fail while a network is trained with group
 * MCP, and what does the exact operator do then that the theorem's rule does not?
 *
 * <p>The rule keeps every x beyond the knee, {@code ‖x‖ > βλ}. Below it, zero or the one root of the equation is the minimiser
 * with and without the assumption, so only groups beyond the knee can differ.
 */
final class McpExactness implements Item {
    static final String FAILS = "groups where α < β d_min fails";
    static final String WEIGHTS_FAIL = "weights with d ≤ α/β";
    static final String BEYOND = "groups beyond the knee";
    static final String OPEN = "groups where both hold";
    static final String ZEROED = "groups that the rule keeps, but zero is better";
    static final String SHRUNK = "groups that the rule keeps, but shrinking is better";

    /**
     * What the operator and the rule made of a step.
     *
     * @param step which step
     * @param groups number of groups
     * @param weights number of weights in them
     * @param failing groups with {@code α ≥ β d_min}
     * @param weightsFailing weights with {@code α ≥ β d}
     * @param beyond groups with {@code ‖x‖ > βλ}
     * @param open groups with both
     * @param zeroed groups that are zeroed, and that the rule keeps
     * @param shrunk groups that are shrunk, and that the rule keeps
     * @param distance over those groups, the sum of {@code ‖z − x‖/‖x‖}
     * @param gain over those groups, the sum of the objective's relative decrease
     */
    record Differences(
            long step,
            long groups,
            long weights,
            long failing,
            long weightsFailing,
            long beyond,
            long open,
            long zeroed,
            long shrunk,
            double distance,
            double gain)
            implements ObservedTraining.Sample {

        static Differences none(long step) {
            return new Differences(step, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }

        Differences plus(Differences other) {
            return new Differences(
                    step,
                    groups + other.groups,
                    weights + other.weights,
                    failing + other.failing,
                    weightsFailing + other.weightsFailing,
                    beyond + other.beyond,
                    open + other.open,
                    zeroed + other.zeroed,
                    shrunk + other.shrunk,
                    distance + other.distance,
                    gain + other.gain);
        }

        double share(long count) {
            return (double) count / groups;
        }

        /** The mean over groups that differ; NaN if none does. */
        double perDifference(double sum) {
            long differing = zeroed + shrunk;
            return differing == 0 ? Double.NaN : sum / differing;
        }
    }

    @Override
    public String name() {
        return "mcp-exactness";
    }

    @Override
    public String title() {
        return "How often the assumption behind the group MCP operator fails, and what the exact operator changes";
    }

    @Override
    public String place() {
        return "Beyond the paper: Theorem 2 without its assumption";
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
        Plan plan = Observations.plan(this, setting, "observed-digits-mcp", "vgg16-cifar10-mcp-proximal");
        return new ObservedTraining<>(
                        plan.recipe(),
                        Observations.every(setting.scale()),
                        Differences.class,
                        McpExactness::differences)
                .run(setting, plan.folder())
                .map(seen -> findings(
                        seen,
                        Observations.notes(
                                plan,
                                "The training is that of the exact operator. All groups are looked at before %s."
                                        .formatted(Observations.often(setting.scale())))));
    }

    // --- What is seen of a step

    static Differences differences(StepView view) {
        Differences sum = Differences.none(view.step());
        for (PenalisedSet set : view.penalised()) {
            if (set.regularizer().penalty() instanceof GroupMcp mcp) {
                sum = sum.plus(IntStream.range(0, set.regularizer().groups().count())
                        .parallel()
                        .mapToObj(group ->
                                differences(view.step(), mcp, set.problem().apply(group)))
                        .reduce(Differences.none(view.step()), Differences::plus));
            }
        }
        return sum;
    }

    static Differences differences(long step, GroupMcp mcp, GroupProblem problem) {
        double[] x = problem.candidate();
        double[] d = problem.d();
        double smallest = problem.stepSize() / mcp.beta();
        long weightsFailing =
                Arrays.stream(d).filter(entry -> entry <= smallest).count();
        boolean failing = weightsFailing > 0;
        double norm = Norm.of(x);
        boolean beyond = norm > mcp.beta() * mcp.strength(x.length);
        Differences seen = new Differences(
                step,
                1,
                x.length,
                failing ? 1 : 0,
                weightsFailing,
                beyond ? 1 : 0,
                failing && beyond ? 1 : 0,
                0,
                0,
                0,
                0);
        return failing && beyond
                ? seen.plus(difference(step, mcp.profileOfSize(x.length), x, d, problem.stepSize()))
                : seen;
    }

    /** Beyond the knee the rule keeps x: what does the exact operator do? */
    private static Differences difference(long step, Profile profile, double[] x, double[] d, double stepSize) {
        double[] z = new double[x.length];
        Outcome outcome = WeightedProx.EXACT.apply(profile, x, d, stepSize, z);
        double[] move = new double[x.length];
        Arrays.setAll(move, i -> z[i] - x[i]);
        double distance = Norm.of(move) / Norm.of(x);
        double gain =
                1 - NaiveProx.objective(profile, x, d, stepSize, z) / NaiveProx.objective(profile, x, d, stepSize, x);
        return switch (outcome.branch()) {
            case ZEROED -> new Differences(step, 0, 0, 0, 0, 0, 0, 1, 0, distance, gain);
            case SHRUNK -> new Differences(step, 0, 0, 0, 0, 0, 0, 0, 1, distance, gain);
            case UNTOUCHED -> Differences.none(step);
        };
    }

    // --- What is made of it

    static Findings findings(Seen<Differences> seen, List<String> notes) {
        List<Differences> samples = seen.samples();
        List<Row> shares = List.of(
                share(FAILS, samples, Differences::failing),
                Tenths.row(WEIGHTS_FAIL, samples, Double.NaN, step -> (double) step.weightsFailing() / step.weights()),
                share(BEYOND, samples, Differences::beyond),
                share(OPEN, samples, Differences::open),
                share(ZEROED, samples, Differences::zeroed),
                share(SHRUNK, samples, Differences::shrunk));
        List<Row> sizes = List.of(
                Tenths.row("‖z − x‖/‖x‖", samples, Double.NaN, step -> step.perDifference(step.distance())),
                Tenths.row(
                        "relative decrease of the objective",
                        samples,
                        Double.NaN,
                        step -> step.perDifference(step.gain())));
        return new Findings(
                seen.kernel(),
                List.of(
                        new Comparison("How often", "", "share of", Tenths.columns(Unit.SHARE), shares),
                        new Comparison(
                                "How much, for groups where operator and rule differ",
                                "z is the exact operator's result, x the rule's.",
                                "mean",
                                Tenths.columns(Unit.NUMBER),
                                sizes)),
                List.of(figure(samples), jump()),
                notes);
    }

    private static Row share(String name, List<Differences> samples, ToDoubleFunction<Differences> count) {
        return Tenths.row(name, samples, Double.NaN, step -> step.share((long) count.applyAsDouble(step)));
    }

    private static Figure figure(List<Differences> samples) {
        return new Figure.Plot(
                "The assumption over training",
                "Where it fails and a group lies beyond the knee, the theorem says nothing.",
                Axis.linear("step"),
                Axis.share("share of groups"),
                List.of(
                        Observations.curve(FAILS, samples, step -> step.share(step.failing())),
                        Observations.curve(BEYOND, samples, step -> step.share(step.beyond())),
                        Observations.curve(OPEN, samples, step -> step.share(step.open())),
                        Observations.curve(
                                "of these, not kept", samples, step -> step.share(step.zeroed() + step.shrunk()))));
    }

    /** A group of two for which the assumption fails, drawn: the rule keeps what the operator still holds at zero. */
    private static Figure jump() {
        Profile profile = new GroupMcp(1, 1.5).profile(1);
        double[] d = {0.05, 0.4};
        List<Point> exact = IntStream.rangeClosed(0, 400)
                .mapToObj(i -> {
                    double r = i / 80.0;
                    double[] z = new double[2];
                    WeightedProx.EXACT.apply(profile, new double[] {r * 0.8, r * 0.6}, d, 1, z);
                    return new Point(r, Norm.of(z));
                })
                .toList();
        List<Point> rule = exact.stream()
                .map(point -> point.x() > 1.5 ? new Point(point.x(), point.x()) : point)
                .toList();
        return new Figure.Plot(
                "A group of two with D = diag(0.05, 0.4), α = 1, λ = 1, β = 1.5",
                "Here α > β d_min. The rule keeps x from the knee 1.5 on; the minimiser stays zero far beyond.",
                Axis.linear("‖x‖"),
                Axis.linear("‖prox(x)‖"),
                List.of(new Curve("exact", exact), new Curve("rule", Figure.Stroke.DASHED, rule)));
    }
}
