package dev.espalier.settings;

import java.util.Comparator;

/**
 * Something wrong in a text of settings.
 *
 * @param line the line of the file, from 1; 0 if the problem is on none: a missing section, an override
 * @param message what is wrong, and what would be right
 */
public record Problem(int line, String message) {

    /** As the lines of a file are read; what is on no line comes last. */
    static final Comparator<Problem> READING_ORDER =
            Comparator.comparingInt(problem -> problem.line == 0 ? Integer.MAX_VALUE : problem.line);

    @Override
    public String toString() {
        return line == 0 ? message : "line " + line + ": " + message;
    }
}
