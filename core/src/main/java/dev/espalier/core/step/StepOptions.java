package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import dev.espalier.core.schedule.ToleranceSchedule;

/**
 * How steps are done, for the whole model.
 *
 * @param method what is done with penalties
 * @param nonFinite what is done with a gradient that is not finite
 * @param tolerance how exactly the proximal operator is solved; float32 weights floor it at 1e-7
 * @param threads number of threads; 0 for as many as the model's size is worth. Results do not depend on it
 * @param metricFloor ρ in {@code [0, 1)}: no entry of the metric D is below ρ times the mean of D over its parameter, so that
 *     neither the gradient step nor the proximal operator takes a weight for free that has hardly seen a gradient; 0 for the
 *     metric as the rule has it
 */
public record StepOptions(
        Method method, NonFinite nonFinite, ToleranceSchedule tolerance, int threads, double metricFloor) {

    /** A thread is worth waking for so many weights. */
    private static final long WEIGHTS_OF_A_THREAD = 1 << 16;

    /** Proximal, failing on a gradient that is not finite, exact, on as many threads as it takes, the metric as the rule has it. */
    public static final StepOptions DEFAULT =
            new StepOptions(Method.PROXIMAL, NonFinite.FAIL, ToleranceSchedule.EXACT, 0, 0);

    /** What a step does with penalties. */
    public enum Method {
        /** The weighted proximal operator ends the step (Algorithm 2): exact zeros. */
        PROXIMAL,
        /** The penalty's subgradient is added to the gradient, for comparison: no zeros. */
        SUBGRADIENT
    }

    /** What a step does with a gradient that is not finite, or too large to square in float32. */
    public enum NonFinite {
        /** It throws {@link NonFiniteGradientException}; the model and the state are left as they were. */
        FAIL,
        /** It does nothing, and is counted: the learning rate goes on as if the step had been done. */
        SKIP
    }

    /** Checks the number of threads and the floor. */
    public StepOptions {
        Check.atLeast("threads", threads, 0);
        Check.fraction("metricFloor", metricFloor);
    }

    /**
     * {@return the same with another method}
     *
     * @param other what is done with penalties
     */
    public StepOptions withMethod(Method other) {
        return new StepOptions(other, nonFinite, tolerance, threads, metricFloor);
    }

    /**
     * {@return the same with another way to treat gradients that are not finite}
     *
     * @param other what is done
     */
    public StepOptions withNonFinite(NonFinite other) {
        return new StepOptions(method, other, tolerance, threads, metricFloor);
    }

    /**
     * {@return the same with another tolerance}
     *
     * @param other how exactly the proximal operator is solved
     */
    public StepOptions withTolerance(ToleranceSchedule other) {
        return new StepOptions(method, nonFinite, other, threads, metricFloor);
    }

    /**
     * {@return the same on another number of threads}
     *
     * @param count number of threads; 0 for as many as the model's size is worth
     */
    public StepOptions withThreads(int count) {
        return new StepOptions(method, nonFinite, tolerance, count, metricFloor);
    }

    /** How many threads step a model that has so many weights to train. */
    int threadsFor(long weights) {
        return threads > 0
                ? threads
                : Math.clamp(
                        weights / WEIGHTS_OF_A_THREAD, 1, Runtime.getRuntime().availableProcessors());
    }

    /**
     * {@return the same with another floor of the metric}
     *
     * @param share ρ in {@code [0, 1)}, the share of its parameter's mean that no entry is below
     */
    public StepOptions withMetricFloor(double share) {
        return new StepOptions(method, nonFinite, tolerance, threads, share);
    }
}
