package dev.espalier.cli;

import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.SeededZeros;
import dev.espalier.runtime.Survey;
import dev.espalier.runtime.Survey.Outcome;
import dev.espalier.runtime.Timing;
import dev.espalier.runtime.Timing.Goal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier survey}: what can be done with models that are there already. */
@Command(
        name = "survey",
        description = {
            "Check which models of a folder can be read and pruned.",
            "Prints for each model whether it is read, whether its outputs stay the same, and the effect of pruning.",
            "For the latter, a share of the groups of every layer is set to zero at random. Accuracy would be lost, but sizes and latencies are those of a model that was trained to that sparsity. Nothing is written.",
        })
final class SurveyCommand implements Callable<Integer> {
    private static final String ENDING = ".onnx";
    private static final long LENGTH = 32;

    /** Below that, a pruned model counts as slower: the same file measured twice differs by some per cent. */
    private static final double NOISE = 0.95;

    /** How the table is written. */
    enum Format {
        /** For a terminal. */
        TABLE,
        /** For a page. */
        MARKDOWN
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "DIR",
            description = "Folders with ONNX files, or in whose folders there are such; or files.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> places;

    @Option(
            names = "--zero",
            paramLabel = "SHARE",
            description = "The share of every layer's groups that are made zero (default: ${DEFAULT-VALUE}).")
    private double zero = 0.4;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Where the chance starts from that says which (default: ${DEFAULT-VALUE}).")
    private long seed = 1;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "How many threads ONNX Runtime gets (default: ${DEFAULT-VALUE}).")
    private int threads = 1;

    @Option(
            names = "--latency-seconds",
            paramLabel = "S",
            description =
                    "How long widths may be tried and latency be measured, for each model (default: ${DEFAULT-VALUE}).")
    private double latencySeconds = Timing.SECONDS;

    @Option(names = "--no-latency", description = "Measure no latency, and cut all that can go.")
    private boolean noLatency;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Format format = Format.TABLE;

    @Override
    public Integer call() throws IOException {
        if (!(zero >= 0 && zero < 1)) {
            throw new IllegalArgumentException(
                    "--zero %s is no share: give a number from 0 to below 1".formatted(zero));
        }
        if (!(latencySeconds > 0)) {
            throw new IllegalArgumentException(
                    "--latency-seconds %s is out of range: it must be above 0; --no-latency measures nothing"
                            .formatted(latencySeconds));
        }
        List<Path> files = files();
        SequencedMap<Path, Survey.Row> rows = new LinkedHashMap<>();
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        for (Path file : files) {
            String place = "%d of %d: %s".formatted(rows.size() + 1, files.size(), file);
            status.show(place);
            Timing timing = noLatency
                    ? Timing.size(0)
                    : new Timing(Goal.LATENCY, latencySeconds, words -> status.show(place + ": " + words));
            rows.put(
                    file,
                    new Survey(new SeededZeros(zero, seed), new SampleInputs(1, LENGTH, seed), threads, timing)
                            .of(file));
        }
        status.clear();
        PrintWriter out = spec.commandLine().getOut();
        print(rows, out);
        out.flush();
        return rows.values().stream().anyMatch(row -> row.outcome() == Outcome.DIFFERENT) ? 1 : 0;
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path place : places) {
            if (Files.notExists(place)) {
                throw new NoSuchFileException(place.toString());
            }
            try (Stream<Path> inside = Files.walk(place)) {
                inside.filter(file -> file.equals(place) || file.toString().endsWith(ENDING))
                        .filter(Files::isRegularFile)
                        .sorted()
                        .forEach(files::add);
            }
        }
        if (files.isEmpty()) {
            throw new IllegalArgumentException("no file in %s ends in %s: give folders or files of ONNX models"
                    .formatted(places.stream().map(Path::toString).collect(Collectors.joining(", ")), ENDING));
        }
        return files;
    }

    private void print(Map<Path, Survey.Row> rows, PrintWriter out) {
        List<List<String>> cells = new ArrayList<>();
        cells.add(List.of(
                "model", "opset", "outcome", "parameters", "left", "FLOPs left", "before", "after", "speed-up"));
        rows.forEach((file, row) -> cells.add(cells(file, row)));
        switch (format) {
            case TABLE -> Columns.print(cells, out);
            case MARKDOWN -> Columns.printMarkdown(cells, out);
        }
        out.println();
        rows.forEach((file, row) -> {
            if (!row.words().isEmpty()) {
                out.printf("%s%s: %s%n", format == Format.MARKDOWN ? "* " : "", name(file), row.words());
            }
        });
        if (rows.values().stream().anyMatch(row -> !row.words().isEmpty())) {
            out.println();
        }
        out.println(summary(List.copyOf(rows.values())));
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    private List<String> cells(Path file, Survey.Row row) {
        List<String> cells = new ArrayList<>(List.of(
                name(file),
                row.opset() == 0 ? "" : Integer.toString(row.opset()),
                row.outcome().name().toLowerCase(Locale.ROOT),
                row.opset() == 0 ? "" : String.format(Locale.ROOT, "%,d", row.parameters())));
        if (row.pruned().isEmpty()) {
            cells.addAll(List.of("", "", "", "", ""));
        } else {
            PruneReport pruned = row.pruned().get();
            cells.add(percent(pruned.parametersLeft()));
            cells.add(percent(flopsLeft(pruned)));
            cells.add(milliseconds(pruned.latencyMillisecondsBefore()));
            cells.add(milliseconds(pruned.latencyMillisecondsAfter()));
            cells.add(noLatency ? "" : String.format(Locale.ROOT, "%.2f", speedUp(pruned)));
        }
        return cells;
    }

    private static String summary(List<Survey.Row> rows) {
        List<PruneReport> pruned =
                rows.stream().flatMap(row -> row.pruned().stream()).toList();
        List<PruneReport> timed = pruned.stream()
                .filter(report -> report.latencyMillisecondsAfter().isPresent())
                .toList();
        List<Double> worth = timed.stream()
                .map(report -> speedUp(report) * flopsLeft(report))
                .sorted(Comparator.naturalOrder())
                .toList();
        String counts = "%d models: %d read, %d of them equal to the file, %d pruned and equal."
                .formatted(
                        rows.size(),
                        count(rows, row -> row.outcome() != Outcome.REFUSED),
                        count(rows, row -> row.outcome().compareTo(Outcome.READ) >= 0),
                        pruned.size());
        return timed.isEmpty()
                ? counts
                : String.format(
                        Locale.ROOT,
                        "%s Slower than before: %d. The median of the speed-up, divided by how many times fewer FLOPs there are, is %.2f.",
                        counts,
                        timed.stream().filter(report -> speedUp(report) < NOISE).count(),
                        worth.get(worth.size() / 2));
    }

    private static long count(List<Survey.Row> rows, Predicate<Survey.Row> which) {
        return rows.stream().filter(which).count();
    }

    private static double flopsLeft(PruneReport report) {
        return (double) report.flopsAfter() / Math.max(report.flopsBefore(), 1);
    }

    private static double speedUp(PruneReport report) {
        return report.latencyMillisecondsBefore().orElseThrow()
                / report.latencyMillisecondsAfter().orElseThrow();
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private static String milliseconds(OptionalDouble value) {
        return value.isPresent() ? String.format(Locale.ROOT, "%.3g ms", value.getAsDouble()) : "";
    }
}
