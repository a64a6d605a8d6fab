package dev.espalier.data;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Options as text: whoever asks gets a value, and all that is wrong is told at once. */
final class Options {
    private final String kind;
    private final Map<String, String> given;
    private final TreeSet<String> known = new TreeSet<>();
    private final List<String> problems = new ArrayList<>();

    Options(String kind, Map<String, String> given) {
        this.kind = kind;
        this.given = given;
    }

    <T> T optional(String key, T usual, Function<String, T> parser) {
        known.add(key);
        @Nullable String text = given.get(key);
        if (text == null) {
            return usual;
        }
        try {
            return parser.apply(text.strip());
        } catch (IllegalArgumentException problem) {
            problems.add("%s = %s: %s".formatted(key, text, problem.getMessage()));
            return usual;
        }
    }

    /** A whole number above 0; 1 stands in for one that is missing, until {@link #requireSound}. */
    int required(String key, Function<String, Integer> parser) {
        if (!given.containsKey(key)) {
            problems.add(key + " is missing: set it to a whole number");
        }
        return optional(key, 1, parser);
    }

    void requireSound() {
        for (String key : new TreeSet<>(given.keySet())) {
            if (!known.contains(key)) {
                problems.add(key + " is unknown: "
                        + (known.isEmpty() ? "there are no options" : "the options are " + String.join(", ", known)));
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("options of " + kind + " data: " + String.join("; ", problems));
        }
    }

    static boolean truth(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException("it must be true or false");
        }
        return text.equals("true");
    }

    static long whole(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException _) {
            throw new IllegalArgumentException("it must be a whole number");
        }
    }

    static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException _) {
            throw new IllegalArgumentException("it must be a number");
        }
    }
}
