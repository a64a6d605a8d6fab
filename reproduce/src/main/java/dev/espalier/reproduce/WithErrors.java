package dev.espalier.reproduce;

import dev.espalier.core.schedule.ToleranceSchedule;
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
import dev.espalier.reproduce.convergence.Theorem;
import dev.espalier.reproduce.convergence.Trace;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Theorem 3 with an inexact operator: what the assumption of summable errors is for. */
final class WithErrors {
    static final String EXACT = "exact";
    static final String SUMMABLE = "ε = 1/2(1 + t), summable";
    static final String CONSTANT = "ε = 1/2, not summable";
    static final String LEVEL = "second half";

    private static final double INITIAL = 0.5;

    private WithErrors() {}

    private static Map<String, ToleranceSchedule> schedules() {
        Map<String, ToleranceSchedule> schedules = new LinkedHashMap<>();
        schedules.put(EXACT, ToleranceSchedule.EXACT);
        schedules.put(SUMMABLE, new ToleranceSchedule(INITIAL, 1));
        schedules.put(CONSTANT, new ToleranceSchedule(INITIAL, 0));
        return schedules;
    }

    static Part part(Effort effort, Setting setting) {
        List<Row> rows = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        for (Case one : Convergence.cases(effort.inexactSize(), Convergence.FIRST)) {
            if (!one.penalty().profile(1).isNorm()) {
                continue; // where the MCP is flat there is nothing to solve, and so no error
            }
            List<Curve> curves = new ArrayList<>();
            schedules().forEach((name, schedule) -> {
                Descent descent = Convergence.ADAPTIVE.withTolerance(schedule);
                Trace trace = descent.run(one.problem(), one.penalty(), effort.inexactSteps(), 0);
                Theorem theorem = descent.theorem(one.problem(), trace);
                rows.add(Row.of(
                        one.name() + ", " + name,
                        Cell.ours(trace.squaredErrors()),
                        Cell.ours(trace.mean(effort.inexactSteps())),
                        Cell.ours(trace.slope()),
                        Cell.ours(trace.floor()),
                        Cell.ours(Convergence.shareOfBound(trace, theorem, one.gap()))));
                curves.add(Convergence.means(name, trace));
            });
            figures.add(new Figure.Plot(
                    "With an inexact operator: " + one.name(),
                    "Errors that sum up leave the rate as it is; errors that stay put a floor under it.",
                    Axis.logarithmic("T"),
                    Axis.logarithmic("mean of dist(0, ∂F)²"),
                    curves));
        }
        Comparison table = new Comparison(
                "With an inexact operator",
                ("RMSprop, T = %d. θ by a bisection that ends at a relative error of ε. The errors are those that were met:"
                                + " K is the sum of ‖x_t − x*_t‖².")
                        .formatted(effort.inexactSteps()),
                "problem, tolerance",
                List.of(
                        new Column("K", Unit.NUMBER),
                        new Column("mean dist²", Unit.NUMBER),
                        new Column(WithoutNoise.EXPONENT, Unit.NUMBER),
                        new Column(LEVEL, Unit.NUMBER),
                        new Column(WithoutNoise.BY_BOUND, Unit.NUMBER)),
                rows);
        return new Part(table, figures);
    }
}
