package dev.espalier.graph.eval;

import java.util.Map;
import java.util.Set;
import java.util.function.LongBinaryOperator;

/** Reads the formula of a dimension, as its text shows it, and puts numbers in place of its symbols. */
final class Formula {
    private static final Set<Character> ENDS = Set.of(' ', '*', '(', ')', ',', '/');
    private final String text;
    private final Map<String, Long> symbols;
    private int at;

    private Formula(String text, Map<String, Long> symbols) {
        this.text = text;
        this.symbols = symbols;
    }

    static long value(String text, Map<String, Long> symbols) {
        // A symbol that is a formula itself has dots where it would have stars.
        Formula formula = new Formula(text.replace('·', '*'), symbols);
        long value = formula.sum();
        if (formula.at < formula.text.length()) {
            throw new IllegalArgumentException("what is '" + formula.text.substring(formula.at) + "' in " + text + "?");
        }
        return value;
    }

    private boolean next(String token) {
        boolean found = text.startsWith(token, at);
        at += found ? token.length() : 0;
        return found;
    }

    private long sum() {
        long value = product();
        while (true) {
            if (next(" + ")) {
                value += product();
            } else if (next(" - ")) {
                value -= product();
            } else {
                return value;
            }
        }
    }

    private long product() {
        long value = factor();
        while (next("*")) {
            value *= factor();
        }
        return value;
    }

    private long factor() {
        if (next("-")) {
            return -factor();
        }
        if (next("floor((")) {
            return both(")/(", "))", Math::floorDiv);
        }
        if (next("max(")) {
            return both(", ", ")", Math::max);
        }
        if (next("min(")) {
            return both(", ", ")", Math::min);
        }
        int start = at;
        while (at < text.length() && !ENDS.contains(text.charAt(at))) {
            at++;
        }
        String word = text.substring(start, at);
        Long number = symbols.get(word);
        return number == null ? Long.parseLong(word) : number;
    }

    private long both(String between, String end, LongBinaryOperator function) {
        long left = sum();
        boolean separated = next(between);
        long right = sum();
        if (!separated || !next(end)) {
            throw new IllegalArgumentException("'" + between + "' and '" + end + "' expected in " + text + " at " + at);
        }
        return function.applyAsLong(left, right);
    }
}
