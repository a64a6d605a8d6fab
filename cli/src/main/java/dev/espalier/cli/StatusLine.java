package dev.espalier.cli;

import java.io.Console;
import java.io.PrintWriter;

/** The last line of a terminal, written over again and again. Where there is no terminal, nothing is: a log would keep every state. */
final class StatusLine {
    private static final String CLEAR = "\r\u001b[K";

    private final PrintWriter out;
    private final boolean terminal;

    /**
     * A line.
     *
     * @param out where to
     * @param terminal whether that is a terminal
     */
    StatusLine(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /**
     * A line on the terminal, if the program has one.
     *
     * @param out where to
     */
    StatusLine(PrintWriter out) {
        this(out, hasTerminal());
    }

    @SuppressWarnings("SystemConsoleNull") // whether it is null depends on the version and on jdk.console
    private static boolean hasTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    boolean isTerminal() {
        return terminal;
    }

    /** Shows how things stand, in place of what was shown before. */
    void show(String text) {
        if (terminal) {
            out.print(CLEAR + text);
            out.flush();
        }
    }

    /** Takes away what was shown. */
    void clear() {
        show("");
    }

    /** Says something that stays, on a terminal and elsewhere. */
    void say(String text) {
        out.println((terminal ? CLEAR : "") + text);
        out.flush();
    }
}
