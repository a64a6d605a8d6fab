package dev.espalier.settings;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Which values of its type a key takes, and how to say that.
 *
 * @param text what legal values have in common, to be read after "it must be"
 * @param legal whether a value is one
 * @param <T> the values' type
 */
public record Range<T>(String text, Predicate<T> legal) {

    /**
     * Whole numbers from one on.
     *
     * @param least the smallest
     * @return the range
     */
    public static Range<Integer> atLeast(int least) {
        return new Range<>("at least " + least, value -> value >= least);
    }

    /**
     * Finite numbers above 0.
     *
     * @return the range
     */
    public static Range<Double> positive() {
        return new Range<>("finite and above 0", value -> value > 0 && value < Double.POSITIVE_INFINITY);
    }

    /**
     * Finite numbers from 0 on.
     *
     * @return the range
     */
    public static Range<Double> notNegative() {
        return new Range<>("finite and not below 0", value -> value >= 0 && value < Double.POSITIVE_INFINITY);
    }

    /**
     * Numbers from 0 to below 1.
     *
     * @return the range
     */
    public static Range<Double> fraction() {
        return new Range<>("at least 0 and below 1", value -> value >= 0 && value < 1);
    }

    /**
     * Numbers between 0 and 1, both left out.
     *
     * @return the range
     */
    public static Range<Double> betweenZeroAndOne() {
        return new Range<>("above 0 and below 1", value -> value > 0 && value < 1);
    }

    /**
     * Numbers from 0 to 1.
     *
     * @return the range
     */
    public static Range<Double> share() {
        return new Range<>("from 0 to 1", value -> value >= 0 && value <= 1);
    }

    /**
     * Texts with something in them.
     *
     * @return the range
     */
    public static Range<String> notBlank() {
        return new Range<>("not empty", value -> !value.isBlank());
    }

    /**
     * Regular expressions.
     *
     * @return the range
     */
    public static Range<List<String>> patterns() {
        return new Range<>("regular expressions", values -> values.stream().allMatch(Range::compiles));
    }

    /**
     * Lists that rise.
     *
     * @param least what the first may be at least
     * @param <E> what is listed
     * @return the range
     */
    public static <E extends Comparable<E>> Range<List<E>> rising(E least) {
        return new Range<>(
                "at least one, rising, none below " + least,
                values -> !values.isEmpty()
                        && values.getFirst().compareTo(least) >= 0
                        && values.equals(values.stream().sorted().distinct().toList()));
    }

    /**
     * Lists in which nothing occurs twice.
     *
     * @param <E> what is listed
     * @return the range
     */
    public static <E> Range<List<E>> distinct() {
        return new Range<>(
                "at least one, all different",
                values -> !values.isEmpty() && values.stream().distinct().count() == values.size());
    }

    /**
     * Lists of lengths.
     *
     * @return the range
     */
    public static Range<List<Integer>> sizes() {
        return new Range<>(
                "at least one, none below 1",
                values -> !values.isEmpty() && values.stream().allMatch(value -> value >= 1));
    }

    private static boolean compiles(String pattern) {
        try {
            Pattern.compile(pattern);
            return true;
        } catch (PatternSyntaxException malformed) {
            return false;
        }
    }
}
