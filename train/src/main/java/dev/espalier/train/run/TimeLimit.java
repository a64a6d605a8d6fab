package dev.espalier.train.run;

import java.util.function.LongSupplier;

/**
 * How long a run may take, from its preparation to its report. A training that would take longer leaves out steps, and what is measured
 * afterwards takes less time.
 *
 * @param seconds how long in all; infinite for no limit
 * @param clock nanoseconds since some moment
 * @param start when the time began, by the clock
 */
public record TimeLimit(double seconds, LongSupplier clock, long start) {
    /** As long as it takes. */
    public static final TimeLimit NONE = new TimeLimit(Double.POSITIVE_INFINITY, System::nanoTime, 0);

    /** Checks the time. */
    public TimeLimit {
        if (!(seconds > 0)) {
            throw new IllegalArgumentException("seconds = " + seconds + " is out of range: it must be above 0");
        }
    }

    /**
     * A limit that begins now.
     *
     * @param seconds how long in all
     * @return the limit
     */
    public static TimeLimit of(double seconds) {
        return of(seconds, System::nanoTime);
    }

    /**
     * A limit that begins now, by another clock.
     *
     * @param seconds how long in all
     * @param clock nanoseconds since some moment
     * @return the limit
     */
    public static TimeLimit of(double seconds, LongSupplier clock) {
        return new TimeLimit(seconds, clock, clock.getAsLong());
    }

    /**
     * The same with some time kept for what comes after the run.
     *
     * @param share the part of all the time that is kept, below 1
     * @return a shorter limit that began at the same time
     */
    public TimeLimit keeping(double share) {
        return new TimeLimit((1 - share) * seconds, clock, start);
    }

    /** {@return whether there is one} */
    public boolean isSet() {
        return seconds < Double.POSITIVE_INFINITY;
    }

    /** {@return seconds since the time began} */
    public double secondsSpent() {
        return (clock.getAsLong() - start) / 1e9;
    }

    /** {@return seconds that are left; negative if time is up, infinite if there is no limit} */
    public double secondsLeft() {
        return isSet() ? seconds - secondsSpent() : Double.POSITIVE_INFINITY;
    }

    /**
     * How long something may take that usually takes a fixed time.
     *
     * @param usual seconds that it takes without a limit
     * @param share the part of what is left that it may take
     * @return seconds, a few tenths at least
     */
    public double atMost(double usual, double share) {
        return isSet() ? Math.min(usual, Math.max(0.2, share * secondsLeft())) : usual;
    }
}
