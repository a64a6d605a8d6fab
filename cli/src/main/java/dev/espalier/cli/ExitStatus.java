package dev.espalier.cli;

/** What the process tells its caller besides picocli's own numbers. */
final class ExitStatus {
    /** Ended by Ctrl-C, as shells count it. */
    static final int INTERRUPTED = 130;

    private ExitStatus() {}
}
