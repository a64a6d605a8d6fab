package dev.espalier.train.run;

import java.util.Arrays;

/**
 * Leaves out steps of a training that would not end in time otherwise. All schedules go on as if the steps had been done. It looks after
 * every step how long the last ones took, so that it also ends in time on a machine that becomes slower.
 */
final class StepBudget {
    /** Steps whose median says how long one takes. */
    private static final int WINDOW = 15;

    /** Fewer steps are not left out at once: the data has to be opened again behind them. */
    private static final int FEWEST = 8;

    /** The part of the time that is for pruning, for comparing widths and for the report, */
    private static final double AFTERWARDS = 0.15;

    /** but no more seconds. */
    private static final double MAX_AFTERWARDS = 40;

    /** So many times the model is asked about a part of the data when it is trained. */
    private static final int EVALUATIONS = 4;

    /** The part of the time that evaluations may take which nothing depends on. */
    private static final double WATCHING = 0.1;

    private final TimeLimit limit;
    private final double[] recent = new double[WINDOW];
    private int steps;
    private double inSteps;
    private double inEvaluations;
    private double evaluation;
    private double mark;

    /** Steps that should have been left out already. */
    private double owed;

    StepBudget(TimeLimit limit) {
        this.limit = limit;
        this.mark = limit.secondsSpent();
    }

    /** Begins to count the time of what follows. */
    void mark() {
        mark = limit.secondsSpent();
    }

    /** A step was done since the mark. */
    void stepped() {
        double seconds = limit.secondsSpent() - mark;
        recent[steps++ % WINDOW] = seconds;
        inSteps += seconds;
    }

    /** The model was evaluated since the mark. */
    void evaluated() {
        evaluation = limit.secondsSpent() - mark;
        inEvaluations += evaluation;
    }

    /** Whether there is time to evaluate the model only to be watched. */
    boolean mayWatch() {
        return !limit.isSet() || inEvaluations + evaluation <= WATCHING * (inSteps + inEvaluations);
    }

    /** {@return how many steps there are for each that can be done in time, at least 1} */
    private double ratio(long left) {
        if (!limit.isSet() || steps == 0 || left == 0) {
            return 1;
        }
        double[] sorted = Arrays.copyOf(recent, Math.min(steps, WINDOW));
        Arrays.sort(sorted);
        double step = sorted[sorted.length / 2];
        double afterwards = Math.min(AFTERWARDS * limit.seconds(), MAX_AFTERWARDS) + EVALUATIONS * evaluation;
        double watching = inEvaluations / Math.max(inSteps + inEvaluations, Double.MIN_NORMAL);
        double time = (limit.secondsLeft() - afterwards) * (1 - Math.min(watching, WATCHING));
        return time <= 0 ? Double.POSITIVE_INFINITY : Math.max(1, left * step / time);
    }

    /** Whether more steps are to come than can be done in time. */
    boolean isLate(long left) {
        return ratio(left) > 1;
    }

    /**
     * How many steps are to be left out now, after a step.
     *
     * @param left steps that are to come
     * @param most how many of these may be left out next
     * @return how many; 0 mostly
     */
    long leaveOut(long left, long most) {
        double ratio = ratio(left);
        if (ratio == 1) {
            owed = 0;
            return 0;
        }
        owed = Math.min((double) left, owed + ratio - 1);
        long now = Math.min((long) owed, most);
        if (now < FEWEST && now < most) {
            return 0;
        }
        owed -= now;
        return now;
    }
}
