package dev.espalier.core.step;

import dev.espalier.core.prox.Summary;
import java.util.List;

/**
 * What one step did.
 *
 * @param step which step, from 1
 * @param skipped true if the step was skipped because a gradient was not finite
 * @param sets what the proximal operator did to the groups of every penalised set, in the order of the sets; empty after
 *     a skipped step and with the subgradient method
 */
public record StepReport(long step, boolean skipped, List<SetReport> sets) {

    /**
     * What one step did to the groups of a set.
     *
     * @param name the set's name
     * @param summary zeroed, shrunk and untouched groups; evaluations spent; an estimate of the relative error of θ
     * @param penalty the penalty's value after the step
     */
    public record SetReport(String name, Summary summary, double penalty) {}

    /** Copies the list. */
    public StepReport {
        sets = List.copyOf(sets);
    }

    /**
     * What was done to the groups of all sets.
     *
     * @return the sum over sets
     */
    public Summary summary() {
        return sets.stream().map(SetReport::summary).reduce(Summary.EMPTY, Summary::plus);
    }

    /**
     * The penalty's value after the step.
     *
     * @return the sum over sets
     */
    public double penalty() {
        return sets.stream().mapToDouble(SetReport::penalty).sum();
    }
}
