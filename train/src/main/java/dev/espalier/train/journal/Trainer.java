package dev.espalier.train.journal;

import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The process that trains in a folder, or directs a study: it tells a run that goes on from one that was killed, and can be asked to stop from elsewhere.
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

    /**
     * Looks which process a file names.
     *
     * @param file the file; it may not be there
     * @return the process; empty if none is named, or one that has ended
     * @throws IOException if the file cannot be read
     */
    public static Optional<ProcessHandle> in(Path file) throws IOException {
        try {
            return JsonFile.read(file, Trainer.class).process();
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (DamagedException _) {
            // Never forced to disk, so a cut of the power may leave half of it: and then nobody is left to be named.
            return Optional.empty();
        }
    }

    /**
     * Writes this process into a file, unless another is named there. Of two that try at once, one is refused: a lock on what becomes the
     * file is held from the look at the old one until the new one is in its place.
     *
     * @param file the file
     * @return the other process; empty if this one is in the file now
     * @throws IOException if the file cannot be read or written
     */
    public static Optional<ProcessHandle> enter(Path file) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".tmp");
        synchronized (Trainer.class) { // a lock is the whole process's
            try (FileChannel channel = FileChannel.open(next, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                lock(channel);
                Optional<ProcessHandle> other = in(file).filter(process -> !process.equals(ProcessHandle.current()));
                if (other.isPresent()) {
                    Files.deleteIfExists(next);
                    return other;
                }
                Writing.all(
                        channel.truncate(0), ByteBuffer.wrap(Json.pretty(self()).getBytes(StandardCharsets.UTF_8)));
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return Optional.empty();
            }
        }
    }

    /** Waits for who holds it, which is a matter of milliseconds. */
    private static void lock(FileChannel channel) {
        try {
            channel.lock();
        } catch (IOException _) {
            // A file system without locks: then only those are refused who come later.
        }
    }

    private static long startOf(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }
}
