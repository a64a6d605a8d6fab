package dev.espalier.spark;

import dev.espalier.train.study.Storage;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A file that asks all machines to stop, seen by the tasks of a process together: no more than one of them looks, now and then. */
final class StopMarker {
    /** What the file is called, in the folder of the study. */
    static final String FILE = "stop";

    private static final long PATIENCE_NANOSECONDS = Duration.ofSeconds(2).toNanos();
    private static final Map<String, StopMarker> MARKERS = new ConcurrentHashMap<>();

    private final Storage storage;
    private boolean there;
    private boolean asked;
    private long lastAsked;

    private StopMarker(Storage storage) {
        this.storage = storage;
    }

    /**
     * {@return the marker of a study}
     *
     * @param launcher who launched it: a later one's marker is another, though the file is the same
     * @param root the folder of the study
     * @param storage its files
     */
    static StopMarker of(String launcher, String root, Storage storage) {
        return MARKERS.computeIfAbsent(launcher + " " + root, _ -> new StopMarker(storage));
    }

    /** {@return whether the file is there, as of no more than two seconds ago} */
    synchronized boolean isThere() {
        long now = System.nanoTime();
        if (!there && (!asked || now - lastAsked > PATIENCE_NANOSECONDS)) {
            asked = true;
            lastAsked = now;
            try {
                there = storage.exists(FILE);
            } catch (IOException _) {
                // Then the next time: that a store cannot be reached is no reason to stop.
            }
        }
        return there;
    }
}
