package dev.espalier.torture;

import java.io.IOException;
import java.nio.file.Path;

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

    /**
     * The campaign cut down to a part of it.
     *
     * @param part what the campaign calls it
     * @return a campaign that tries nothing else
     * @throws IllegalArgumentException if it has no parts
     */
    default Campaign only(String part) {
        throw new IllegalArgumentException("the campaign " + name() + " has no parts: leave out " + part);
    }

    /**
     * Tries once more what a file holds that the campaign left after a failure.
     *
     * @param file the file
     * @param effort where to leave what comes of it
     * @return what was counted
     * @throws IOException if a file cannot be read or written
     * @throws InterruptedException if it is told to stop
     * @throws IllegalArgumentException if it leaves no such files
     */
    default Figures replay(Path file, Effort effort) throws IOException, InterruptedException {
        throw new IllegalArgumentException(
                "the campaign " + name() + " replays no files: give --first and --seed of the case that failed");
    }
}
