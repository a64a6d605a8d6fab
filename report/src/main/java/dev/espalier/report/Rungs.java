package dev.espalier.report;

import dev.espalier.report.TrialNow.State;
import dev.espalier.train.study.Halving;
import dev.espalier.train.study.Plan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Who was left behind by successive halving. An outcome does not say whether a trial that pauses waits for others or was the worst of them: that
 * is known once all have come as far, see {@link Halving}.
 */
final class Rungs {
    private Rungs() {}

    /**
     * Marks those that do not go on.
     *
     * @param plan the study
     * @param rows how its trials stand
     * @return the same rows, with trials that pause for ever as left behind
     */
    static List<StudyRow> mark(Plan plan, List<StudyRow> rows) {
        List<StudyRow> marked = new ArrayList<>(rows);
        plan.halving()
                .ifPresent(halving ->
                        leftBehind(rows, halving).forEach(row -> marked.set(row.number() - 1, row.leftBehind())));
        return marked;
    }

    private static List<StudyRow> leftBehind(List<StudyRow> rows, Halving halving) {
        int epochs = rows.stream().mapToInt(StudyRow::epochs).min().orElse(0);
        List<StudyRow> behind = new ArrayList<>();
        List<StudyRow> left = rows;
        for (int rung : halving.rungs(epochs, rows.size())) {
            if (!left.stream().flatMap(row -> row.trials().stream()).allMatch(trial -> hasReached(trial, rung))) {
                break;
            }
            Set<Integer> on = goingOn(left, rung, halving.survivors(left.size()));
            left.stream().filter(row -> !on.contains(row.number())).forEach(behind::add);
            left = left.stream().filter(row -> on.contains(row.number())).toList();
        }
        return behind;
    }

    private static boolean hasReached(TrialNow trial, int rung) {
        return trial.state().isDone() || trial.epoch() >= rung;
    }

    /** Those that have gone on, and of the others the best. */
    private static Set<Integer> goingOn(List<StudyRow> rows, int rung, int number) {
        record Ranked(StudyRow row, double goodness) {}
        List<Ranked> ranked = new ArrayList<>();
        for (StudyRow row : rows) {
            if (row.trials().stream().anyMatch(trial -> isBeyond(trial, rung))) {
                ranked.add(new Ranked(row, Double.POSITIVE_INFINITY));
            } else {
                goodness(row).ifPresent(goodness -> ranked.add(new Ranked(row, goodness)));
            }
        }
        return ranked.stream()
                .sorted(Comparator.comparingDouble(Ranked::goodness).reversed())
                .limit(number)
                .map(one -> one.row().number())
                .collect(Collectors.toSet());
    }

    private static boolean isBeyond(TrialNow trial, int rung) {
        return trial.state() == State.FINISHED || trial.state() == State.RUNNING || trial.epoch() > rung;
    }

    private static OptionalDouble goodness(StudyRow row) {
        return row.soFar().stream()
                .flatMap(line -> line.scores().entrySet().stream().limit(1))
                .mapToDouble(score -> StudyRow.goodness(score.getKey(), score.getValue()))
                .average();
    }
}
