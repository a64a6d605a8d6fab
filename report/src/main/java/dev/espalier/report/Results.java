package dev.espalier.report;

import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.Footprint;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.OutputFidelity;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.RunResult.Files;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RequestedSize;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Tables of what came out of runs. */
final class Results {
    private static final List<String> COSTS = List.of("Parameters", "FLOPs", "Latency", "Speed-up");

    /** What a model is and costs: before or after pruning. */
    private record Model(
            Function<RunResult, ? extends Map<Metric, Double>> scores,
            ToDoubleFunction<RunResult> groupsLeft,
            ToDoubleFunction<RunResult> parameters,
            ToDoubleFunction<RunResult> flops,
            ToDoubleFunction<RunResult> latency,
            ToDoubleFunction<RunResult> speedUp,
            ToDoubleFunction<Files> bytes,
            ToDoubleFunction<Files> threadedLatency) {
        static final Model SPARSE = new Model(
                RunResult::scores,
                RunResult::groupsLeft,
                RunResult::parametersBefore,
                RunResult::flopsBefore,
                RunResult::latencyMillisecondsBefore,
                result -> 1,
                Files::bytesBefore,
                Files::millisecondsBefore);
        static final Model PRUNED = new Model(
                RunResult::prunedScores,
                RunResult::prunedGroupsLeft,
                RunResult::parametersAfter,
                RunResult::flopsAfter,
                RunResult::latencyMillisecondsAfter,
                RunResult::speedUp,
                Files::bytesAfter,
                Files::millisecondsAfter);

        List<String> cells(RunData run, List<Metric> metrics, OptionalInt threads) {
            List<String> cells = new ArrayList<>();
            for (Metric metric : metrics) {
                cells.add(Numbers.metric(metric, run.results(result -> score(scores.apply(result), metric))));
            }
            cells.add(Numbers.percent(run.results(groupsLeft)));
            cells.add(Numbers.spread(run.results(parameters), Numbers::count, ""));
            cells.add(Numbers.spread(run.results(flops), Numbers::large, ""));
            cells.add(Numbers.spread(run.results(latency), Numbers::compact, " ms"));
            cells.add(Numbers.times(run.results(speedUp)));
            if (threads.isPresent()) {
                boolean isKnown =
                        run.results().stream().allMatch(result -> result.files().isKnown());
                cells.add(
                        isKnown
                                ? Numbers.spread(
                                        run.results(result -> threadedLatency.applyAsDouble(result.files())),
                                        Numbers::compact,
                                        " ms")
                                : Numbers.NONE);
                cells.add(
                        isKnown
                                ? Numbers.spread(
                                        run.results(result -> bytes.applyAsDouble(result.files())), Numbers::bytes, "")
                                : Numbers.NONE);
            }
            return cells;
        }
    }

    private Results() {}

    static double score(Map<Metric, Double> scores, Metric metric) {
        return scores.getOrDefault(metric, Double.NaN);
    }

    /** The models of a run: the original (trained without a penalty), the unpruned one and the small one. */
    static Html models(RunData run) {
        if (run.results().isEmpty()) {
            return Html.EMPTY;
        }
        List<Metric> metrics = run.metrics();
        List<String> columns = new ArrayList<>(List.of("Model"));
        metrics.forEach(metric -> columns.add(Curves.capital(metric)));
        columns.add("Groups kept");
        columns.addAll(COSTS);
        OptionalInt threads = threads(run);
        threads.ifPresent(
                number -> columns.addAll(List.of("Latency, %d threads".formatted(number), "Size of the file")));
        Table table = Table.of("The models of this run", columns);
        run.baseline()
                .filter(dense -> !dense.results().isEmpty())
                .ifPresent(dense -> table.row(Html.of("original"), Model.SPARSE.cells(dense, metrics, threads)));
        table.row(Html.of("unpruned <code>model.onnx</code>"), Model.SPARSE.cells(run, metrics, threads));
        table.row(Html.of("small <code>pruned.onnx</code>"), Model.PRUNED.cells(run, metrics, threads));
        requested(run).ifPresent(size -> {
            table.row(Html.text("requested"), cells(size.kind(), size.requested(), columns.size() - 1, metrics));
            table.row(Html.text("reached"), cells(size.kind(), size.reached(), columns.size() - 1, metrics));
        });
        return table.toHtml();
    }

    /** A model that was shrunk, next to what was made of it. */
    static Html shrunk(List<ModelRow> models) {
        Table table = Table.of(
                "The original and the models made of it",
                List.of(
                        "Model",
                        "Output:",
                        "Measure:",
                        "Fidelity",
                        "Trivial model",
                        "Skill",
                        "Parameters",
                        "FLOPs",
                        "Size of the file",
                        "Latency"));
        for (ModelRow model : models) {
            Optional<OutputFidelity> weakest = model.weakest();
            Optional<FidelityFigure> figure = weakest.map(OutputFidelity::figure);
            Footprint cost = model.cost();
            table.row(
                    Html.of("{} <code>{}</code>", model.model(), fileName(model.file())),
                    List.of(
                            weakest.map(OutputFidelity::output).orElse(Numbers.NONE),
                            figure.map(found -> found.measure().words()).orElse(Numbers.NONE),
                            figure.map(found -> found.measure().write(found.fidelity()))
                                    .orElse(Numbers.NONE),
                            figure.map(found -> found.measure().write(found.trivial()))
                                    .orElse(Numbers.NONE),
                            figure.map(FidelityFigure::skillInWords).orElse(Numbers.NONE),
                            Numbers.count(cost.parameters()),
                            Numbers.large(cost.flops()),
                            Numbers.bytes((double) cost.bytes()),
                            Numbers.compact(cost.milliseconds()) + " ms"));
        }
        return Html.of(
                "{}<p class=\"hint\">Fidelity is that of the output with the least skill, on the test split. The trivial model gives the same output for all inputs."
                        + " FLOPs and latency, on one thread, are of {}.</p>",
                table.toHtml(),
                models.getFirst().samples() == 1
                        ? "one sample"
                        : Numbers.count(models.getFirst().samples()) + " samples");
    }

    private static String fileName(String file) {
        return file.substring(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
    }

    private static Optional<RequestedSize> requested(RunData run) {
        try {
            return run.recipe().isEmpty() || run.results().isEmpty()
                    ? Optional.empty()
                    : RequestedSize.of(Recipe.parse(run.name(), run.recipe(), List.of()), run.results());
        } catch (IllegalArgumentException _) {
            return Optional.empty(); // of an earlier version, or with kinds of others
        }
    }

    /** A share in the column of what it is a share of. */
    private static List<String> cells(String kind, double share, int columns, List<Metric> metrics) {
        List<String> cells = new ArrayList<>(Collections.nCopies(columns, ""));
        cells.set(
                metrics.size()
                        + List.of("groups", "parameters", "flops", "latency").indexOf(kind),
                Numbers.percent(share));
        return cells;
    }

    /** On how many threads latency was measured besides one; empty if on none, or if the seeds were on different machines. */
    private static OptionalInt threads(RunData run) {
        List<Integer> all = run.results().stream()
                .map(result -> result.files().threads())
                .distinct()
                .toList();
        return all.size() == 1 && all.getFirst() > 0 ? OptionalInt.of(all.getFirst()) : OptionalInt.empty();
    }

    /** The seeds of a run, one by one; nothing for a run of one seed. */
    static Html seeds(RunData run) {
        if (run.seeds().size() == 1) {
            return Html.EMPTY;
        }
        boolean sized = requested(run).isPresent();
        Table table = table("The seeds of this run", "Seed", run.metrics(), sized);
        for (RunData.Seed seed : run.seeds()) {
            RunData alone = new RunData(seed.name(), seed.folder(), List.of(seed), run.baseline(), run.recipe());
            table.row(Html.text(seed.name()), outcome(alone, run.metrics(), sized));
        }
        if (run.results().size() > 1) {
            table.summary("mean ± deviation", outcome(run, run.metrics(), sized));
        }
        return table.toHtml();
    }

    /** Several runs, one below the other, each with its baseline if it has one. */
    static Html runs(List<RunData> runs, List<Metric> metrics) {
        boolean sized = runs.stream().anyMatch(run -> requested(run).isPresent());
        Table table = table("The runs", "Run", metrics, sized);
        for (RunData run : runs) {
            run.baseline()
                    .ifPresent(dense -> table.row(Html.of("{}, original", run.name()), outcome(dense, metrics, sized)));
            table.row(
                    run.isFinished() ? Html.text(run.name()) : Html.of("{} <em>{}</em>", run.name(), run.status()),
                    outcome(run, metrics, sized));
        }
        return table.toHtml();
    }

    private static Table table(String caption, String first, List<Metric> metrics, boolean sized) {
        List<String> columns = new ArrayList<>(List.of(first));
        metrics.forEach(metric -> columns.add("Small model's " + metric.name()));
        columns.addAll(List.of("Groups kept", "Parameters kept", "FLOPs kept", "Speed-up", "λ", "Time"));
        if (sized) {
            columns.addAll(List.of("Requested", "Reached"));
        }
        return Table.of(caption, columns);
    }

    private static List<String> outcome(RunData run, List<Metric> metrics, boolean sized) {
        List<String> cells = new ArrayList<>();
        for (Metric metric : metrics) {
            cells.add(Numbers.metric(metric, run.results(result -> score(result.prunedScores(), metric))));
        }
        cells.add(Numbers.percent(run.results(RunResult::groupsLeft)));
        cells.add(Numbers.percent(run.results(RunResult::parametersLeft)));
        cells.add(Numbers.percent(run.results(RunResult::flopsLeft)));
        cells.add(Numbers.times(run.results(RunResult::speedUp)));
        cells.add(Numbers.spread(run.results(RunResult::lambda), Numbers::compact, ""));
        cells.add(Numbers.spread(run.results(RunResult::seconds), Numbers::duration, ""));
        if (sized) {
            Optional<RequestedSize> size = requested(run);
            cells.add(size.map(one -> Numbers.percent(one.requested()) + " of " + one.words())
                    .orElse(Numbers.NONE));
            cells.add(size.map(one -> Numbers.percent(one.reached())).orElse(Numbers.NONE));
        }
        return cells;
    }
}
