package dev.espalier.core.kernel;

import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Summary;

/** What was done to some groups. One for every tile, so that sums do not depend on who did what when. */
final class Tally {
    private int zeroed;
    private int shrunk;
    private int untouched;
    private long evaluations;
    private int unconverged;
    private double error;
    private double penalty;
    private int zeroedWithin;

    void clear() {
        zeroed = 0;
        shrunk = 0;
        untouched = 0;
        evaluations = 0;
        unconverged = 0;
        error = 0;
        penalty = 0;
        zeroedWithin = 0;
    }

    void count(Branch branch, int evaluationsSpent, double relativeError, double penaltyValue) {
        switch (branch) {
            case ZEROED -> zeroed++;
            case SHRUNK -> shrunk++;
            case UNTOUCHED -> untouched++;
        }
        evaluations += evaluationsSpent;
        error = Math.max(error, relativeError);
        penalty += penaltyValue;
    }

    void countUnconverged() {
        unconverged++;
    }

    void countZeroedWithin(int groups) {
        zeroedWithin += groups;
    }

    /** Adds the penalty of single weights. */
    void addPenalty(double value) {
        penalty += value;
    }

    Summary summary() {
        return new Summary(zeroed, shrunk, untouched, evaluations, unconverged, error, zeroedWithin);
    }

    double penalty() {
        return penalty;
    }
}
