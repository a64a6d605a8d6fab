package dev.espalier.reproduce;

import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.reproduce.Convergence.Case;
import dev.espalier.reproduce.Convergence.Effort;
import dev.espalier.reproduce.Convergence.Part;
import dev.espalier.reproduce.convergence.Problem;
import dev.espalier.reproduce.convergence.Theorem;
import dev.espalier.reproduce.convergence.Trace;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;

/** Corollary 1: the steps and the mini-batch size that are enough for a given ε, known before the first step. */
final class WithPromise {
    static final String WANTED = "ε²";
    static final String REACHED = "mean dist²";
    static final String VARIANCE = "σ²";
    static final String VARIANCE_MET = "σ² met";

    /** Small, since the corollary asks for a number of samples that grows like the number of weights. */
    private static final Problem.Size SIZE = new Problem.Size(200, 3, 2, 4);

    /** The variance at the start is the largest on the way down; some more, in case it is not. */
    private static final double MARGIN = 1.1;

    private WithPromise() {}

    static Part part(Effort effort, Setting setting) {
        List<Row> rows = new ArrayList<>();
        for (Case one : Convergence.cases(SIZE, Convergence.FIRST)) {
            for (double share : effort.promises()) {
                rows.add(row(one, share * one.squaredDistanceAtStart(), setting.seeds()));
            }
        }
        Comparison table = new Comparison(
                "The corollary",
                "SGD with T = 2C₂Δ/ε² and m = 2C₁σ²/ε², from constants that are known before the first step. At the start dist² is"
                        + " larger than ε². σ² is that at the start and a tenth more.",
                "problem",
                List.of(
                        new Column("dist² at the start", Unit.NUMBER),
                        new Column(WANTED, Unit.NUMBER),
                        new Column("T", Unit.COUNT),
                        new Column("m", Unit.COUNT),
                        new Column(VARIANCE, Unit.NUMBER),
                        new Column(VARIANCE_MET, Unit.NUMBER),
                        new Column(REACHED, Unit.NUMBER)),
                rows);
        return new Part(table, List.of());
    }

    private static Row row(Case one, double squaredTolerance, List<Long> seeds) {
        Theorem theorem = Theorem.plain(one.problem().smoothness(), Convergence.PLAIN.stepSize());
        double variance =
                MARGIN * one.problem().variance(new double[one.problem().dimension()]);
        int steps = Math.toIntExact(theorem.steps(squaredTolerance, one.gap()));
        int batchSize = theorem.batchSize(squaredTolerance, variance);
        List<Trace> traces = seeds.stream()
                .map(seed -> Convergence.PLAIN.withBatchSize(batchSize).run(one.problem(), one.penalty(), steps, seed))
                .toList();
        return Row.of(
                "%s, ε² = %s".formatted(one.name(), Unit.NUMBER.write(squaredTolerance)),
                Cell.ours(one.squaredDistanceAtStart()),
                Cell.ours(squaredTolerance),
                Cell.ours(steps),
                Cell.ours(batchSize),
                Cell.ours(variance),
                Cell.ours(traces.stream().mapToDouble(Trace::variance).max().orElseThrow()),
                Cell.ours(Spread.of(
                        traces.stream().map(trace -> trace.mean(steps)).toList())));
    }
}
