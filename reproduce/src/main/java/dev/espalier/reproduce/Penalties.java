package dev.espalier.reproduce;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.NaiveProx;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/**
 * The right third of the paper's Figure 1: the two penalties, drawn. Beside them the proximal operators that the paper
 * derives, unweighted (where they have a closed form) and weighted (where they do not).
 */
final class Penalties implements Item {
    /** The parameters of the paper's figure. */
    private static final double LAMBDA = 1;

    private static final double BETA = 1.5;
    private static final double STEP_SIZE = 1;

    /** A metric that the paper's assumption α < β d_min allows. */
    private static final double[] METRIC = {1, 4};

    private static final double[] SPHERE = {1, 1};

    /** The direction along which groups of two are drawn. */
    private static final double[] DIRECTION = {Math.sqrt(0.5), Math.sqrt(0.5)};

    private static final double DRAWN_TO = 3;
    private static final int SAMPLES = 200;

    private static final Profile NORM = new GroupLasso(LAMBDA).profile(LAMBDA);
    private static final Profile MCP = new GroupMcp(LAMBDA, BETA).profile(LAMBDA);

    @Override
    public String name() {
        return "penalties";
    }

    @Override
    public String title() {
        return "The two penalties and their proximal maps, unweighted and weighted";
    }

    @Override
    public String place() {
        return "Figure 1 (right), Theorems 1 and 2";
    }

    @Override
    public boolean trains() {
        return false;
    }

    @Override
    public Optional<Findings> run(Setting setting) {
        return Optional.of(new Findings(
                "the weighted proximal operator, in double precision",
                List.of(values(), closedForms(), implicitForms()),
                List.of(penalties(), unweighted(), weighted(), paths()),
                List.of(
                        "λ = 1 and β = 1.5 as in the paper's figure, α = 1. The paper's numbers are its printed formulas,"
                                + " evaluated; ours come from the code that trains.")));
    }

    // --- Tables

    /** The formulas of sections 3.1 and 3.2, as printed. */
    private static double printedMcp(double x) {
        return Math.abs(x) <= BETA * LAMBDA ? LAMBDA * Math.abs(x) - x * x / (2 * BETA) : BETA * LAMBDA * LAMBDA / 2;
    }

    private static Comparison values() {
        List<Row> rows = IntStream.rangeClosed(1, 5)
                .mapToDouble(i -> i / 2.0)
                .mapToObj(x -> Row.of(
                        number(x),
                        new Cell(Quote.number(LAMBDA * x), Quote.number(NORM.value(x))),
                        new Cell(Quote.number(printedMcp(x)), Quote.number(MCP.value(x)))))
                .toList();
        return new Comparison(
                "Values",
                "The MCP is constant from βλ = 1.5 on.",
                "|x|",
                List.of(new Column("λ|x|", Unit.NUMBER), new Column("MCP", Unit.NUMBER)),
                rows);
    }

    /** Section 3.3: soft thresholding, and the firm thresholding of Breheny and Huang. */
    private static Comparison closedForms() {
        List<Row> rows = IntStream.rangeClosed(1, 5)
                .mapToDouble(i -> i / 2.0)
                .mapToObj(r -> Row.of(
                        number(r),
                        new Cell(
                                Quote.number(Math.max(0, 1 - STEP_SIZE * LAMBDA / r) * r),
                                Quote.number(shrunkNorm(NORM, SPHERE, r))),
                        new Cell(Quote.number(firm(r)), Quote.number(shrunkNorm(MCP, SPHERE, r)))))
                .toList();
        return new Comparison(
                "Proximal maps in the Euclidean metric",
                "The norm of prox(x) by the norm of x.",
                "‖x‖",
                List.of(new Column("ℓ1/ℓ2", Unit.NUMBER), new Column("group MCP", Unit.NUMBER)),
                rows);
    }

    private static double firm(double r) {
        return r > BETA * LAMBDA ? r : Math.max(0, r - STEP_SIZE * LAMBDA) / (1 - STEP_SIZE / BETA);
    }

    /** Theorems 1 and 2: the left-hand side of the equation for θ*, which must be 1, and the twin that knows no theorem. */
    private static Comparison implicitForms() {
        List<Row> rows = new ArrayList<>();
        for (double r : new double[] {0.25, 0.5, 1, 1.25, 2}) {
            rows.add(implicit("ℓ1/ℓ2", NORM, Double.POSITIVE_INFINITY, r));
            rows.add(implicit("group MCP", MCP, BETA, r));
        }
        return new Comparison(
                "Proximal maps in the metric D = diag(1, 4)",
                "x lies in the direction (1, 1). Where the operator shrinks, the equation of Theorems 1 and 2 must give 1."
                        + " The twin finds the minimiser by brute force.",
                "penalty, ‖x‖",
                List.of(
                        new Column("‖prox(x)‖", Unit.NUMBER),
                        new Column("equation", Unit.NUMBER),
                        new Column("distance to the twin", Unit.NUMBER)),
                rows);
    }

    private static Row implicit(String name, Profile profile, double beta, double r) {
        double[] z = new double[2];
        double[] x = point(r);
        Outcome outcome = WeightedProx.EXACT.apply(profile, x, METRIC, STEP_SIZE, z);
        boolean solved = outcome.branch() == Branch.SHRUNK;
        Spread equation = solved ? Quote.number(equation(x, beta, outcome.theta())) : Quote.NONE;
        double[] twin = NaiveProx.apply(profile, x, METRIC, STEP_SIZE);
        return Row.of(
                name + ", " + number(r),
                Cell.ours(Norm.of(z)),
                new Cell(solved ? Quote.number(1) : Quote.NONE, equation),
                Cell.ours(Math.hypot(z[0] - twin[0], z[1] - twin[1])));
    }

    /** {@code Σ [d x / ((d − α/β)θ + αλ)]²}: Theorem 2, and for β = ∞ Theorem 1. */
    private static double equation(double[] x, double beta, double theta) {
        double sum = 0;
        for (int i = 0; i < x.length; i++) {
            double quotient = METRIC[i] * x[i] / ((METRIC[i] - STEP_SIZE / beta) * theta + STEP_SIZE * LAMBDA);
            sum += quotient * quotient;
        }
        return sum;
    }

    private static String number(double value) {
        return Unit.NUMBER.write(value);
    }

    // --- Figures

    private static Figure penalties() {
        return new Figure.Plot(
                "The penalties",
                "The ℓ1 norm charges large values ever more; the MCP saturates.",
                Axis.linear("x"),
                Axis.linear("h(x)"),
                List.of(
                        curve("λ|x|", -2, 2, x -> NORM.value(Math.abs(x))),
                        curve("MCP(x)", -2, 2, x -> MCP.value(Math.abs(x)))));
    }

    private static Figure unweighted() {
        return new Figure.Plot(
                "Proximal maps of one weight, D = 1",
                "ℓ1 takes something off every value; the MCP leaves those beyond βλ alone.",
                Axis.linear("x"),
                Axis.linear("prox(x)"),
                List.of(
                        curve("ℓ1", -DRAWN_TO, DRAWN_TO, x -> proximal(NORM, x)),
                        curve("MCP", -DRAWN_TO, DRAWN_TO, x -> proximal(MCP, x)),
                        new Curve(
                                "identity",
                                Figure.Stroke.DASHED,
                                List.of(new Point(-DRAWN_TO, -DRAWN_TO), new Point(DRAWN_TO, DRAWN_TO)))));
    }

    private static Figure weighted() {
        return new Figure.Plot(
                "Norms of groups of two weights, unweighted and weighted",
                "Dashed: D = I. Solid: D = diag(1, 4), where moving the second weight is dear, so that groups stay longer.",
                Axis.linear("‖x‖"),
                Axis.linear("‖prox(x)‖"),
                List.of(
                        curve("ℓ1/ℓ2, D = diag(1, 4)", 0, DRAWN_TO, r -> shrunkNorm(NORM, METRIC, r)),
                        dashed("ℓ1/ℓ2, D = I", r -> shrunkNorm(NORM, SPHERE, r)),
                        curve("group MCP, D = diag(1, 4)", 0, DRAWN_TO, r -> shrunkNorm(MCP, METRIC, r)),
                        dashed("group MCP, D = I", r -> shrunkNorm(MCP, SPHERE, r))),
                true);
    }

    private static Figure paths() {
        return new Figure.Plot(
                "Where groups of two weights go",
                "x moves outwards along the dashed line. In the Euclidean metric prox(x) stays on that line. In the"
                        + " weighted metric it bends: the weight with the smaller d gives way first.",
                Axis.linear("first weight"),
                Axis.linear("second weight"),
                List.of(
                        path("ℓ1/ℓ2, D = diag(1, 4)", NORM),
                        path("group MCP, D = diag(1, 4)", MCP),
                        new Curve("x", Figure.Stroke.DASHED, List.of(new Point(0, 0), at(point(DRAWN_TO))))));
    }

    private static Curve path(String name, Profile profile) {
        return new Curve(
                name,
                IntStream.rangeClosed(0, SAMPLES)
                        .mapToObj(i -> at(shrunk(profile, METRIC, DRAWN_TO * i / SAMPLES)))
                        .toList());
    }

    private static Curve curve(String name, double from, double to, DoubleUnaryOperator function) {
        return new Curve(
                name,
                IntStream.rangeClosed(0, SAMPLES)
                        .mapToDouble(i -> from + (to - from) * i / SAMPLES)
                        .mapToObj(x -> new Point(x, function.applyAsDouble(x)))
                        .toList());
    }

    private static Curve dashed(String name, DoubleUnaryOperator function) {
        return new Curve(
                name, Figure.Stroke.DASHED, curve(name, 0, DRAWN_TO, function).points());
    }

    // --- The operator

    private static double proximal(Profile profile, double x) {
        double[] z = new double[1];
        WeightedProx.EXACT.apply(profile, new double[] {x}, new double[] {1}, STEP_SIZE, z);
        return z[0];
    }

    private static double shrunkNorm(Profile profile, double[] metric, double r) {
        return Norm.of(shrunk(profile, metric, r));
    }

    private static double[] shrunk(Profile profile, double[] metric, double r) {
        double[] z = new double[2];
        WeightedProx.EXACT.apply(profile, point(r), metric, STEP_SIZE, z);
        return z;
    }

    private static double[] point(double r) {
        return new double[] {r * DIRECTION[0], r * DIRECTION[1]};
    }

    private static Point at(double[] z) {
        return new Point(z[0], z[1]);
    }
}
