package dev.espalier.torture.file;

import dev.espalier.torture.file.Reading.Failure;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Makes a file shorter that still fails alike. */
final class Shortening {
    private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Job job;
    private final String target;
    private final Failure failure;
    private final long start = System.nanoTime();

    Shortening(Job job, String target, Failure failure) {
        this.job = job;
        this.target = target;
        this.failure = failure;
    }

    /** Cuts out pieces, large ones first, for as long as that goes and time is left. */
    byte[] of(byte[] file) throws IOException, InterruptedException {
        byte[] shortest = file;
        for (int length = Math.max(1, file.length / 2); length >= 1; length /= 2) {
            for (int at = 0; at < shortest.length && System.nanoTime() - start < NANOS; ) {
                int end = Math.min(shortest.length, at + length);
                byte[] cut = job.target(target).mend(Mutations.splice(shortest, at, end, new byte[0]));
                if (cut.length < shortest.length && job.read(target, cut).failsLike(failure)) {
                    shortest = cut;
                } else {
                    at += length;
                }
            }
        }
        return shortest;
    }
}
