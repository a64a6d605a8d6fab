package dev.espalier.train.study;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Carries trials out: in this process, in others, or on other machines. */
public interface Launcher extends AutoCloseable {

    /**
     * Starts trials and returns. As many run at once as there is room for; the others wait.
     *
     * @param trials trials that need no others which are not finished
     * @param told told of each one's end, by any thread, one at a time or several at once
     * @throws IOException if trials cannot be started at all
     */
    void launch(List<Trial> trials, Consumer<Outcome> told) throws IOException;

    /** Asks what runs to write down where it stands, and to end. What waits is told to be stopped, and never begins. */
    void stop();

    /** Lets go of threads, processes and connections, once all ends are told. */
    @Override
    void close();
}
