package dev.espalier.report;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The page that compares runs. */
final class ComparisonPage {
    private ComparisonPage() {}

    static Page of(List<RunData> given) {
        List<RunData> runs = distinct(given);
        List<Metric> metrics =
                runs.stream().flatMap(run -> run.metrics().stream()).distinct().toList();
        List<Chart.Lines> curves = Curves.of(runs);
        List<Chart> sizes = metrics.stream()
                .limit(1)
                .flatMap(metric -> size(runs, metric).stream())
                .toList();
        List<Chart> charts = new ArrayList<>(sizes);
        charts.addAll(curves);
        Html content = Template.load("comparison.html")
                .fill(Map.of(
                        "count", Html.text(Integer.toString(runs.size())),
                        "table", Results.runs(runs, metrics),
                        "size", Html.join(sizes.stream().map(Chart::toHtml).toList()),
                        "curves", Html.join(curves.stream().map(Chart::toHtml).toList()),
                        "differences", RecipeKeys.differences(runs)));
        return new Page("Comparison of runs · Espalier", content, charts);
    }

    /** Runs of the same name are called by their folders. */
    private static List<RunData> distinct(List<RunData> runs) {
        Map<String, Long> counts = runs.stream().collect(Collectors.groupingBy(RunData::name, Collectors.counting()));
        return runs.stream()
                .map(run -> counts.getOrDefault(run.name(), 0L) > 1
                        ? run.called(run.folder().path().toString())
                        : run)
                .toList();
    }

    private static List<Chart> size(List<RunData> runs, Metric metric) {
        List<Chart.Point> points = IntStream.range(0, runs.size())
                .filter(i -> !runs.get(i).results().isEmpty())
                .mapToObj(i -> point(runs.get(i), Curves.colour(i), metric))
                .toList();
        return points.size() < 2
                ? List.of()
                : List.of(new Chart.Points(
                        "size",
                        "%s against size".formatted(Curves.capital(metric)),
                        "%s of the pruned models against the share of parameters kept; the table has the numbers"
                                .formatted(Curves.capital(metric)),
                        Curves.capital(metric),
                        Curves.format(metric),
                        false,
                        points,
                        Double.NaN));
    }

    private static Chart.Point point(RunData run, int colour, Metric metric) {
        Spread spread = Spread.of(run.results(result -> Results.score(result.prunedScores(), metric)));
        return new Chart.Point(
                run.name(),
                colour,
                Spread.of(run.results(RunResult::parametersLeft)).mean(),
                spread.mean(),
                spread.deviation(),
                "");
    }
}
