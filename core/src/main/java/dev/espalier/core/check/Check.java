package dev.espalier.core.check;

/**
 * Argument checks that name the argument, its value and its legal range.
 *
 * <p>Every check returns the value it was given, so that a record's constructor or an assignment can wrap it.
 */
public final class Check {
    private Check() {}

    /**
     * Requires a finite number above zero.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @return the value
     */
    public static double positive(String name, double value) {
        return require(value > 0 && value < Double.POSITIVE_INFINITY, name, value, "finite and above 0");
    }

    /**
     * Requires a finite number that is zero or above.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @return the value
     */
    public static double notNegative(String name, double value) {
        return require(value >= 0 && value < Double.POSITIVE_INFINITY, name, value, "finite and at least 0");
    }

    /**
     * Requires a finite number.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @return the value
     */
    public static double finite(String name, double value) {
        return require(Double.isFinite(value), name, value, "finite");
    }

    /**
     * Requires a number in the half-open interval {@code [0, 1)}, as decay rates are.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @return the value
     */
    public static double fraction(String name, double value) {
        return require(value >= 0 && value < 1, name, value, "at least 0 and below 1");
    }

    /**
     * Requires a number in the closed interval {@code [0, 1]}, as shares of a whole are.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @return the value
     */
    public static double share(String name, double value) {
        return require(value >= 0 && value <= 1, name, value, "at least 0 and at most 1");
    }

    /**
     * Requires a whole number no smaller than a bound.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @param least the smallest legal value
     * @return the value
     */
    public static long atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " = " + value + " is out of range: it must be at least " + least);
        }
        return value;
    }

    /**
     * Requires a whole number no larger than a bound.
     *
     * @param name what the caller calls the argument
     * @param value the argument
     * @param most the largest legal value
     * @return the value
     */
    public static long atMost(String name, long value, long most) {
        if (value > most) {
            throw new IllegalArgumentException(name + " = " + value + " is out of range: it must be at most " + most);
        }
        return value;
    }

    /**
     * Requires every element of a vector to be finite.
     *
     * @param name what the caller calls the argument
     * @param values the argument
     */
    public static void allFinite(String name, double[] values) {
        for (int i = 0; i < values.length; i++) {
            if (!Double.isFinite(values[i])) {
                throw new IllegalArgumentException(outOfRange(name + "[" + i + "]", values[i], "finite"));
            }
        }
    }

    /**
     * Requires every element of a vector to be finite and above zero.
     *
     * @param name what the caller calls the argument
     * @param values the argument
     */
    public static void allPositive(String name, double[] values) {
        for (int i = 0; i < values.length; i++) {
            if (!(values[i] > 0 && values[i] < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException(outOfRange(name + "[" + i + "]", values[i], "finite and above 0"));
            }
        }
    }

    /**
     * Requires two sizes to agree.
     *
     * @param name what the caller calls the argument
     * @param size the argument's size
     * @param other what it must fit
     * @param otherSize that one's size
     */
    public static void sameSize(String name, long size, String other, long otherSize) {
        if (size != otherSize) {
            throw new IllegalArgumentException("%s has %d elements but %s has %d: they must have the same number"
                    .formatted(name, size, other, otherSize));
        }
    }

    private static double require(boolean legal, String name, double value, String range) {
        if (!legal) {
            throw new IllegalArgumentException(outOfRange(name, value, range));
        }
        return value;
    }

    private static String outOfRange(String name, double value, String range) {
        return name + " = " + value + " is out of range: it must be " + range;
    }
}
