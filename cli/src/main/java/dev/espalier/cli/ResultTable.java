package dev.espalier.cli;

import dev.espalier.train.journal.Faster;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RequestedSize;
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
        print(RequestedSize.of(Recipe.read(run.runs().getFirst().recipe(), List.of()), results), faster(run), out);
    }

    /** Prints only how much was requested and is left, and the wider model that is faster, next to a table of another form. */
    static void printSize(RunFolder run, List<RunResult> results, PrintWriter out) throws IOException {
        Optional<RequestedSize> size =
                RequestedSize.of(Recipe.read(run.runs().getFirst().recipe(), List.of()), results);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("size", "parameters", "FLOPs", "latency"));
        for (Faster faster : faster(run)) {
            rows.add(faster(List.of(faster), List.of()));
        }
        size.ifPresent(one -> {
            rows.add(size("requested", one, one.requested(), List.of()));
            rows.add(size("reached", one, one.reached(), List.of()));
        });
        if (rows.size() > 1) {
            out.println();
            Columns.print(rows, out);
        }
        size.filter(one -> !one.isMet()).ifPresent(one -> out.printf(Locale.ROOT, "%n%s%n", missed(one)));
    }

    /** The wider models that are faster, where there are such. */
    private static List<Faster> faster(RunFolder run) throws IOException {
        List<Faster> found = new ArrayList<>();
        for (RunFolder seed : run.runs()) {
            seed.faster().ifPresent(found::add);
        }
        return found;
    }

    private void print(Optional<RequestedSize> size, List<Faster> faster, PrintWriter out) {
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
        if (!faster.isEmpty()) {
            rows.add(faster(faster, metrics));
        }
        size.ifPresent(one -> {
            rows.add(size("requested", one, one.requested(), metrics));
            rows.add(size("reached", one, one.reached(), metrics));
        });
        Columns.print(rows, out);
        size.filter(one -> !one.isMet()).ifPresent(one -> out.printf(Locale.ROOT, "%n%s%n", missed(one)));
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

    private static List<String> faster(List<Faster> runs, List<Metric> metrics) {
        List<String> cells = new ArrayList<>(List.of("faster, wider"));
        metrics.forEach(_ -> cells.add(""));
        cells.add(count(Spread.of(runs, Faster::parameters)));
        cells.add(count(Spread.of(runs, Faster::flops)));
        cells.add(String.format(
                Locale.ROOT, "%.3g ms", Spread.of(runs, Faster::milliseconds).mean()));
        return cells;
    }

    /** A share in the column of what it is a share of; of groups, which have none, it is named. */
    private static List<String> size(String row, RequestedSize size, double share, List<Metric> metrics) {
        String percent = String.format(Locale.ROOT, "%.1f %%", 100 * share);
        List<String> counted = List.of("parameters", "flops", "latency");
        List<String> cells = new ArrayList<>(List.of(
                counted.contains(size.kind()) ? row : "%s: %s of the %s".formatted(row, percent, size.words())));
        metrics.forEach(_ -> cells.add(""));
        counted.forEach(kind -> cells.add(kind.equals(size.kind()) ? percent : ""));
        return cells;
    }

    private static String missed(RequestedSize size) {
        return String.format(
                Locale.ROOT,
                "%.1f %% of the %s is left, and %.1f %% were requested: %s.",
                100 * size.reached(),
                size.words(),
                100 * size.requested(),
                size.kind().equals("latency")
                        ? "in training, time is estimated from the time of each layer, and only now the files were measured"
                        : size.reached() < size.requested()
                                ? "the next larger width would be more than that"
                                : "the groups do not allow less");
    }

    private static double score(RunResult run, Metric metric, boolean pruned) {
        return Optional.ofNullable((pruned ? run.prunedScores() : run.scores()).get(metric))
                .orElse(Double.NaN);
    }

    private static String count(Spread spread) {
        return String.format(Locale.ROOT, "%,.0f", spread.mean());
    }
}
