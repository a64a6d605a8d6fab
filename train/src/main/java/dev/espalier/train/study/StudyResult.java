package dev.espalier.train.study;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.study.Outcome.End;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What came out of a study, as far as it has come.
 *
 * @param plan its trials
 * @param outcomes how they ended, by name; those are missing that have not
 */
public record StudyResult(Plan plan, SequencedMap<String, Outcome> outcomes) {
    /** What the file is called that keeps it. */
    public static final String FILE = "study.json";

    /** Copies the map. */
    public StudyResult {
        outcomes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(outcomes));
    }

    /**
     * {@return how a trial ended; empty if it has not}
     *
     * @param trial the trial
     */
    public Optional<Outcome> of(Trial trial) {
        return Optional.ofNullable(outcomes.get(trial.name()));
    }

    /** {@return whether something was stopped, and can go on} */
    public boolean isStopped() {
        return plan.trials().stream()
                .anyMatch(trial -> of(trial).filter(Outcome::isOver).isEmpty());
    }

    /**
     * {@return the trials that ended in some way}
     *
     * @param end how
     */
    public List<Trial> ended(End end) {
        return plan.trials().stream()
                .filter(trial ->
                        of(trial).filter(outcome -> outcome.end() == end).isPresent())
                .toList();
    }

    /**
     * What came out of a branch.
     *
     * @param branch the branch
     * @return the results of its seeds that are finished
     * @throws IOException if one cannot be read
     */
    public List<RunResult> results(Plan.Branch branch) throws IOException {
        List<RunResult> results = new ArrayList<>();
        for (Trial trial : branch.trials()) {
            Optional<Outcome> outcome = of(trial).filter(one -> one.end() == End.FINISHED);
            if (outcome.isPresent()) {
                results.add(outcome.get().result());
            }
        }
        return results;
    }

    /**
     * A trial in {@code study.json}. Nothing in it depends on a clock: whoever carries a study out, and however often it is interrupted, the
     * file has the same bytes.
     *
     * @param name the trial's folder
     * @param point what its branch has otherwise than others
     * @param seed its seed
     * @param end {@code finished}, {@code left_behind}, {@code given_up} or {@code failed}
     * @param message why it came to nothing
     * @param scores what {@code pruned.onnx} scores on the test part, by name; of one that was left behind, its evaluation then
     * @param groupsLeft share of groups that are not zero
     * @param parametersBefore number of trained weights
     * @param parametersAfter number of those that are left
     * @param flopsBefore operations for one sample
     * @param flopsAfter those of what is left
     */
    record Line(
            String name,
            Map<String, String> point,
            long seed,
            String end,
            String message,
            Map<String, Double> scores,
            double groupsLeft,
            long parametersBefore,
            long parametersAfter,
            long flopsBefore,
            long flopsAfter) {
        Line {
            point = Collections.unmodifiableMap(new LinkedHashMap<>(point));
            scores = Collections.unmodifiableMap(new LinkedHashMap<>(scores));
        }
    }

    /** What {@code study.json} holds. */
    record Contents(List<Line> trials) {
        Contents {
            trials = List.copyOf(trials);
        }
    }

    /**
     * {@return what came out, as the text of {@code study.json}}
     *
     * @throws IOException if a result cannot be read
     */
    public String toJson() throws IOException {
        List<Line> lines = new ArrayList<>();
        for (Plan.Branch branch : plan.branches()) {
            for (Trial trial : branch.trials()) {
                Outcome outcome = outcomes.get(trial.name());
                if (outcome != null && outcome.isOver()) {
                    lines.add(line(branch, trial, outcome));
                }
            }
        }
        return JsonFile.text(new Contents(lines));
    }

    private static Line line(Plan.Branch branch, Trial trial, Outcome outcome) throws IOException {
        @Nullable RunResult result = outcome.end() == End.FINISHED ? outcome.result() : null;
        @Nullable Metrics then = outcome.end() == End.LEFT_BEHIND ? outcome.metrics() : null;
        Map<String, Double> scores = new LinkedHashMap<>();
        if (result != null) {
            result.prunedScores().forEach((metric, score) -> scores.put(metric.name(), score));
        } else if (then != null) {
            then.scores().forEach((metric, score) -> scores.put(metric.name(), score));
        }
        return new Line(
                trial.name(),
                branch.point(),
                trial.parsed().training().seeds().getFirst(),
                outcome.end().name().toLowerCase(Locale.ROOT),
                result != null || then != null ? "" : outcome.text(),
                scores,
                result != null ? result.groupsLeft() : then != null ? then.groupsLeft() : Double.NaN,
                result == null ? 0 : result.parametersBefore(),
                result == null ? 0 : result.parametersAfter(),
                result == null ? 0 : result.flopsBefore(),
                result == null ? 0 : result.flopsAfter());
    }
}
