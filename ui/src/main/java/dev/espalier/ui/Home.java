package dev.espalier.ui;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The folder that is shown. What it holds may have come from anywhere, links included: one that leads out of it is not followed, so that
 * a page on this folder says nothing of others.
 *
 * @param path the folder, without links in its path
 */
record Home(Path path) {
    /** A run has seeds, and these have baselines. */
    private static final int DEPTH = 3;

    /** Whether something is in the folder, wherever it seems to be. */
    boolean holds(Path file) {
        try {
            return file.toRealPath().startsWith(path);
        } catch (IOException _) {
            return false; // nothing is there
        }
    }

    /** A link among the files of a run that leads out. */
    Optional<Path> wayOut(RunFolder run) throws IOException {
        try (Stream<Path> files = Files.walk(run.path(), DEPTH)) {
            return Stream.concat(Stream.of(run.log()), files)
                    .filter(Files::isSymbolicLink)
                    .filter(link -> !holds(link))
                    .findFirst();
        }
    }
}
