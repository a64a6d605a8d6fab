package dev.espalier.cli;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.run.Verdict;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What came out of training, as a table for the terminal: a line for each model, over all seeds. */
final class ResultTable {
    private final List<RunResult> baseline;
    private final List<RunResult> results;

    private ResultTable(List<RunResult> baseline, List<RunResult> results) {
        this.baseline = baseline;
        this.results = results;
    }

    static ResultTable of(List<RunResult> results) {
        return new ResultTable(List.of(), results);
    }

    ResultTable withBaseline(RunResult dense) {
        return new ResultTable(List.of(dense), results);
    }

    /** Prints what one should know first, if there is such, and then the table. */
    void print(RunFolder run, PrintWriter out) throws IOException {
        for (RunFolder seed : run.runs()) {
            Optional<RunResult> result = seed.result();
            if (result.isPresent()) {
                Verdict.of(seed, result.get()).forEach(out::println);
            }
        }
        print(out);
    }

    private void print(PrintWriter out) {
        List<Metric> metrics = results.getFirst().metrics();
        List<List<String>> rows = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of("model"));
        metrics.forEach(metric -> header.add(metric.words()));
        header.addAll(List.of("parameters", "FLOPs", "latency"));
        rows.add(header);
        if (!baseline.isEmpty()) {
            rows.add(row("original", baseline, metrics, false));
        }
        rows.add(row("unpruned", results, metrics, false));
        rows.add(row("small", results, metrics, true));
        Columns.print(rows, out);
        out.printf(
                Locale.ROOT,
                "%nGroups kept %s, parameters kept %s, speed-up %.2f, pruning changed outputs by at most %.1e.%n",
                spread(RunResult::groupsLeft).percent(),
                spread(RunResult::parametersLeft).percent(),
                speedUp(),
                results.stream().mapToDouble(RunResult::maxAbsDifference).max().orElseThrow());
    }

    /** Speed-up of the small model over the original, or over the unpruned model if no original was trained. */
    double speedUp() {
        if (baseline.isEmpty()) {
            return spread(RunResult::speedUp).mean();
        }
        return Spread.of(baseline, RunResult::latencyMillisecondsBefore).mean()
                / spread(RunResult::latencyMillisecondsAfter).mean();
    }

    private Spread spread(ToDoubleFunction<RunResult> figure) {
        return Spread.of(results, figure);
    }

    private static List<String> row(String model, List<RunResult> runs, List<Metric> metrics, boolean pruned) {
        List<String> cells = new ArrayList<>(List.of(model));
        for (Metric metric : metrics) {
            cells.add(metric.write(Spread.of(runs, run -> score(run, metric, pruned))));
        }
        cells.add(count(Spread.of(runs, run -> pruned ? run.parametersAfter() : run.parametersBefore())));
        cells.add(count(Spread.of(runs, run -> pruned ? run.flopsAfter() : run.flopsBefore())));
        cells.add(String.format(
                Locale.ROOT,
                "%.3g ms",
                Spread.of(runs, run -> pruned ? run.latencyMillisecondsAfter() : run.latencyMillisecondsBefore())
                        .mean()));
        return cells;
    }

    private static double score(RunResult run, Metric metric, boolean pruned) {
        return Optional.ofNullable((pruned ? run.prunedScores() : run.scores()).get(metric))
                .orElse(Double.NaN);
    }

    private static String count(Spread spread) {
        return String.format(Locale.ROOT, "%,.0f", spread.mean());
    }
}
