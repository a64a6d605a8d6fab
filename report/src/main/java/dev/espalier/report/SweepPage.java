package dev.espalier.report;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A page on runs that differ in λ: what a smaller model costs.
 *
 * @param name what the sweep is called
 * @param metric what is drawn against size
 * @param points the runs
 * @param baseline its value of a dense run, to compare with
 */
public record SweepPage(String name, Metric metric, List<Point> points, OptionalDouble baseline) {

    /** Sorts by λ. */
    public SweepPage {
        points = points.stream()
                .sorted(Comparator.comparingDouble(Point::lambda))
                .toList();
    }

    /**
     * A run of the sweep.
     *
     * @param lambda its λ
     * @param score the metric's value of its pruned model, over its seeds
     * @param groupsLeft share of groups that are not zero
     * @param parametersLeft share of parameters that are left
     * @param run the name of its folder, beside which the page is written
     */
    public record Point(double lambda, Spread score, double groupsLeft, double parametersLeft, String run) {

        /**
         * From what a run wrote down.
         *
         * @param lambda its λ
         * @param metric what is drawn
         * @param folder its folder
         * @return the point; empty if no seed is finished
         * @throws IOException if the folder cannot be read
         */
        public static Optional<Point> of(double lambda, Metric metric, RunFolder folder) throws IOException {
            RunData run = RunData.read(folder);
            return run.results().isEmpty()
                    ? Optional.empty()
                    : Optional.of(new Point(
                            lambda,
                            Spread.of(run.results(result -> Results.score(result.prunedScores(), metric))),
                            Spread.of(run.results(RunResult::groupsLeft)).mean(),
                            Spread.of(run.results(RunResult::parametersLeft)).mean(),
                            run.name()));
        }
    }

    /**
     * From what the runs of a sweep wrote down.
     *
     * @param folder the sweep's folder
     * @return a page on the runs that are finished
     * @throws IOException if the folder cannot be read
     * @throws IllegalArgumentException if none is finished
     */
    public static SweepPage of(RunFolder folder) throws IOException {
        List<Point> points = new ArrayList<>();
        List<Metric> metrics = new ArrayList<>();
        for (RunFolder run : folder.sweep()) {
            List<RunResult> results = RunData.read(run).results();
            if (!results.isEmpty()) {
                metrics.add(results.getFirst().mainMetric());
                Point.of(results.getFirst().lambda(), metrics.getFirst(), run).ifPresent(points::add);
            }
        }
        if (points.isEmpty()) {
            throw new IllegalArgumentException(
                    folder.path() + " is a sweep of which no run is finished: go on with it by sweep --resume");
        }
        return new SweepPage(RunData.nameOf(folder), metrics.getFirst(), points, baseline(folder, metrics.getFirst()));
    }

    /**
     * What the dense run in a sweep's folder scores.
     *
     * @param sweep the sweep's folder
     * @param metric what counts most
     * @return its score; empty if there is no such run, or it is not finished
     * @throws IOException if the folder cannot be read
     */
    public static OptionalDouble baseline(RunFolder sweep, Metric metric) throws IOException {
        return sweep.baseline().result().stream()
                .mapToDouble(dense -> Results.score(dense.scores(), metric))
                .findFirst();
    }

    /**
     * Writes the page.
     *
     * @param file where to, beside the folders of the runs; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        RunFolder.replace(file, html(file));
    }

    String html(Path file) {
        Chart curve = curve();
        List<Chart> charts = points.isEmpty() ? List.of() : List.of(curve);
        Html content = Template.load("sweep.html")
                .fill(Map.of(
                        "name", Html.text(name),
                        "count", Html.text(Integer.toString(points.size())),
                        "curve", points.isEmpty() ? Html.EMPTY : curve.toHtml(),
                        "table", table(file)));
        return new Page(name + " · Espalier", content, charts).toHtml().markup();
    }

    private Chart curve() {
        return new Chart.Points(
                "size",
                Curves.capital(metric) + " against size",
                Curves.capital(metric)
                        + " of the pruned models against the share of parameters kept; the table has the numbers",
                Curves.capital(metric),
                Curves.format(metric),
                true,
                points.stream()
                        .map(point -> new Chart.Point(
                                "λ = " + Numbers.compact(point.lambda()),
                                0,
                                point.parametersLeft(),
                                point.score().mean(),
                                point.score().deviation(),
                                "groups kept: " + Numbers.percent(point.groupsLeft())))
                        .toList(),
                baseline.orElse(Double.NaN));
    }

    private Html table(Path file) {
        List<String> columns =
                new ArrayList<>(List.of("λ", "Small model's " + metric.name(), "Groups kept", "Parameters kept"));
        columns.add("Run:");
        Table table = Table.of("The runs of the sweep", columns);
        baseline.ifPresent(dense -> table.row(
                Html.of("original"),
                List.of(metric.write(dense), Numbers.percent(1), Numbers.percent(1), Numbers.NONE)));
        for (Point point : points) {
            table.row(
                    Html.text(Numbers.compact(point.lambda())),
                    List.of(
                            metric.write(point.score()),
                            Numbers.percent(point.groupsLeft()),
                            Numbers.percent(point.parametersLeft()),
                            link(file, point.run())));
        }
        return table.isEmpty() ? Html.EMPTY : table.toHtml();
    }

    /** To the run's own report, where there is one. */
    private static Html link(Path file, String run) {
        Path page = file.toAbsolutePath().normalize();
        Path report = new RunFolder(page.resolveSibling(run)).report();
        return Files.exists(report)
                ? Html.of(
                        "<a href=\"{}\">{}</a>", page.resolveSibling("").toUri().relativize(report.toUri()), run)
                : Html.text(run);
    }
}
