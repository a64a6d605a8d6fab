package dev.espalier.data.table;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** What the cells of a table say. */
final class Cells {
    private static final Pattern WHOLE = Pattern.compile("[+-]?[0-9]{1,18}");
    /** Markers of a missing number or date, next to the empty cell, as R, Python, SQL and the UCI repository write them. */
    private static final Set<String> MISSING = Set.of("", "na", "n/a", "nan", "null", "none", "?");

    private Cells() {}

    static boolean isWhole(String text) {
        return WHOLE.matcher(text).matches();
    }

    static boolean isMissing(String text) {
        return text.length() <= 4 && MISSING.contains(text.toLowerCase(Locale.ROOT));
    }

    /**
     * Whether it is {@code [+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?}. By hand, since a table may have a hundred million
     * cells, and a pattern takes ten times as long.
     */
    static boolean isNumber(String text) {
        int at = skipSign(text, 0);
        int digits = skipDigits(text, at);
        int count = digits - at;
        at = digits;
        if (at < text.length() && text.charAt(at) == '.') {
            int end = skipDigits(text, at + 1);
            count += end - at - 1;
            at = end;
        }
        if (count == 0) {
            return false;
        }
        if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
            int exponent = skipSign(text, at + 1);
            at = skipDigits(text, exponent);
            return at > exponent && at == text.length();
        }
        return at == text.length();
    }

    private static int skipSign(String text, int at) {
        return at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-') ? at + 1 : at;
    }

    private static int skipDigits(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at;
    }

    /** The number that a text is; not finite if it is none, or too large. */
    static float number(String text) {
        return isNumber(text) ? Float.parseFloat(text) : Float.NaN;
    }
}
