package dev.espalier.report;

import dev.espalier.report.TrialNow.State;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.study.StudyResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A page on a study, however far it has come: one file that holds all it needs.
 *
 * <pre>{@code
 * StudyPage.of("How much can go", result).write(folder.resolve(StudyPage.FILE));
 * }</pre>
 *
 * <p>It has a row for each point of the study, with the mean over its seeds; draws what smaller models cost, and which settings lead there;
 * and marks the points that no other one beats. How far trials are that have not ended is read from their folders, if the study is on this
 * machine.
 */
public final class StudyPage {
    /** What the file is called, in the study's folder: links to the runs' own reports start there. */
    public static final String FILE = "study.html";

    private final Page page;

    private StudyPage(Page page) {
        this.page = page;
    }

    /**
     * The page on a study.
     *
     * @param title what the study is called
     * @param result what came out so far
     * @return the page as of now
     */
    public static StudyPage of(String title, StudyResult result) {
        List<StudyRow> rows = StudyRow.of(result);
        StudyAxes axes = StudyAxes.of(rows);
        Optional<Metric> metric =
                rows.stream().flatMap(row -> row.metric().stream()).findFirst();
        List<Chart> charts =
                metric.map(what -> StudyCharts.of(rows, axes, what)).orElse(List.of());
        Html content = Template.load("study.html")
                .fill(Map.of(
                        "title", Html.text(title),
                        "kind", Html.text(kind(rows)),
                        "status", status(rows),
                        "progress", progress(rows),
                        "cards", cards(rows, axes, metric),
                        "tradeoff", drawn(charts, Chart.TradeOff.class),
                        "parallel", drawn(charts, Chart.Parallel.class),
                        "better", metric.map(StudyPage::better).orElse(Html.EMPTY),
                        "table", rows.isEmpty() ? Html.EMPTY : StudyTable.of(result, rows, axes, metric)));
        return new StudyPage(new Page(title + " · Espalier", content, charts));
    }

    private static Html drawn(List<Chart> charts, Class<? extends Chart> kind) {
        return Html.join(
                charts.stream().filter(kind::isInstance).map(Chart::toHtml).toList());
    }

    private static String kind(List<StudyRow> rows) {
        int trials = rows.stream().mapToInt(row -> row.trials().size()).sum();
        return "Study, %s%s"
                .formatted(
                        counted(trials, "trial"),
                        trials == rows.size() ? "" : " at %s".formatted(counted(rows.size(), "point")));
    }

    private static String counted(int number, String what) {
        return Numbers.count(number) + " " + (number == 1 ? what : what + "s");
    }

    private static Html better(Metric metric) {
        return Html.text(
                switch (metric.direction()) {
                    case HIGHER -> "up and to the left";
                    case LOWER -> "down and to the left";
                });
    }

    private static Map<State, Long> count(List<StudyRow> rows) {
        Map<State, Long> counts = new EnumMap<>(State.class);
        rows.forEach(row -> row.trials().forEach(trial -> counts.merge(trial.state(), 1L, Long::sum)));
        return counts;
    }

    private static Html status(List<StudyRow> rows) {
        Map<State, Long> counts = count(rows);
        boolean done = counts.keySet().stream().allMatch(State::isDone);
        String words = done
                ? "finished"
                : counts.containsKey(State.RUNNING)
                        ? "running"
                        : counts.containsKey(State.STOPPED)
                                ? "stopped"
                                : counts.keySet().equals(Set.of(State.WAITING)) ? "waiting" : "under way";
        return done
                ? Html.of("<span class=\"status\">{}</span>", words)
                : Html.of("<span class=\"status open\">{}</span>", words);
    }

    /** How many trials are done, as a bar: a part for each way of being done, and one for those that run. */
    private static Html progress(List<StudyRow> rows) {
        Map<State, Long> counts = count(rows);
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        if (all == 0) {
            return Html.of("<p class=\"note\">This study has no trials.</p>");
        }
        long done = counts.entrySet().stream()
                .filter(count -> count.getKey().isDone())
                .mapToLong(Map.Entry::getValue)
                .sum();
        List<Html> parts = new ArrayList<>();
        List<Html> words = new ArrayList<>();
        // What is done first, as a bar grows.
        counts.keySet().stream()
                .sorted(Comparator.comparing((State state) -> !state.isDone()).thenComparing(Comparator.naturalOrder()))
                .forEach(state -> {
                    long count = counts.getOrDefault(state, 0L);
                    parts.add(Html.of("<i class=\"{}\" style=\"flex-grow: {}\"></i>", css(state), count));
                    words.add(Html.of(
                            "<span><i class=\"{}\"></i>{} {}</span>", css(state), Numbers.count(count), state.words()));
                });
        return Html.of(
                "<div class=\"progress\" role=\"progressbar\" aria-label=\"Trials done\" aria-valuemin=\"0\" aria-valuenow=\"{}\" aria-valuemax=\"{}\">{}</div>"
                        + "<p class=\"counts\"><b>{} of {} done</b>{}</p>",
                done,
                all,
                Html.join(parts),
                Numbers.count(done),
                counted((int) all, "trial"),
                Html.join(words));
    }

    static String css(State state) {
        return state.words().replace(' ', '-');
    }

    private static Html cards(List<StudyRow> rows, StudyAxes axes, Optional<Metric> known) {
        List<Html> cards = new ArrayList<>();
        known.ifPresent(metric -> {
            List<StudyRow> ended = rows.stream()
                    .filter(row -> Double.isFinite(StudyRow.mean(row.scores(metric))))
                    .toList();
            ended.stream()
                    .max(Comparator.comparingDouble(
                            row -> StudyRow.goodness(metric, StudyRow.mean(row.scores(metric)))))
                    .ifPresent(best -> {
                        cards.add(Cards.card(
                                ended.size() == 1 ? Curves.capital(metric) : "Best " + metric.words(),
                                Numbers.metric(metric, best.scores(metric)),
                                named(best, axes) + " · " + StudyCost.PARAMETERS.write(best) + " parameters kept"));
                        for (StudyCost cost : ended.size() == 1 ? new StudyCost[0] : StudyCost.values()) {
                            cheapest(ended, cost)
                                    .ifPresent(row -> cards.add(Cards.card(
                                            cost.least(),
                                            cost.write(row),
                                            named(row, axes) + " · "
                                                    + metric.words() + " "
                                                    + Numbers.metric(metric, row.scores(metric)))));
                        }
                    });
        });
        return Html.join(cards);
    }

    private static String named(StudyRow row, StudyAxes axes) {
        String point = axes.describe(row);
        return point.isEmpty() ? "run " + row.number() : point;
    }

    private static Optional<StudyRow> cheapest(List<StudyRow> rows, StudyCost cost) {
        return rows.stream().filter(row -> Double.isFinite(cost.of(row))).min(Comparator.comparingDouble(cost::of));
    }

    /**
     * Writes the page.
     *
     * @param file where to, in the study's folder; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        RunFolder.replace(file, html());
    }

    /** {@return the page, whole} */
    public String html() {
        return page.toHtml().markup();
    }

    /** {@return what it says, for another page to show} */
    public ReportView view() {
        return ReportView.of(page);
    }
}
