package dev.espalier.report;

import dev.espalier.report.TrialNow.State;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.TargetRecipe;
import dev.espalier.train.run.RequestedSize;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.StudyResult;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The table of a study: a row for each point. {@code report.js} sorts it by any column, and hides rows that were not chosen. */
final class StudyTable {
    private static final String CAPTION = "The points of the study";

    /** In the order in which they are sorted. */
    private static final List<State> STATES = List.of(State.values());

    private final StudyResult study;
    private final StudyAxes axes;
    private final Optional<Metric> metric;
    private final boolean remarks;

    /** Whether a point has a target. */
    private final boolean targets;

    private final Map<StudyCost, Set<Integer>> fronts = new EnumMap<>(StudyCost.class);

    private StudyTable(StudyResult study, List<StudyRow> rows, StudyAxes axes, Optional<Metric> metric) {
        this.study = study;
        this.axes = axes;
        this.metric = metric;
        remarks = rows.stream().anyMatch(row -> !row.remarks().isEmpty());
        targets = rows.stream().anyMatch(row -> row.branch().recipe().target().isPresent());
        for (StudyCost cost : StudyCost.values()) {
            fronts.put(
                    cost,
                    metric.map(what -> StudyCharts.front(rows, what, cost)).orElse(Set.of()));
        }
    }

    static Html of(StudyResult study, List<StudyRow> rows, StudyAxes axes, Optional<Metric> metric) {
        StudyTable table = new StudyTable(study, rows, axes, metric);
        return Html.of(
                "<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"sortable\" id=\"points\">"
                        + "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>",
                CAPTION,
                CAPTION,
                table.head(),
                Html.join(rows.stream().map(table::row).toList()));
    }

    /** The names of the columns; where it is known, which values are better and so come first. */
    private Html head() {
        List<Html> cells = new ArrayList<>(List.of(column("Run", ""), words("State")));
        axes.axes()
                .forEach(axis -> cells.add(Html.of(
                        "<th scope=\"col\" title=\"{}\"{}>{}</th>",
                        axis.key(),
                        Html.of(axis.isNumeric() ? "" : " class=\"words\""),
                        axis.name())));
        cells.add(column(
                metric.map(Curves::capital).orElse("Score"),
                metric.map(what -> switch (what.direction()) {
                            case HIGHER -> "high";
                            case LOWER -> "low";
                        })
                        .orElse("")));
        cells.add(column("Groups kept", "low"));
        cells.add(column("Parameters kept", "low"));
        cells.add(column("FLOPs kept", "low"));
        cells.add(column("Latency", "low"));
        cells.add(column("Speed-up", "high"));
        if (targets) {
            cells.add(column("Requested", ""));
            cells.add(column("Reached", ""));
        }
        if (remarks) {
            cells.add(words("Remarks"));
        }
        return Html.join(cells);
    }

    private static Html words(String name) {
        return Html.of("<th scope=\"col\" class=\"words\">{}</th>", name);
    }

    private static Html column(String name, String better) {
        return better.isEmpty()
                ? Html.of("<th scope=\"col\">{}</th>", name)
                : Html.of(
                        "<th scope=\"col\" data-better=\"{}\" title=\"{} is better\">{}</th>",
                        better,
                        better.equals("high") ? "Higher" : "Lower",
                        name);
    }

    private Html row(StudyRow row) {
        List<Html> cells = new ArrayList<>(
                List.of(Html.of("<th scope=\"row\" data-value=\"{}\">{}</th>", row.number(), name(row))));
        State state = row.state();
        cells.add(Html.of(
                "<td class=\"words\" data-value=\"{}\"><span class=\"state {}\">{}</span> {}</td>",
                STATES.indexOf(state),
                StudyPage.css(state),
                state.words(),
                row.progress()));
        axes.axes()
                .forEach(axis -> cells.add(Html.of(
                        "<td{} data-value=\"{}\">{}</td>",
                        Html.of(axis.isNumeric() ? "" : " class=\"words\""),
                        axis.place(row),
                        axis.of(row))));
        cells.add(metric.map(what -> cell(
                        row.scores(what),
                        values -> Numbers.metric(what, values),
                        row,
                        line -> Results.score(line.scores(), what)))
                .orElse(Html.of("<td data-value=\"\">{}</td>", Numbers.NONE)));
        cells.add(cell(row.values(RunResult::groupsLeft), Numbers::percent, row, Metrics::groupsLeft));
        Arrays.stream(StudyCost.values()).forEach(cost -> cells.add(cell(cost.of(row), cost.write(row))));
        List<Double> speedUps = row.values(RunResult::speedUp);
        cells.add(cell(StudyRow.mean(speedUps), Numbers.times(speedUps)));
        if (targets) {
            cells.addAll(size(row));
        }
        if (remarks) {
            cells.add(Html.of(
                    "<td class=\"words remarks\" data-value=\"{}\">{}</td>",
                    row.remarks().isEmpty() ? "" : row.number(),
                    row.remarks()));
        }
        String front = fronts.entrySet().stream()
                .filter(one -> one.getValue().contains(row.number()))
                .map(one -> one.getKey().key())
                .collect(Collectors.joining(" "));
        return Html.of(
                "<tr data-row=\"{}\" data-front=\"{}\"{}>{}</tr>",
                row.number(),
                front,
                Html.of(front.contains(StudyCost.PARAMETERS.key()) ? " class=\"front\"" : ""),
                Html.join(cells));
    }

    /** The share that was requested, of what, and the share of that in what came out. */
    private static List<Html> size(StudyRow row) {
        Optional<TargetRecipe> target = row.branch().recipe().target();
        double requested = target.map(TargetRecipe::share).orElse(Double.NaN);
        double reached = target.isEmpty() || row.results().isEmpty()
                ? Double.NaN
                : RequestedSize.of(target.get(), row.results()).reached();
        return List.of(
                cell(
                        requested,
                        target.map(wanted -> Numbers.percent(wanted.share()) + " of " + RequestedSize.words(wanted))
                                .orElse(Numbers.NONE)),
                cell(reached, Numbers.percent(reached)));
    }

    private static Html cell(double value, String text) {
        return Double.isFinite(value)
                ? Html.of("<td data-value=\"{}\">{}</td>", value, text)
                : Html.of("<td data-value=\"\">{}</td>", Numbers.NONE);
    }

    /** What came out; until then, what the last evaluation says, which does not compare with what came out of others. */
    private static Html cell(
            List<Double> results, Function<List<Double>, String> write, StudyRow row, Function<Metrics, Double> soFar) {
        if (!results.isEmpty() || row.soFar().isEmpty()) {
            return cell(StudyRow.mean(results), write.apply(results));
        }
        return Html.of(
                "<td data-value=\"\"><small title=\"in the last evaluation\">{}</small></td>",
                write.apply(row.soFar().stream().map(soFar).toList()));
    }

    /** The row's number, as a link to the report that it has. */
    private Html name(StudyRow row) {
        String label = row.branch().name().isEmpty()
                ? "the study's own folder"
                : row.branch().name();
        return report(row)
                .map(link -> Html.of("<a href=\"{}\" title=\"{}\">{}</a>", link, label, row.number()))
                .orElse(Html.of("<span title=\"{}\">{}</span>", label, row.number()));
    }

    /** Where the report is, seen from the study's folder: of all seeds, or of the first that has one. */
    private Optional<String> report(StudyRow row) {
        Set<String> folders = Stream.concat(
                        Stream.of(row.branch().name()),
                        row.trials().stream()
                                .filter(trial -> trial.state() != State.WAITING)
                                .map(trial -> trial.trial().name()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        Optional<Path> root = Storage.local(study.plan().root());
        return folders.stream()
                .filter(folder -> root.map(here -> Files.exists(new RunFolder(here.resolve(folder)).report()))
                        .orElse(row.state() == State.FINISHED))
                .map(folder -> link(Storage.path(folder, "report.html")))
                .findFirst();
    }

    private static String link(String path) {
        return Arrays.stream(path.split("/", -1))
                .map(part -> URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20"))
                .collect(Collectors.joining("/"));
    }
}
