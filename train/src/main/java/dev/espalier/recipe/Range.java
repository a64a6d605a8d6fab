package dev.espalier.recipe;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Which values of its type a key takes, and how to say that. */
record Range<T>(String text, Predicate<T> legal) {

    static Range<Integer> atLeast(int least) {
        return new Range<>("at least " + least, value -> value >= least);
    }

    static Range<Double> positive() {
        return new Range<>("finite and above 0", value -> value > 0 && value < Double.POSITIVE_INFINITY);
    }

    static Range<Double> notNegative() {
        return new Range<>("finite and not below 0", value -> value >= 0 && value < Double.POSITIVE_INFINITY);
    }

    static Range<Double> fraction() {
        return new Range<>("at least 0 and below 1", value -> value >= 0 && value < 1);
    }

    static Range<String> notBlank() {
        return new Range<>("not empty", value -> !value.isBlank());
    }

    static Range<List<String>> patterns() {
        return new Range<>("regular expressions", values -> values.stream().allMatch(Range::compiles));
    }

    static <E extends Comparable<E>> Range<List<E>> rising(E least) {
        return new Range<>(
                "at least one, rising, none below " + least,
                values -> !values.isEmpty()
                        && values.getFirst().compareTo(least) >= 0
                        && values.equals(values.stream().sorted().distinct().toList()));
    }

    static <E> Range<List<E>> distinct() {
        return new Range<>(
                "at least one, all different",
                values -> !values.isEmpty() && values.stream().distinct().count() == values.size());
    }

    static Range<List<Integer>> sizes() {
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
