package dev.espalier.train.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The process that trains in a folder: it tells a run that goes on from one that was killed, and can be asked to stop from elsewhere.
 *
 * @param pid its number; another process may have the same later
 * @param started when it began, in milliseconds since 1970; 0 if the system does not say
 */
public record Trainer(long pid, long started) {
    /** Systems count from when they were started, and that moves when their clock is set. */
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    /** {@return this process} */
    public static Trainer self() {
        ProcessHandle self = ProcessHandle.current();
        return new Trainer(self.pid(), startOf(self));
    }

    /** {@return the process, if it is still there} */
    public Optional<ProcessHandle> process() {
        return ProcessHandle.of(pid)
                .filter(ProcessHandle::isAlive)
                .filter(process -> Math.abs(startOf(process) - started) <= TOLERANCE.toMillis());
    }

    private static long startOf(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }
}
