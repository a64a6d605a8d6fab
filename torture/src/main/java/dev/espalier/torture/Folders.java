package dev.espalier.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders that campaigns make, and take away again. */
public final class Folders {
    private Folders() {}

    /**
     * Deletes a folder with all that is in it.
     *
     * @param folder the folder; it may not be there
     * @throws IOException if something cannot be deleted
     */
    public static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            }
        }
    }

    /**
     * Moves a folder with all that is in it, to another disk too.
     *
     * @param from the folder
     * @param to where it shall be; nothing is there
     * @throws IOException if something cannot be read or written
     */
    public static void move(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
        delete(from);
    }
}
