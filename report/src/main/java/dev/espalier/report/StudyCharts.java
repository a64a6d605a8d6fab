package dev.espalier.report;

import dev.espalier.report.Chart.Better;
import dev.espalier.report.Chart.Dimension;
import dev.espalier.report.Chart.Scale;
import dev.espalier.report.Chart.Strand;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is drawn of a study: the points of which at least one seed is finished. */
final class StudyCharts {
    private final List<StudyRow> rows;
    private final StudyAxes axes;
    private final Metric metric;

    private StudyCharts(List<StudyRow> rows, StudyAxes axes, Metric metric) {
        this.rows = rows;
        this.axes = axes;
        this.metric = metric;
    }

    static List<Chart> of(List<StudyRow> all, StudyAxes axes, Metric metric) {
        List<StudyRow> ended = ended(all, metric);
        if (ended.isEmpty()) {
            return List.of();
        }
        StudyCharts charts = new StudyCharts(ended, axes, metric);
        return axes.axes().isEmpty() || ended.size() == 1
                ? List.of(charts.tradeOff())
                : List.of(charts.tradeOff(), charts.parallel());
    }

    private static List<StudyRow> ended(List<StudyRow> all, Metric metric) {
        return all.stream()
                .filter(row -> Double.isFinite(StudyRow.mean(row.scores(metric))))
                .toList();
    }

    /** The numbers of the rows that no other one beats. */
    static Set<Integer> front(List<StudyRow> all, Metric metric, StudyCost cost) {
        List<StudyRow> ended = ended(all, metric);
        return Front.of(
                        ended.stream()
                                .map(row -> StudyRow.goodness(metric, StudyRow.mean(row.scores(metric))))
                                .toList(),
                        ended.stream().map(cost::of).toList())
                .stream()
                .map(index -> ended.get(index).number())
                .collect(Collectors.toSet());
    }

    private Chart tradeOff() {
        return new Chart.TradeOff(
                "tradeoff",
                Curves.capital(metric),
                "%s of the pruned models against what they cost; the table has the numbers"
                        .formatted(Curves.capital(metric)),
                score(),
                costs().map(cost -> cost.dimension(Scale.LOGARITHMIC)).toList(),
                strands(row -> Stream.concat(Stream.of(mean(row)), costs().map(cost -> cost.of(row)))
                        .toList()));
    }

    private Chart parallel() {
        List<Dimension> dimensions = new ArrayList<>(
                axes.axes().stream().map(StudyAxes.Axis::dimension).toList());
        dimensions.add(score());
        dimensions.add(StudyCost.PARAMETERS.dimension(Scale.LINEAR));
        return new Chart.Parallel(
                "parallel",
                "Settings, %s and parameters kept".formatted(metric.words()),
                "A line for each point of the study, through its settings, its %s and the parameters kept; the table has the numbers"
                        .formatted(metric.words()),
                dimensions,
                strands(row -> Stream.concat(
                                axes.axes().stream().map(axis -> axis.place(row)),
                                Stream.of(mean(row), StudyCost.PARAMETERS.of(row)))
                        .toList()));
    }

    private static Stream<StudyCost> costs() {
        return Arrays.stream(StudyCost.values());
    }

    private Dimension score() {
        return new Dimension(
                metric.words(),
                Curves.format(metric),
                "",
                Scale.LINEAR,
                List.of(),
                switch (metric.direction()) {
                    case HIGHER -> Better.HIGHER;
                    case LOWER -> Better.LOWER;
                });
    }

    private double mean(StudyRow row) {
        return StudyRow.mean(row.scores(metric));
    }

    private double goodness(StudyRow row) {
        return StudyRow.goodness(metric, mean(row));
    }

    private List<Strand> strands(Function<StudyRow, List<Double>> values) {
        List<Set<Integer>> fronts =
                costs().map(cost -> front(rows, metric, cost)).toList();
        double worst = rows.stream().mapToDouble(this::goodness).min().orElse(0);
        double best = rows.stream().mapToDouble(this::goodness).max().orElse(0);
        return rows.stream()
                .map(row -> new Strand(
                        row.number(),
                        axes.describe(row),
                        values.apply(row),
                        Spread.of(row.scores(metric)).deviation(),
                        best > worst ? (goodness(row) - worst) / (best - worst) : 1,
                        fronts.stream()
                                .map(front -> front.contains(row.number()))
                                .toList()))
                .toList();
    }
}
