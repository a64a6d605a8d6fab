package dev.espalier.core.numeric;

/** The Euclidean norm, for any finite vector: no overflow, no underflow, sums pairwise in double. */
public final class Norm {
    /** Between these, squares of the largest element can be summed as they are. */
    private static final double SMALL = 0x1p-450;

    private static final double LARGE = 0x1p+450;

    private Norm() {}

    /**
     * The Euclidean norm.
     *
     * @param x a vector
     * @return {@code ‖x‖}; infinite only if the norm itself exceeds the range of double
     */
    public static double of(double[] x) {
        double largest = largest(x);
        if (largest == 0 || largest == Double.POSITIVE_INFINITY) {
            return largest;
        }
        if (largest >= SMALL && largest <= LARGE) {
            return Math.sqrt(sumOfSquares(x, 0, 0, x.length));
        }
        int exponent = Math.getExponent(largest);
        return Math.scalb(Math.sqrt(sumOfSquares(x, -exponent, 0, x.length)), exponent);
    }

    /**
     * The largest absolute value.
     *
     * @param x a vector
     * @return {@code max |x_i|}, zero for the empty vector
     */
    public static double largest(double[] x) {
        double largest = 0;
        for (double value : x) {
            largest = Math.max(largest, Math.abs(value));
        }
        return largest;
    }

    private static double sumOfSquares(double[] x, int exponent, int from, int to) {
        if (to - from > 256) {
            int middle = (from + to) >>> 1;
            return sumOfSquares(x, exponent, from, middle) + sumOfSquares(x, exponent, middle, to);
        }
        double sum = 0;
        for (int i = from; i < to; i++) {
            double scaled = exponent == 0 ? x[i] : Math.scalb(x[i], exponent);
            sum += scaled * scaled;
        }
        return sum;
    }
}
