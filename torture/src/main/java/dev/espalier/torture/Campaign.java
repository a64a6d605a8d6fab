package dev.espalier.torture;

import java.io.IOException;

/**
 * Something that Espalier must withstand, tried over and over. Campaigns are services: a line in {@code META-INF/services} makes one
 * known to {@link Main}, which needs no list of them.
 */
public interface Campaign {
    /**
     * {@return what users call it, a single word}
     */
    String name();

    /**
     * {@return what it does, in one line}
     */
    String description();

    /**
     * Goes on for as long as it is to. What is found is counted; an exception means that the campaign itself could not be carried out.
     *
     * @param effort how long, from which seed, and where to leave what replays a failure
     * @return what was counted
     * @throws IOException if a file of its own cannot be read or written
     * @throws InterruptedException if it is told to stop
     */
    Figures run(Effort effort) throws IOException, InterruptedException;
}
