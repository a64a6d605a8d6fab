package dev.espalier.reproduce;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Method;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What one training of a row came to, and all that tables and plots are made of: what is kept of it as a small JSON file. It is read
 * from the small files of a run's folder; the models need not be there.
 *
 * <p>A machine may be lost after the last epoch and before ONNX Runtime has judged what was written. Such a run is not {@link #judged}:
 * its scores are those of the network where it was trained, and what pruning leaves is not known.
 *
 * @param row the name of the row's recipe
 * @param variant what it has otherwise than the row, see {@link Variant}
 * @param seed what all that was random depended on
 * @param precision how exactly products were computed
 * @param judged whether ONNX Runtime has judged the written models
 * @param judgedSamples how many samples it was asked about; 0 for all
 * @param scores what the trained model scores on the test part, by the metric's name
 * @param prunedScores what the pruned one does; empty if not judged
 * @param groupsLeft share of groups that are not zero
 * @param groups number of all groups
 * @param parameters number of them, before and after pruning
 * @param flops floating point operations for one sample
 * @param milliseconds how long ONNX Runtime takes for one sample on one thread
 * @param largestDifference the largest one between outputs of both models; NaN if not judged
 * @param steps number of them
 * @param seconds spent on training
 * @param secondsPerEpoch the same for an epoch and its evaluation, without the first, which starts up
 * @param provenance where it came from
 * @param course how it went
 * @param recipe the recipe as run, but for where its data lay
 */
record RowResult(
        String row,
        SequencedMap<String, String> variant,
        long seed,
        String precision,
        boolean judged,
        long judgedSamples,
        SequencedMap<String, Double> scores,
        SequencedMap<String, Double> prunedScores,
        double groupsLeft,
        long groups,
        Change parameters,
        Change flops,
        Change milliseconds,
        double largestDifference,
        long steps,
        double seconds,
        double secondsPerEpoch,
        Provenance provenance,
        Course course,
        String recipe) {

    /**
     * What pruning makes of a quantity.
     *
     * @param before of the trained model; NaN if it is not known
     * @param after of the pruned one
     */
    record Change(double before, double after) {
        static final Change UNKNOWN = new Change(Double.NaN, Double.NaN);

        double left() {
            return after / before;
        }
    }

    /**
     * A training, from evaluation to evaluation.
     *
     * @param epochs epochs done
     * @param seconds since it began
     * @param losses on the test part
     * @param groupsLeft share of groups that are not zero
     * @param scores on the test part, by the metric's name
     */
    record Course(
            List<Double> epochs,
            List<Double> seconds,
            List<Double> losses,
            List<Double> groupsLeft,
            SequencedMap<String, List<Double>> scores) {
        /** Copies what it is given. */
        Course {
            epochs = List.copyOf(epochs);
            seconds = List.copyOf(seconds);
            losses = List.copyOf(losses);
            groupsLeft = List.copyOf(groupsLeft);
            scores = copy(scores);
        }

        private static Course of(List<Metrics> lines) {
            SequencedMap<String, List<Double>> scores = new LinkedHashMap<>();
            for (Metric metric : lines.getLast().scores().keySet()) {
                scores.put(
                        metric.name(),
                        lines.stream()
                                .map(line -> line.scores().getOrDefault(metric, Double.NaN))
                                .toList());
            }
            return new Course(
                    lines.stream().map(Metrics::epoch).toList(),
                    lines.stream().map(Metrics::seconds).toList(),
                    lines.stream().map(Metrics::loss).toList(),
                    lines.stream().map(Metrics::groupsLeft).toList(),
                    scores);
        }

        private double secondsPerEpoch() {
            double epochsDone = epochs.getLast() - epochs.getFirst();
            return epochsDone > 0
                    ? (seconds.getLast() - seconds.getFirst()) / epochsDone
                    : seconds.getLast() / epochs.getLast();
        }
    }

    /** Copies the maps. */
    RowResult {
        variant = copy(variant);
        scores = copy(scores);
        prunedScores = copy(prunedScores);
    }

    private static <T> SequencedMap<String, T> copy(SequencedMap<String, T> map) {
        return Collections.unmodifiableSequencedMap(new LinkedHashMap<>(map));
    }

    /**
     * Reads what a training came to.
     *
     * @param row the name of the row's recipe
     * @param protocol how the row is trained
     * @param folder the run's folder; it may not be there
     * @return empty if the training has not come to its end, or was given up
     */
    static Optional<RowResult> read(String row, Recipe protocol, RunFolder folder) throws IOException {
        List<Metrics> lines = folder.metrics();
        if (lines.isEmpty() || !Files.exists(folder.recipe())) {
            return Optional.empty();
        }
        Recipe recipe = Recipe.read(folder.recipe(), List.of());
        Optional<RunResult> result = folder.result();
        if (result.isEmpty() && (folder.reason().isPresent() || !isTrained(recipe, lines))) {
            return Optional.empty();
        }
        Metrics last = lines.getLast();
        Course course = Course.of(lines);
        return Optional.of(new RowResult(
                row,
                Variant.of(protocol, recipe).changes(),
                recipe.training().seeds().getFirst(),
                recipe.training().precision().name().toLowerCase(Locale.ROOT),
                result.isPresent(),
                result.map(judged -> judged.files().judged()).orElse(0L),
                named(result.map(RunResult::scores).orElse(last.scores())),
                named(result.map(RunResult::prunedScores).orElseGet(LinkedHashMap::new)),
                result.map(RunResult::groupsLeft).orElse(last.groupsLeft()),
                groups(lines),
                result.map(judged -> new Change(judged.parametersBefore(), judged.parametersAfter()))
                        .orElse(Change.UNKNOWN),
                result.map(judged -> new Change(judged.flopsBefore(), judged.flopsAfter()))
                        .orElse(Change.UNKNOWN),
                result.map(judged -> new Change(judged.latencyMillisecondsBefore(), judged.latencyMillisecondsAfter()))
                        .orElse(Change.UNKNOWN),
                result.map(RunResult::maxAbsDifference).orElse(Double.NaN),
                last.step(),
                result.map(RunResult::seconds).orElse(last.seconds()),
                course.secondsPerEpoch(),
                folder.provenance(),
                course,
                recipe.placedLike(protocol).toToml()));
    }

    /** To the last epoch. After subgradients a threshold follows, without which the groups that are left say nothing. */
    private static boolean isTrained(Recipe recipe, List<Metrics> lines) {
        return lines.getLast().epoch() >= recipe.totalEpochs()
                && !(recipe.method().kind().equals(Method.SUBGRADIENT)
                        && recipe.phases().healEpochs() == 0);
    }

    private static SequencedMap<String, Double> named(Map<Metric, Double> scores) {
        SequencedMap<String, Double> named = new LinkedHashMap<>();
        scores.forEach((metric, score) -> named.put(metric.name(), score));
        return named;
    }

    /** A line has the number of those that are left, and the share that it is. */
    private static long groups(List<Metrics> lines) {
        return lines.stream()
                .filter(line -> line.groupsLeft() > 0)
                .mapToLong(line -> Math.round(line.nonZeroGroups().values().stream()
                                .mapToDouble(Integer::doubleValue)
                                .sum()
                        / line.groupsLeft()))
                .findFirst()
                .orElse(0);
    }

    /** A score by the name of its metric. */
    double score(String metric) {
        Double score = scores.get(metric);
        if (score == null) {
            throw new IllegalArgumentException("no score %s among %s".formatted(metric, scores));
        }
        return score;
    }

    double speedUp() {
        return milliseconds.before() / milliseconds.after();
    }
}
