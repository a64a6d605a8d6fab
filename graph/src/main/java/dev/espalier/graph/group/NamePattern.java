package dev.espalier.graph.group;

import dev.espalier.graph.Graph;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/** A pattern that matches nothing is a typing error, most likely. */
final class NamePattern {
    /** A message is read by people. */
    private static final int MOST_NAMED = 8;

    private NamePattern() {}

    /**
     * Requires a pattern to match something.
     *
     * @param pattern matches whole names
     * @param what what the names are of, such as {@code node}
     * @param graph the model, for the message
     * @param names all names
     */
    static void requireMatch(Pattern pattern, String what, Graph graph, Collection<String> names) {
        if (names.stream().anyMatch(name -> pattern.matcher(name).matches())) {
            return;
        }
        String text = pattern.pattern();
        Pattern wildcards = ofWildcards(text);
        List<String> meant =
                names.stream().filter(name -> wildcards.matcher(name).matches()).toList();
        String mend = meant.isEmpty()
                ? "the nearest are " + nearest(text, names)
                : "patterns are regular expressions, in which %s, for %s, is %s"
                        .formatted(text, meant.getFirst(), wildcards.pattern());
        throw new IllegalArgumentException(
                "no %s of %s has a name that matches %s: %s".formatted(what, graph.name(), text, mend));
    }

    /** What it would be if it were one of a shell. */
    private static Pattern ofWildcards(String text) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            switch (letter) {
                case '*' -> pattern.append(".*");
                case '?' -> pattern.append('.');
                default ->
                    pattern.append("\\.[]{}()+-^$|".indexOf(letter) < 0 ? "" : "\\")
                            .append(letter);
            }
        }
        return Pattern.compile(pattern.toString());
    }

    /** The names that have the longest piece in common with the words of a pattern. */
    private static List<String> nearest(String pattern, Collection<String> names) {
        return names.stream()
                .sorted(Comparator.comparingInt((String name) -> -common(pattern, name)))
                .limit(MOST_NAMED)
                .toList();
    }

    private static int common(String one, String other) {
        int longest = 0;
        int[] before = new int[other.length() + 1];
        for (int i = 0; i < one.length(); i++) {
            int[] now = new int[other.length() + 1];
            for (int j = 0; j < other.length(); j++) {
                now[j + 1] = one.charAt(i) == other.charAt(j) ? before[j] + 1 : 0;
                longest = Math.max(longest, now[j + 1]);
            }
            before = now;
        }
        return longest;
    }
}
