package dev.espalier.data;

import java.util.List;
import java.util.Optional;

/**
 * What a kind of data found in its files.
 *
 * @param train what a model learns from
 * @param test what it is judged by, alike; empty if the files say nothing of it: then {@link LoadedData} holds out some of the
 *     training rows
 * @param notes what a user should know of the data, a sentence each
 * @param companion what belongs beside a model of it
 */
public record Parts(Dataset train, Optional<Dataset> test, List<String> notes, Companion companion) {
    /** Checks that the parts are alike. */
    public Parts {
        test.ifPresent(train::requireAlike);
        notes = List.copyOf(notes);
    }

    /**
     * Parts of which nothing belongs beside a model.
     *
     * @param train what a model learns from
     * @param test what it is judged by, alike; empty if the files say nothing of it
     * @param notes what a user should know of the data, a sentence each
     */
    public Parts(Dataset train, Optional<Dataset> test, List<String> notes) {
        this(train, test, notes, Companion.NONE);
    }

    /**
     * Two parts, without notes.
     *
     * @param train what a model learns from
     * @param test what it is judged by
     */
    public Parts(Dataset train, Dataset test) {
        this(train, Optional.of(test), List.of());
    }
}
