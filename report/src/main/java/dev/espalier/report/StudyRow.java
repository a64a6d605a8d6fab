package dev.espalier.report;

import dev.espalier.report.TrialNow.State;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.StudyResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * A point of a study, with all its seeds.
 *
 * @param number its place in the plan, from 1
 * @param branch the point
 * @param trials how the trials of its seeds stand
 */
record StudyRow(int number, Plan.Branch branch, List<TrialNow> trials) {
    /** What a point is said to do whose seeds do different things: the first of these that one of them does. */
    private static final List<State> TELLING = List.of(
            State.RUNNING,
            State.UNDER_WAY,
            State.PAUSED,
            State.STOPPED,
            State.WAITING,
            State.FAILED,
            State.GIVEN_UP,
            State.LEFT_BEHIND,
            State.FINISHED);

    static List<StudyRow> of(StudyResult study) {
        List<StudyRow> rows = new ArrayList<>();
        for (Plan.Branch branch : study.plan().branches()) {
            rows.add(new StudyRow(
                    rows.size() + 1,
                    branch,
                    branch.trials().stream()
                            .map(trial -> TrialNow.of(study, trial))
                            .toList()));
        }
        return rows;
    }

    /** How many a whole training has. */
    int epochs() {
        return branch.recipe().totalEpochs();
    }

    State state() {
        return TELLING.stream()
                .filter(state -> trials.stream().anyMatch(trial -> trial.state() == state))
                .findFirst()
                .orElse(State.WAITING);
    }

    List<RunResult> results() {
        return trials.stream().flatMap(trial -> trial.result().stream()).toList();
    }

    List<Metrics> soFar() {
        return trials.stream().flatMap(trial -> trial.last().stream()).toList();
    }

    /** What is measured here, what counts most first. */
    Optional<Metric> metric() {
        return Stream.concat(
                        results().stream().map(RunResult::mainMetric),
                        soFar().stream()
                                .flatMap(line -> line.scores().keySet().stream().limit(1)))
                .findFirst();
    }

    List<Double> scores(Metric metric) {
        return values(result -> Results.score(result.prunedScores(), metric));
    }

    List<Double> values(ToDoubleFunction<RunResult> value) {
        return results().stream().map(value::applyAsDouble).toList();
    }

    /** Not a number if no seed is finished. */
    static double mean(List<Double> values) {
        return values.isEmpty() ? Double.NaN : Spread.of(values).mean();
    }

    /** The higher the better, whatever the metric. */
    static double goodness(Metric metric, double score) {
        return switch (metric.direction()) {
            case HIGHER -> score;
            case LOWER -> -score;
        };
    }

    /** How far it is with what it does, in words. */
    String progress() {
        State state = state();
        return trials.stream()
                .filter(trial -> trial.state() == state)
                .findFirst()
                .flatMap(trial -> far(trial, state))
                .orElse("");
    }

    /** What else there is to know: how many seeds are finished if not all are, and why others came to nothing. */
    String remarks() {
        List<String> parts = new ArrayList<>();
        long finished =
                trials.stream().filter(trial -> trial.state() == State.FINISHED).count();
        if (finished > 0 && finished < trials.size()) {
            parts.add("%d of %d seeds finished".formatted(finished, trials.size()));
        }
        trials.stream()
                .filter(trial -> !trial.message().isEmpty())
                .map(trial ->
                        (trials.size() > 1 ? seed(trial) + " " + trial.state().words() + ": " : "") + trial.message())
                .forEach(parts::add);
        return String.join("; ", parts);
    }

    private static String seed(TrialNow trial) {
        String name = trial.trial().name();
        return name.substring(name.lastIndexOf('/') + 1).replace('-', ' ');
    }

    private Optional<String> far(TrialNow trial, State state) {
        String epoch = Numbers.compact(trial.epoch());
        return switch (state) {
            case RUNNING, UNDER_WAY -> Optional.of("epoch %s of %d".formatted(epoch, epochs()));
            case LEFT_BEHIND, PAUSED -> Optional.of("after epoch " + epoch);
            case STOPPED -> trial.last().isPresent() ? Optional.of("after epoch " + epoch) : Optional.empty();
            case WAITING, FINISHED, GIVEN_UP, FAILED -> Optional.empty();
        };
    }

    /** One of its values, TOML; empty if it has none of that key. */
    String value(String key) {
        return Objects.requireNonNullElse(branch.point().get(key), "");
    }
}
