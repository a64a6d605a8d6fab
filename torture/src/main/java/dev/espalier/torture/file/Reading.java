package dev.espalier.torture.file;

import java.util.Optional;

/**
 * What came of reading a file.
 *
 * @param sound whether it was read to the end
 * @param failure what must not be; empty if the file was read, or refused in words
 * @param nanos how long it took
 * @param allocated how many bytes of memory the reader's thread allocated
 */
record Reading(boolean sound, Optional<Failure> failure, long nanos, long allocated) {
    /**
     * What must not be.
     *
     * @param signature the same for all files that fail alike
     * @param details all that is known
     */
    record Failure(String signature, String details) {}

    boolean failsLike(Failure other) {
        return failure.filter(mine -> mine.signature().equals(other.signature()))
                .isPresent();
    }
}
