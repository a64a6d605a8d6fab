package dev.espalier.train.study;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunResult;
import java.io.IOException;

/**
 * How a trial ended, as text.
 *
 * @param trial the trial's name
 * @param end how
 * @param text of one that is finished {@code result.json}, of one that pauses or was left behind its line of {@code metrics.jsonl} then, of
 *     one that came to nothing why
 */
public record Outcome(String trial, End end, String text) {
    /** How trials end. */
    public enum End {
        /** It has a result. */
        FINISHED,
        /** It has come as far as it was told to, and waits until all others have too. */
        PAUSED,
        /** It was not among the best when all had come as far, and goes no further. */
        LEFT_BEHIND,
        /** It was asked to stop, and can go on. */
        STOPPED,
        /** Its training went nowhere. */
        GIVEN_UP,
        /** Something else went wrong. */
        FAILED
    }

    /** {@return whether there is nothing left to do for it} */
    public boolean isOver() {
        return switch (end) {
            case FINISHED, LEFT_BEHIND, GIVEN_UP, FAILED -> true;
            case PAUSED, STOPPED -> false;
        };
    }

    /**
     * {@return what came out of a finished trial}
     *
     * @throws IOException if that cannot be read
     */
    public RunResult result() throws IOException {
        return JsonFile.parse("the result of " + trial, text, RunResult.class);
    }

    /**
     * {@return how a trial stands that pauses, or stood when it was left behind}
     *
     * @throws IOException if that cannot be read
     */
    public Metrics metrics() throws IOException {
        return JsonFile.parse("the metrics of " + trial, text, Metrics.class);
    }

    /** {@return the outcome as JSON, on one line} */
    public String toJson() {
        return JsonFile.line(this);
    }

    /**
     * Reads an outcome.
     *
     * @param json what {@link #toJson} wrote
     * @return the outcome
     * @throws IOException if it is none
     */
    public static Outcome parse(String json) throws IOException {
        return JsonFile.parse("an outcome", json, Outcome.class);
    }
}
