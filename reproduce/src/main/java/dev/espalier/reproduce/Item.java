package dev.espalier.reproduce;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A table or figure of the paper, or a question that it leaves open. */
public interface Item {

    /**
     * What it is called on the command line.
     *
     * @return lower case, with dashes
     */
    String name();

    /**
     * What it shows.
     *
     * @return one line
     */
    String title();

    /**
     * Where in the paper it is.
     *
     * @return such as {@code Table 1}
     */
    String place();

    /**
     * Over how many seeds the paper takes its means, if it does.
     *
     * @return the number of seeds at full scale, unless the user says otherwise; at small scale it is one
     */
    default int seeds() {
        return 1;
    }

    /**
     * Whether models are trained, so that the engine is part of where the numbers came from.
     *
     * @return true if they are
     */
    boolean trains();

    /**
     * What can be run alone, each with a training of its own.
     *
     * @return their names on the command line; none if the item is one whole
     */
    default List<String> rows() {
        return List.of();
    }

    /**
     * Looks at a setting before anything is done.
     *
     * @param setting how the item is to be reproduced
     * @throws IllegalArgumentException if it lacks something, such as the real data
     */
    default void require(Setting setting) {}

    /**
     * Does it. What takes long can be stopped, and goes on when it is called with the same folder again.
     *
     * @param setting how; {@link #require} has accepted it
     * @return what came out; empty if it was stopped
     * @throws IOException if something cannot be read or written
     */
    Optional<Findings> run(Setting setting) throws IOException;
}
