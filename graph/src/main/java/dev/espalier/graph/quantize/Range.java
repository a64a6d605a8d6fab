package dev.espalier.graph.quantize;

import dev.espalier.core.check.Check;

/**
 * Between which numbers a tensor's elements are told apart, in 256 steps; zero is always one of them.
 *
 * @param low the smallest, at most zero
 * @param high the largest, at least zero
 */
public record Range(double low, double high) {
    private static final int STEPS = 255;

    /** Parts of what was seen that are tried: a few far elements may be worth less than finer steps for all others. */
    private static final double[] SHARES = {1, 0.98, 0.95, 0.92, 0.88, 0.84, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5};

    /** Checks that both are finite, and takes in zero. */
    public Range {
        Check.finite("low", low);
        Check.finite("high", high);
        low = Math.min(low, 0);
        high = Math.max(high, 0);
    }

    /**
     * The range in which elements are rounded with the least squared error.
     *
     * @param whole what all elements are in
     * @param elements some of them
     * @return a part of that range
     */
    public static Range fitting(Range whole, float[] elements) {
        Range best = whole;
        double least = Double.POSITIVE_INFINITY;
        for (double share : SHARES) {
            Range part = new Range(share * whole.low, share * whole.high);
            double error = part.error(elements, least);
            if (error < least) {
                least = error;
                best = part;
            }
        }
        return best;
    }

    private double error(float[] elements, double enough) {
        double scale = scale();
        long zero = zero();
        double error = 0;
        for (int i = 0; i < elements.length && error < enough; i++) {
            long code = Math.clamp(Math.round(elements[i] / scale) + zero, 0, STEPS);
            double difference = elements[i] - scale * (code - zero);
            error += difference * difference;
        }
        return error;
    }

    /** {@return how far two neighbours are apart, in single precision} */
    double scale() {
        float scale = (float) ((high - low) / STEPS);
        return scale > 0 ? scale : 1;
    }

    /** {@return the code of zero, of those from 0 to 255} */
    int zero() {
        return Math.clamp(Math.round(-low / scale()), 0, STEPS);
    }

    /** {@return the part that is not negative} */
    Range positive() {
        return new Range(0, high);
    }
}
