package dev.espalier.report;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.run.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * All that a report needs to know of a run but its model.
 *
 * @param name what it is called
 * @param folder where it is
 * @param seeds one part for each seed; at least one
 * @param baseline the dense run that it is compared with
 * @param recipe the recipe as run; empty if there is none
 */
record RunData(String name, RunFolder folder, List<Seed> seeds, Optional<RunData> baseline, String recipe) {
    /** The folder in a run's folder that the dense run is in. */
    private static final String BASELINE = "baseline";

    /**
     * The part of a run that has one seed.
     *
     * @param folder where it is
     * @param metrics the evaluations so far
     * @param result what came out; empty if it is not finished
     * @param reason why it was given up; empty if it was not
     * @param findings predictions of its small model on the test split
     * @param verdict what one should know first, if it did not do what it was for
     * @param provenance where it came from
     */
    record Seed(
            RunFolder folder,
            List<Metrics> metrics,
            Optional<RunResult> result,
            Optional<String> reason,
            Optional<Findings> findings,
            List<String> verdict,
            Optional<Provenance> provenance) {

        private static Seed read(RunFolder folder) throws IOException {
            Optional<RunResult> result = folder.result();
            return new Seed(
                    folder,
                    folder.metrics(),
                    result,
                    folder.reason(),
                    folder.findings(),
                    result.isPresent() ? Verdict.of(folder, result.get()) : List.of(),
                    Files.exists(folder.provenanceFile()) ? Optional.of(folder.provenance()) : Optional.empty());
        }

        String name() {
            return provenance
                    .map(origin -> "seed " + origin.seed())
                    .or(() -> result.map(outcome -> "seed " + outcome.seed()))
                    .orElseGet(() -> nameOf(folder));
        }

        Optional<Metrics> last() {
            return metrics.isEmpty() ? Optional.empty() : Optional.of(metrics.getLast());
        }
    }

    static RunData read(RunFolder folder) throws IOException {
        List<Seed> seeds = new ArrayList<>();
        for (RunFolder run : folder.runs()) {
            seeds.add(Seed.read(run));
        }
        requireRun(folder, seeds);
        RunFolder dense = new RunFolder(folder.path().resolve(BASELINE));
        return new RunData(
                nameOf(folder),
                folder,
                List.copyOf(seeds),
                Files.isDirectory(dense.path()) ? Optional.of(read(dense)) : Optional.empty(),
                recipe(folder, seeds));
    }

    static String nameOf(RunFolder folder) {
        Path name = folder.path().toAbsolutePath().normalize().getFileName();
        return name == null ? folder.path().toString() : name.toString();
    }

    private static void requireRun(RunFolder folder, List<Seed> seeds) {
        boolean something = Stream.concat(Stream.of(folder), seeds.stream().map(Seed::folder))
                .flatMap(run -> Stream.of(run.recipe(), run.provenanceFile(), run.metricsFile(), run.model()))
                .anyMatch(Files::exists);
        if (!something) {
            throw new IllegalArgumentException(folder.path()
                    + " is no folder of a run: it has neither recipe.toml nor provenance.json, metrics.jsonl or"
                    + " model.onnx");
        }
    }

    private static String recipe(RunFolder folder, List<Seed> seeds) throws IOException {
        for (Path file : List.of(folder.recipe(), seeds.getFirst().folder().recipe())) {
            if (Files.exists(file)) {
                return Files.readString(file);
            }
        }
        return "";
    }

    RunData called(String other) {
        return new RunData(other, folder, seeds, baseline, recipe);
    }

    List<RunResult> results() {
        return seeds.stream().flatMap(seed -> seed.result().stream()).toList();
    }

    /** A figure of the result, one for each finished seed. */
    List<Double> results(ToDoubleFunction<RunResult> figure) {
        return results().stream().map(figure::applyAsDouble).toList();
    }

    /** Where each seed stands now. */
    List<Metrics> last() {
        return seeds.stream().flatMap(seed -> seed.last().stream()).toList();
    }

    boolean isFinished() {
        return seeds.stream().allMatch(seed -> seed.result().isPresent());
    }

    /** Whether it, or one of its seeds, went nowhere. */
    boolean isGivenUp() {
        return seeds.stream().anyMatch(seed -> seed.reason().isPresent());
    }

    /** How it stands, in words. */
    String status() {
        return isFinished() ? "finished" : isGivenUp() ? "given up" : "not finished";
    }

    /** What was measured; what counts most comes first. */
    List<Metric> metrics() {
        return Stream.concat(
                        results().stream().map(RunResult::scores),
                        last().stream().map(Metrics::scores))
                .findFirst()
                .map(scores -> List.copyOf(scores.keySet()))
                .orElse(List.of());
    }

    /** What was measured in training. */
    List<Metric> trained() {
        return last().stream()
                .flatMap(line -> line.trainScores().keySet().stream())
                .distinct()
                .toList();
    }

    /** The seed whose model is shown. */
    Optional<Seed> shown() {
        return seeds.stream()
                .filter(seed -> Files.exists(seed.folder().model()))
                .findFirst();
    }
}
