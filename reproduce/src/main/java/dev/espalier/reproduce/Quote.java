package dev.espalier.reproduce;

import dev.espalier.train.journal.Spread;

/** Numbers from the paper. */
public final class Quote {
    /** The paper has no such number. */
    public static final Spread NONE = new Spread(Double.NaN, Double.NaN, 0);

    private Quote() {}

    /**
     * A number.
     *
     * @param value as printed
     * @return the number
     */
    public static Spread number(double value) {
        return new Spread(value, Double.NaN, 1);
    }

    /**
     * A percentage.
     *
     * @param percent as printed, from 0 to 100
     * @return the share
     */
    public static Spread percent(double percent) {
        return number(percent / 100);
    }

    /**
     * A percentage, mean and standard deviation over runs.
     *
     * @param percent as printed, from 0 to 100
     * @param deviation as printed
     * @param runs over how many runs
     * @return the share
     */
    public static Spread percent(double percent, double deviation, int runs) {
        return new Spread(percent / 100, deviation / 100, runs);
    }
}
