package dev.espalier.train.study;

import dev.espalier.core.check.Writing;
import dev.espalier.train.journal.Trainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The process that directs a study in a folder of this machine: there must be one, or two would train the same trials. The file
 * {@code driver.json} names it while it does.
 */
public final class Driver implements AutoCloseable {
    private final Path file;

    private Driver(Path file) {
        this.file = file;
    }

    /**
     * Says that this process directs the study.
     *
     * @param folder the study's folder; made if it is not there
     * @return to be closed when it no longer does
     * @throws IOException if the folder cannot be read or written
     * @throws IllegalArgumentException if another process does
     */
    public static Driver enter(Path folder) throws IOException {
        Path file = folder.resolve("driver.json");
        Writing.folder(folder);
        Optional<ProcessHandle> other = Trainer.enter(file);
        if (other.isPresent()) {
            throw new IllegalArgumentException(
                    "process %d carries out the study in %s right now: stop it first, by Ctrl-C there or kill %1$d"
                            .formatted(other.get().pid(), folder));
        }
        return new Driver(file);
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
    }
}
