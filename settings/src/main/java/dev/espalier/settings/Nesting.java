package dev.espalier.settings;

import java.util.Optional;

/**
 * How deeply brackets, and keys with dots, stand within each other in a text of TOML. The parser calls itself for each, and what it
 * notes down grows with the square of the depth: a line of brackets would be enough to exhaust the stack, or the memory.
 */
final class Nesting {
    /** Settings have two levels, and a value of a study's axis a few more. */
    private static final int MOST = 32;

    private final String toml;
    private int at;
    private int line = 1;
    private int depth;
    private int dots;

    private Nesting(String toml) {
        this.toml = toml;
    }

    /** What is nested too deeply; empty if nothing is. */
    static Optional<Problem> problem(String toml) {
        Nesting nesting = new Nesting(toml);
        while (nesting.at < toml.length()) {
            nesting.advance();
            if (nesting.depth > MOST || nesting.dots > MOST) {
                return Optional.of(new Problem(
                        nesting.line,
                        "more than %d %s: nothing here is nested so deeply"
                                .formatted(MOST, nesting.depth > MOST ? "brackets are open" : "dots in a key")));
            }
        }
        return Optional.empty();
    }

    private void advance() {
        char next = toml.charAt(at);
        switch (next) {
            case '[', '{' -> depth++;
            case ']', '}' -> depth = Math.max(0, depth - 1);
            case '.' -> dots++;
            case '\n' -> {
                line++;
                dots = 0;
            }
            case '=', ',' -> dots = 0;
            case '#' -> skip(toml.indexOf('\n', at) - 1);
            case '"', '\'' -> text(next);
            default -> {}
        }
        at++;
    }

    /** Passes over a text in quotes; what is not closed goes to the end of the line, or of the file. */
    private void text(char quote) {
        String three = String.valueOf(quote).repeat(3);
        boolean many = toml.startsWith(three, at);
        int length = many ? three.length() : 1;
        int end = at + length;
        while (end < toml.length() && (many ? !toml.startsWith(three, end) : toml.charAt(end) != quote)) {
            if (toml.charAt(end) == '\n') {
                if (!many) {
                    at = end - 1;
                    return;
                }
                line++;
            }
            end += quote == '"' && toml.charAt(end) == '\\' ? 2 : 1;
        }
        at = Math.min(toml.length(), end + length) - 1;
    }

    private void skip(int last) {
        at = last < at ? toml.length() : last;
    }
}
