package dev.espalier.report;

import dev.espalier.report.RunData.Seed;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.Provenance;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The page on one run. */
final class RunPage {
    private RunPage() {}

    static Page of(RunData run) {
        Optional<Seed> shown = run.shown();
        ModelView model =
                shown.map(seed -> ModelView.read(seed.folder().model())).orElse(ModelView.NONE);
        List<Chart.Lines> curves = Curves.of(run);
        Optional<Chart> history =
                LayerHistory.of(shown.orElse(run.seeds().getFirst()).metrics(), model.groups());
        Optional<Chart> bars = model.bars();
        Map<String, Html> values = new HashMap<>();
        values.put("name", Html.text(run.name()));
        values.put("status", status(run));
        values.put("summary", Html.text(summary(run)));
        values.put("notes", Html.join(notes(run, model)));
        Optional<Findings> findings = shown.flatMap(Seed::findings);
        OutcomeView outcome = findings.map(OutcomeView::of).orElse(OutcomeView.NONE);
        values.put("lead", Summary.of(run, findings, model.columns()));
        values.put("cards", Cards.of(run));
        values.put("outcome", outcome.content());
        values.put("columns", model.columns().toHtml());
        values.put(
                "mistakes",
                findings.map(found -> MistakesView.of(
                                found.mistakes(), model.columns().ranked()))
                        .orElse(Html.EMPTY));
        boolean likened = findings.map(found -> found.outcome() instanceof Findings.Outcome.Fidelity)
                .orElse(false);
        values.put("mistakesname", Html.text(likened ? "Where it differs most" : "What it gets wrong"));
        values.put(
                "mistakesintro",
                Html.text(
                        likened
                                ? "Samples of the test split for which the outputs of the small model and of the original differ most, the worst first."
                                : "Samples of the test split that the small model gets wrong, the worst first, with its prediction."));
        List<ModelRow> shrunk =
                run.results().size() == 1 ? run.results().getFirst().models() : List.of();
        values.put(
                "models",
                shrunk.isEmpty()
                        ? Results.models(run)
                        : Html.join(List.of(Results.shrunk(shrunk), Results.models(run))));
        values.put("seeds", Results.seeds(run));
        values.put("curves", Html.join(curves.stream().map(Chart::toHtml).toList()));
        values.put("history", history.map(Chart::toHtml).orElse(Html.EMPTY));
        values.put("layers", Html.join(bars.map(Chart::toHtml).stream().toList()));
        values.put("layertable", model.table());
        values.put("patterns", model.pictures());
        values.put("which", which(run, shown));
        values.put(
                "numbers",
                Html.join(run.seeds().stream().map(seed -> numbers(run, seed)).toList()));
        values.put("recipe", Html.text(run.recipe()));
        values.put("provenance", provenance(run));
        List<Chart> charts = new ArrayList<>(outcome.charts());
        charts.addAll(curves);
        history.ifPresent(charts::add);
        bars.ifPresent(charts::add);
        return new Page(run.name() + " · Espalier", Template.load("run.html").fill(values), charts);
    }

    private static Html status(RunData run) {
        return Html.of("<span class=\"{}\">{}</span>", run.isFinished() ? "status" : "status open", run.status());
    }

    private static String summary(RunData run) {
        List<String> parts = new ArrayList<>();
        provenances(run).stream().findFirst().ifPresent(origin -> parts.add("started " + minute(origin.started())));
        if (run.seeds().size() > 1) {
            parts.add(run.seeds().size() + " seeds");
        }
        if (!run.last().isEmpty()) {
            Metrics last = run.last().getFirst();
            parts.add("%s epochs".formatted(Numbers.compact(last.epoch())));
            parts.add("%s steps".formatted(Numbers.count(last.step())));
            parts.add("%s of training"
                    .formatted(Numbers.duration(
                            run.last().stream().mapToDouble(Metrics::seconds).sum())));
        }
        return String.join(" · ", parts);
    }

    /** {@code 2026-03-01T12:34:56.789Z} is more than one wants to read. */
    private static String minute(String instant) {
        return instant.replaceFirst("^(\\d+-\\d+-\\d+)T(\\d+:\\d+):[\\d.]+Z$", "$1 $2 UTC");
    }

    private static List<Html> notes(RunData run, ModelView model) {
        List<Html> notes = new ArrayList<>();
        for (Seed seed : run.seeds()) {
            seed.reason()
                    .ifPresent(reason -> notes.add(Html.of(
                            "<p class=\"note\">The training{} was given up: {}</p>",
                            run.seeds().size() == 1 ? "" : " of " + seed.name(),
                            reason)));
            seed.verdict()
                    .forEach(sentence -> notes.add(Html.of(
                            "<p class=\"note\">{}{}</p>",
                            run.seeds().size() == 1 ? "" : seed.name() + ": ",
                            sentence)));
        }
        if (run.last().isEmpty()) {
            notes.add(Html.of("<p class=\"note\">Nothing has been evaluated yet.</p>"));
        }
        long skipped = run.last().stream().mapToLong(Metrics::skippedSteps).sum();
        if (skipped > 0) {
            notes.add(Html.of(
                    "<p class=\"note\">Steps skipped because a gradient was not finite: {}.</p>",
                    Numbers.count(skipped)));
        }
        model.problem().ifPresent(problem -> notes.add(Html.of("<p class=\"note\">{}</p>", problem)));
        return notes;
    }

    private static Html which(RunData run, Optional<Seed> shown) {
        return run.seeds().size() == 1 || shown.isEmpty()
                ? Html.EMPTY
                : Html.of(
                        "<p class=\"hint\">Of several seeds, this shows {}.</p>",
                        shown.get().name());
    }

    /** All metrics as a table, for those who do not see the curves or want the numbers. */
    private static Html numbers(RunData run, Seed seed) {
        if (seed.metrics().isEmpty()) {
            return Html.EMPTY;
        }
        List<String> columns = new ArrayList<>(List.of("Epoch", "Phase:"));
        run.metrics().forEach(metric -> columns.add(Curves.capital(metric)));
        columns.addAll(List.of("Loss", "Loss in training"));
        run.trained().forEach(metric -> columns.add(Curves.inTraining(metric)));
        columns.addAll(
                List.of("Groups kept", "Penalty", "λ", "Learning rate", "Iterations per group", "Samples per second"));
        Table table = Table.of("All evaluations of " + seed.name(), columns);
        seed.metrics().forEach(line -> table.row(Html.text(Numbers.compact(line.epoch())), numbers(run, line)));
        return run.seeds().size() == 1
                ? table.toHtml()
                : Html.of("<h3>{}</h3>{}", Curves.capital(seed.name()), table.toHtml());
    }

    private static List<String> numbers(RunData run, Metrics line) {
        List<String> cells = new ArrayList<>(List.of(line.phase()));
        run.metrics().forEach(metric -> cells.add(metric.write(Results.score(line.scores(), metric))));
        cells.addAll(List.of(Numbers.compact(line.loss()), Numbers.compact(line.trainLoss())));
        run.trained().forEach(metric -> cells.add(metric.write(Results.score(line.trainScores(), metric))));
        cells.addAll(List.of(
                Numbers.percent(line.groupsLeft()),
                Numbers.compact(line.penalty()),
                Numbers.compact(line.lambda()),
                Numbers.compact(line.learningRate()),
                Numbers.compact(line.iterationsPerGroup()),
                Numbers.count(line.samplesPerSecond())));
        return cells;
    }

    private static List<Provenance> provenances(RunData run) {
        return run.seeds().stream().flatMap(seed -> seed.provenance().stream()).toList();
    }

    private static Html provenance(RunData run) {
        List<Provenance> all = provenances(run);
        if (all.isEmpty()) {
            return Html.EMPTY;
        }
        return Html.join(List.of(
                fact(all, "Espalier", Provenance::espalier),
                fact(all, "Commit", Provenance::commit),
                fact(all, "Started", Provenance::started),
                fact(all, "Seed", origin -> Long.toString(origin.seed())),
                fact(all, "Java", Provenance::java),
                fact(all, "System", Provenance::system),
                fact(all, "Architecture", Provenance::architecture),
                fact(all, "Processors", origin -> Integer.toString(origin.processors())),
                fact(all, "Engine", Provenance::engine),
                fact(all, "Kernel", Provenance::kernel),
                fact(all, "Device", Provenance::device),
                Html.of("<dt>Folder</dt><dd>{}</dd>", run.folder().path())));
    }

    /** What seeds have in common is said once. */
    private static Html fact(List<Provenance> all, String name, Function<Provenance, String> value) {
        return Html.of(
                "<dt>{}</dt><dd>{}</dd>",
                name,
                all.stream().map(value).distinct().collect(Collectors.joining(", ")));
    }
}
