package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Standing;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A run in the list. What is not known is empty.
 *
 * @param id where it is, from the folder that is shown
 * @param state what it does
 * @param problem why it failed
 * @param metric what counts most
 * @param score its value: of the pruned model if there is one, otherwise in the last evaluation
 * @param groupsLeft share of groups that are not zero
 * @param parametersLeft share of parameters that are left after pruning
 * @param epoch epochs done, of the first seed that is not finished
 * @param epochs epochs that there will be; 0 if that is not known
 * @param started when it began, in UTC
 * @param curve what counts most, over the evaluations so far
 * @param resumable whether there is something to go on from
 * @param report whether there is a {@code report.html}
 * @param version changes whenever the run has
 */
record RunLine(
        String id,
        State state,
        String problem,
        String metric,
        String score,
        String groupsLeft,
        String parametersLeft,
        double epoch,
        int epochs,
        String started,
        List<Double> curve,
        boolean resumable,
        boolean report,
        String version) {

    /** What a run does. */
    enum State {
        /** A process trains it. */
        @JsonProperty("training")
        TRAINING,
        /** It is done. */
        @JsonProperty("finished")
        FINISHED,
        /** It went nowhere, and said why. */
        @JsonProperty("failed")
        FAILED,
        /** Nobody trains it, and it is not done. */
        @JsonProperty("stopped")
        STOPPED,
        /** What it wrote cannot be read. */
        @JsonProperty("broken")
        BROKEN
    }

    /** As many points as a small picture can show. */
    private static final int POINTS = 80;

    static RunLine read(String id, RunFolder folder, boolean trained, String version) throws IOException {
        List<RunResult> results = new ArrayList<>();
        List<List<Metrics>> metrics = new ArrayList<>();
        Optional<String> reason = Optional.empty();
        Optional<Provenance> origin = Optional.empty();
        int underWay = 0;
        for (RunFolder run : folder.runs()) {
            Optional<RunResult> result = run.result();
            result.ifPresent(results::add);
            metrics.add(run.metrics());
            underWay = result.isPresent() ? underWay : metrics.size() - 1;
            reason = reason.or(() -> reasonOf(run));
            if (origin.isEmpty() && Files.exists(run.provenanceFile())) {
                origin = Optional.of(run.provenance());
            }
        }
        boolean finished = results.size() == metrics.size();
        State state = trained
                ? State.TRAINING
                : finished ? State.FINISHED : reason.isPresent() ? State.FAILED : State.STOPPED;
        List<Metrics> last = metrics.stream()
                .filter(lines -> !lines.isEmpty())
                .map(List::getLast)
                .toList();
        Optional<Metric> metric = results.stream()
                .flatMap(result -> result.scores().keySet().stream())
                .findFirst()
                .or(() -> last.stream()
                        .flatMap(line -> line.scores().keySet().stream())
                        .findFirst());
        List<Metrics> shown = metrics.get(underWay);
        return new RunLine(
                id,
                state,
                state == State.FAILED ? reason.orElse("") : "",
                metric.map(Metric::words).orElse(""),
                metric.map(what -> finished
                                ? write(results, what, RunResult::prunedScores)
                                : write(last, what, Metrics::scores))
                        .orElse(""),
                finished ? percent(results, RunResult::groupsLeft) : percent(last, Metrics::groupsLeft),
                finished ? percent(results, RunResult::parametersLeft) : "",
                shown.isEmpty() ? 0 : shown.getLast().epoch(),
                epochs(folder),
                origin.map(Provenance::started).orElse(""),
                metric.map(what -> curve(shown, what)).orElse(List.of()),
                state == State.STOPPED && Standing.of(folder) != Standing.NOTHING,
                Files.exists(folder.report()),
                version);
    }

    /** One that cannot be read. */
    static RunLine broken(String id, String problem, String version) {
        return new RunLine(id, State.BROKEN, problem, "", "", "", "", 0, 0, "", List.of(), false, false, version);
    }

    private static Optional<String> reasonOf(RunFolder run) {
        try {
            return run.reason();
        } catch (IOException unreadable) {
            return Optional.of("why is not known: " + unreadable.getMessage());
        }
    }

    private static <T> String write(List<T> all, Metric metric, Function<T, ? extends Map<Metric, Double>> scores) {
        List<Double> values = all.stream()
                .map(one -> scores.apply(one).getOrDefault(metric, Double.NaN))
                .toList();
        return values.isEmpty() ? "" : metric.write(Spread.of(values));
    }

    private static <T> String percent(List<T> all, Function<T, Double> share) {
        List<Double> shares = all.stream().map(share).filter(Double::isFinite).toList();
        return shares.isEmpty() ? "" : Spread.of(shares).percent();
    }

    private static int epochs(RunFolder folder) throws IOException {
        try {
            return Files.exists(folder.recipe())
                    ? Recipe.read(folder.recipe(), List.of()).totalEpochs()
                    : 0;
        } catch (IllegalArgumentException _) {
            // Of another version, or with kinds that are not on this class path: it can be looked at all the same.
            return 0;
        }
    }

    private static List<Double> curve(List<Metrics> lines, Metric metric) {
        List<Double> values = lines.stream()
                .map(line -> line.scores().getOrDefault(metric, Double.NaN))
                .filter(Double::isFinite)
                .toList();
        if (values.size() <= POINTS) {
            return values;
        }
        return IntStream.range(0, POINTS)
                .mapToObj(i -> values.get((int) ((long) i * (values.size() - 1) / (POINTS - 1))))
                .toList();
    }
}
