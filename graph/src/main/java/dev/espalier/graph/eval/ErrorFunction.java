package dev.espalier.graph.eval;

/**
 * The error function, {@code erf(x) = 2/√π ∫₀ˣ e^(−t²) dt}, to a few units in the last place.
 *
 * <p>Near zero the series {@code 2/√π e^(−x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))}, whose terms all have the same sign, so
 * nothing cancels; further out the continued fraction of the complement,
 * {@code √π e^(x²) erfc(x) = 1/(x + ½/(x + 1/(x + 3⁄2/(x + …))))}, which converges faster the larger x is.
 */
final class ErrorFunction {
    /** Where the series hands over to the fraction. */
    private static final double BORDER = 2;

    /** At the border the fraction needs about 60 levels for the last bit of a double. */
    private static final int LEVELS = 80;

    private ErrorFunction() {}

    static double erf(double x) {
        return Math.abs(x) < BORDER ? series(x) : x > 0 ? 1 - fraction(x) : fraction(-x) - 1;
    }

    /** {@code 1 − erf(x)}, without the loss of digits where that is small. */
    static double complement(double x) {
        return Math.abs(x) < BORDER ? 1 - series(x) : x > 0 ? fraction(x) : 2 - fraction(-x);
    }

    private static double series(double x) {
        double term = x;
        double sum = x;
        for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
            term *= 2 * x * x / (2 * n + 1);
            sum += term;
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
    }

    /** The complement of the error function, for x above the border. */
    private static double fraction(double x) {
        double tail = x;
        for (int level = LEVELS; level >= 1; level--) {
            tail = x + level / 2.0 / tail;
        }
        return Math.exp(-x * x) / (Math.sqrt(Math.PI) * tail);
    }
}
