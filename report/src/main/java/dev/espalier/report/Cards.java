package dev.espalier.report;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** The figures that a report begins with. */
final class Cards {
    /** Longer figures are written smaller. */
    private static final int SHORT = 8;

    private final List<Html> cards = new ArrayList<>();

    private Cards() {}

    static Html of(RunData run) {
        Cards cards = new Cards();
        if (!run.results().isEmpty()) {
            cards.finished(run);
        } else if (!run.last().isEmpty()) {
            cards.underWay(run);
        }
        return Html.join(cards.cards);
    }

    /** A figure with its name, and what belongs to it. */
    static Html card(String name, String figure, String details) {
        return Html.of(
                "<div class=\"card\"><dt>{}</dt><dd><strong{}>{}</strong> <span>{}</span></dd></div>",
                name,
                figure.length() > SHORT ? Html.of(" class=\"long\"") : Html.EMPTY,
                figure,
                details);
    }

    private void add(String name, String figure, String details) {
        cards.add(card(name, figure, details));
    }

    private void finished(RunData run) {
        for (Metric metric : run.metrics()) {
            List<Double> pruned = run.results(result -> Results.score(result.prunedScores(), metric));
            add("Small model's " + metric.name(), Numbers.metric(metric, pruned), comparison(run, metric, pruned));
        }
        add(
                "Parameters kept",
                Numbers.percent(run.results(RunResult::parametersLeft)),
                afterOfBefore(run, RunResult::parametersAfter, RunResult::parametersBefore, Numbers::count));
        add(
                "FLOPs kept",
                Numbers.percent(run.results(RunResult::flopsLeft)),
                afterOfBefore(run, RunResult::flopsAfter, RunResult::flopsBefore, Numbers::large));
        add("Groups kept", Numbers.percent(run.results(RunResult::groupsLeft)), "the others are zero");
        add(
                "Speed-up",
                Numbers.times(run.results(RunResult::speedUp)),
                afterOfBefore(
                                run,
                                RunResult::latencyMillisecondsAfter,
                                RunResult::latencyMillisecondsBefore,
                                Numbers::compact)
                        + " ms");
        add(
                "Outputs differ by",
                Numbers.compact(run.results(RunResult::maxAbsDifference).stream()
                        .mapToDouble(Double::doubleValue)
                        .max()
                        .orElseThrow()),
                "at most");
    }

    private static String comparison(RunData run, Metric metric, List<Double> pruned) {
        return run.baseline()
                .map(dense -> dense.results(result -> Results.score(result.scores(), metric)))
                .filter(dense -> !dense.isEmpty())
                .map(dense -> "%s to the original"
                        .formatted(Numbers.difference(
                                metric,
                                Spread.of(pruned).mean(),
                                Spread.of(dense).mean())))
                .orElse(run.results().size() == 1 ? "on the test split" : "%d seeds".formatted(pruned.size()));
    }

    private static String afterOfBefore(
            RunData run,
            ToDoubleFunction<RunResult> after,
            ToDoubleFunction<RunResult> before,
            DoubleFunction<String> format) {
        return "%s of %s"
                .formatted(
                        format.apply(Spread.of(run.results(after)).mean()),
                        format.apply(Spread.of(run.results(before)).mean()));
    }

    private void underWay(RunData run) {
        List<Metrics> last = run.last();
        for (Metric metric : run.metrics()) {
            add(
                    Curves.capital(metric) + " so far",
                    Numbers.metric(
                            metric,
                            last.stream()
                                    .map(line -> Results.score(line.scores(), metric))
                                    .toList()),
                    "in the last evaluation");
        }
        add(
                "Loss so far",
                Numbers.spread(last.stream().map(Metrics::loss).toList(), Numbers::compact, ""),
                "in evaluation");
        add(
                "Groups kept",
                Numbers.percent(last.stream().map(Metrics::groupsLeft).toList()),
                "the others are zero");
        add(
                "Epochs done",
                Numbers.spread(last.stream().map(Metrics::epoch).toList(), Numbers::compact, ""),
                "in phase " + last.getFirst().phase());
        add("Time so far", Numbers.duration(last.getFirst().seconds()), "of training");
    }
}
