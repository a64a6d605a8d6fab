package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import dev.espalier.core.schedule.ToleranceSchedule;

/**
 * How steps are done, for the whole model.
 *
 * @param method what is done with penalties
 * @param nonFinite what is done with a gradient that is not finite
 * @param tolerance how exactly the proximal operator is solved; float32 weights floor it at 1e-7
 * @param threads number of threads; results do not depend on it
 */
public record StepOptions(Method method, NonFinite nonFinite, ToleranceSchedule tolerance, int threads) {

    /** Proximal, failing on a gradient that is not finite, exact, on all processors. */
    public static final StepOptions DEFAULT = new StepOptions(
            Method.PROXIMAL,
            NonFinite.FAIL,
            ToleranceSchedule.EXACT,
            Runtime.getRuntime().availableProcessors());

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

    /** Checks the number of threads. */
    public StepOptions {
        Check.atLeast("threads", threads, 1);
    }

    /**
     * {@return the same with another method}
     *
     * @param other what is done with penalties
     */
    public StepOptions withMethod(Method other) {
        return new StepOptions(other, nonFinite, tolerance, threads);
    }

    /**
     * {@return the same with another way to treat gradients that are not finite}
     *
     * @param other what is done
     */
    public StepOptions withNonFinite(NonFinite other) {
        return new StepOptions(method, other, tolerance, threads);
    }

    /**
     * {@return the same with another tolerance}
     *
     * @param other how exactly the proximal operator is solved
     */
    public StepOptions withTolerance(ToleranceSchedule other) {
        return new StepOptions(method, nonFinite, other, threads);
    }

    /**
     * {@return the same on another number of threads}
     *
     * @param count number of threads
     */
    public StepOptions withThreads(int count) {
        return new StepOptions(method, nonFinite, tolerance, count);
    }
}
