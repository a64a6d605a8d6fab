package dev.espalier.train.study;

import java.io.IOException;
import java.util.function.Supplier;

/** Who wants to know how a study goes. All calls come from the thread that runs it. */
public interface StudyListener {
    /** Nobody. */
    StudyListener NOBODY = new StudyListener() {};

    /**
     * A trial ended, or pauses.
     *
     * @param trial the trial
     * @param outcome how
     * @param soFar gives all that ended so far, this one included; it looks through all trials, so do not ask each time
     * @throws IOException if something cannot be read or written
     */
    default void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) throws IOException {}

    /**
     * Something happened that a user should know.
     *
     * @param text a sentence
     */
    default void onNote(String text) {}
}
