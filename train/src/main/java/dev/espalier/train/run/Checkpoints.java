package dev.espalier.train.run;

import dev.espalier.core.check.Writing;
import dev.espalier.core.step.StateFile;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What an interrupted run goes on from: files {@code step-N.state}, each written whole or not at all.
 *
 * @param folder where they are
 * @param keep how many of the last stay
 */
record Checkpoints(Path folder, int keep) {

    /**
     * Writes one, and deletes those that are too old. If that fails, what was there is still there.
     *
     * @param step steps done
     * @param state the memory by name
     */
    void save(long step, SequencedMap<String, MemorySegment> state) throws IOException {
        Writing.folder(folder);
        try {
            StateFile.save(file(step), state);
        } catch (UncheckedIOException failure) {
            List<Path> left = newestFirst();
            throw new IOException(
                    failure.getMessage()
                            + (left.isEmpty()
                                    ? "; there is no older checkpoint"
                                    : "; mend that and go on with --resume: " + left.getFirst() + " is still there"),
                    failure);
        }
        deleteOld();
    }

    private void deleteOld() throws IOException {
        for (Path old : newestFirst().stream().skip(keep).toList()) {
            Files.delete(old);
        }
    }

    /** What a disk has left of one that it said was written, and was not, when the power was cut: it must not count as one that is kept. */
    private void deleteEmpty() throws IOException {
        for (Path file : newestFirst()) {
            if (Files.size(file) == 0) {
                Files.delete(file);
            }
        }
    }

    /**
     * Reads the newest that is whole.
     *
     * @param state the memory by name; overwritten
     * @param note told of each one that is damaged
     * @return the file; empty if there is none
     */
    Optional<Path> load(SequencedMap<String, MemorySegment> state, Consumer<String> note) throws IOException {
        for (Path file : newestFirst()) {
            if (StateFile.isIntact(file)) {
                StateFile.load(file, state);
                deleteEmpty();
                deleteOld(); // whoever wrote it may have been killed before
                return Optional.of(file);
            }
            note.accept(file + " is damaged or cut off: its checksum does not fit; an older one is tried");
        }
        return Optional.empty();
    }

    /** The newest, intact or not; empty if there is none. */
    Optional<Path> newest() throws IOException {
        return newestFirst().stream().findFirst();
    }

    /** Whether there is one, intact or not. */
    static boolean anyIn(RunFolder run) throws IOException {
        return !newestFirst(run.checkpoints()).isEmpty();
    }

    /** What the one after a step is called. */
    Path file(long step) {
        return folder.resolve("step-%010d.state".formatted(step));
    }

    /** The steps that there is one of, rising. */
    List<Long> steps() throws IOException {
        return newestFirst().reversed().stream()
                .map(file -> Long.parseLong(file.getFileName().toString().replaceAll("\\D", "")))
                .toList();
    }

    private List<Path> newestFirst() throws IOException {
        return newestFirst(folder);
    }

    private static List<Path> newestFirst(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("step-\\d+\\.state"))
                    .sorted(Comparator.comparing(
                                    (Path file) -> file.getFileName().toString())
                            .reversed())
                    .toList();
        }
    }
}
