package dev.espalier.reproduce;

import dev.espalier.core.rule.UpdateRule;
import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Axis;
import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Convergence.Case;
import dev.espalier.reproduce.Convergence.Effort;
import dev.espalier.reproduce.Convergence.Part;
import dev.espalier.reproduce.convergence.Descent;
import dev.espalier.reproduce.convergence.FusedDescent;
import dev.espalier.reproduce.convergence.Theorem;
import dev.espalier.reproduce.convergence.Trace;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Theorem 3 with exact gradients: 1/T. */
final class WithoutNoise {
    static final String EXPONENT = "exponent of T";
    static final String BY_BOUND = "measured / bound";

    private static final double[] MOMENTUM = {0.9, 0.95};

    /** Adam's momentum does not die out: the theorem does not cover it. */
    private static final UpdateRule ADAM = new UpdateRule.Adam(0.9, 0.999, Math.sqrt(Convergence.EPSILON));

    private WithoutNoise() {}

    private static Map<String, Descent> methods() {
        Map<String, Descent> methods = new LinkedHashMap<>();
        methods.put("SGD", Convergence.PLAIN);
        methods.put("RMSprop", Convergence.ADAPTIVE);
        methods.put("RMSprop, momentum that dies out", Convergence.ADAPTIVE.withMomentum(MOMENTUM[0], MOMENTUM[1]));
        return methods;
    }

    private static Map<String, FusedDescent> fusedMethods() {
        Map<String, FusedDescent> methods = new LinkedHashMap<>();
        double stepSize = Convergence.ADAPTIVE.stepSize();
        methods.put("RMSprop, fused", new FusedDescent(Convergence.ADAPTIVE.rule(), stepSize));
        methods.put("Adam, fused, not covered", new FusedDescent(ADAM, stepSize));
        return methods;
    }

    static Part part(Effort effort, Setting setting) {
        List<Row> rows = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        int steps = effort.steps();
        for (Case one : Convergence.cases(effort.size(), Convergence.FIRST)) {
            List<Curve> curves = new ArrayList<>();
            methods().forEach((name, descent) -> {
                Trace trace = descent.run(one.problem(), one.penalty(), steps, 0);
                Theorem theorem = descent.theorem(one.problem(), trace);
                rows.add(row(
                        one.name() + ", " + name,
                        trace,
                        Cell.ours(theorem.bound(steps, 0, one.gap())),
                        Cell.ours(Convergence.shareOfBound(trace, theorem, one.gap()))));
                curves.add(Convergence.means(name, trace));
                curves.add(Convergence.bound(name, trace, theorem, one.gap()));
            });
            fusedMethods()
                    .forEach((name, descent) -> rows.add(row(
                            one.name() + ", " + name,
                            descent.run(one.problem(), one.penalty(), steps),
                            Cell.EMPTY,
                            Cell.EMPTY)));
            figures.add(new Figure.Plot(
                    "Without noise: " + one.name(),
                    "Dashed: the theorem's bound. Both fall like 1/T.",
                    Axis.logarithmic("T"),
                    Axis.logarithmic("mean of dist(0, ∂F)²"),
                    curves,
                    true));
        }
        Comparison table = new Comparison(
                "Without noise",
                "The mean of dist(0, ∂F(x_t))² over t = 1 … T, T = " + steps
                        + ". The exponent is that of the last tenfold of T. Measured / bound is the largest over all T.",
                "problem, method",
                List.of(
                        new Column("mean dist²", Unit.NUMBER),
                        new Column(EXPONENT, Unit.NUMBER),
                        new Column("bound", Unit.NUMBER),
                        new Column(BY_BOUND, Unit.NUMBER),
                        new Column("groups not zero", Unit.COUNT)),
                rows);
        return new Part(table, figures);
    }

    private static Row row(String name, Trace trace, Cell bound, Cell share) {
        return Row.of(
                name,
                Cell.ours(trace.mean(trace.steps().size())),
                new Cell(Quote.number(-1), Quote.number(trace.slope())),
                bound,
                share,
                Cell.ours(trace.nonZeroGroups()));
    }
}
