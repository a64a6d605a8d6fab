package dev.espalier.core.prox;

/**
 * A number of about 104 bits whose exponent is an {@code int} by itself: products, quotients and squares of doubles neither overflow
 * nor underflow, and those of two doubles are exact.
 *
 * <p>Its value is {@code (high + low)·2^exponent} with {@code 1 ≤ |high| < 2} and {@code |low| ≤ ulp(high)/2}, or zero. The error-free
 * sums and products are Dekker's and Knuth's.
 *
 * <p>Reference: Dekker, A floating-point technique for extending the available precision, 1971.
 *
 * @param high leading digits
 * @param low the digits after them
 * @param exponent power of two
 */
record Wide(double high, double low, int exponent) implements Comparable<Wide> {
    static final Wide ZERO = new Wide(0, 0, 0);
    static final Wide ONE = new Wide(1, 0, 0);

    /** Beyond this many binary digits a summand does not matter. */
    private static final int DIGITS = 160;

    static Wide of(double value) {
        return value == 0 ? ZERO : Math.abs(value) < Double.MIN_NORMAL ? small(value) : scaled(value, 0, 0);
    }

    private static Wide small(double value) {
        return scaled(value * 0x1p+60, 0, -60);
    }

    private static Wide scaled(double high, double low, int exponent) {
        if (high == 0) {
            return ZERO;
        }
        int shift = Math.getExponent(high);
        return shift == 0
                ? new Wide(high, low, exponent)
                : new Wide(Math.scalb(high, -shift), Math.scalb(low, -shift), exponent + shift);
    }

    /** {@code (high + low)·2^exponent} where {@code low} is the smaller. */
    private static Wide sum(double high, double low, int exponent) {
        double sum = high + low;
        return scaled(sum, low - (sum - high), exponent);
    }

    Wide plus(Wide other) {
        if (high == 0 || other.high == 0) {
            return high == 0 ? other : this;
        }
        if (exponent < other.exponent) {
            return other.plus(this);
        }
        int shift = exponent - other.exponent;
        if (shift > DIGITS) {
            return this;
        }
        double scale = Math.scalb(1.0, -shift);
        double otherHigh = other.high * scale;
        double otherLow = other.low * scale;
        double sum = high + otherHigh;
        double part = sum - high;
        double error = (high - (sum - part)) + (otherHigh - part);
        double lowSum = low + otherLow;
        double lowPart = lowSum - low;
        double lowError = (low - (lowSum - lowPart)) + (otherLow - lowPart);
        error += lowSum;
        double first = sum + error;
        return sum(first, error - (first - sum) + lowError, exponent);
    }

    Wide negated() {
        return high == 0 ? ZERO : new Wide(-high, -low, exponent);
    }

    Wide minus(Wide other) {
        return plus(other.negated());
    }

    Wide times(Wide other) {
        double product = high * other.high;
        double error = Math.fma(high, other.high, -product) + (high * other.low + low * other.high);
        return sum(product, error, exponent + other.exponent);
    }

    /** Twice as much for 1, half as much for −1. */
    Wide shifted(int power) {
        return high == 0 ? ZERO : new Wide(high, low, exponent + power);
    }

    /** The quotient; the divisor must not be zero. */
    Wide over(Wide divisor) {
        double quotient = high / divisor.high;
        double product = quotient * divisor.high;
        double rest = (high - product) - Math.fma(quotient, divisor.high, -product) + (low - quotient * divisor.low);
        return sum(quotient, rest / divisor.high, exponent - divisor.exponent);
    }

    Wide squared() {
        return times(this);
    }

    /** The square root; the number must not be negative. */
    Wide root() {
        if (high == 0) {
            return ZERO;
        }
        int odd = exponent & 1;
        double value = odd == 0 ? high : 2 * high;
        double root = Math.sqrt(value);
        double rest = Math.fma(-root, root, value) + (odd == 0 ? low : 2 * low);
        return sum(root, rest / (2 * root), (exponent - odd) / 2);
    }

    boolean isZero() {
        return high == 0;
    }

    boolean isPositive() {
        return high > 0;
    }

    boolean exceeds(Wide other) {
        return compareTo(other) > 0;
    }

    Wide atLeast(Wide other) {
        return exceeds(other) ? this : other;
    }

    Wide atMost(Wide other) {
        return exceeds(other) ? other : this;
    }

    @Override
    public int compareTo(Wide other) {
        return (int) Math.signum(minus(other).high);
    }

    /** The nearest double; infinite or zero where the number leaves the range. */
    double doubleValue() {
        return Math.scalb(high + low, exponent);
    }
}
