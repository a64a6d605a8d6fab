package dev.espalier.train.recipe;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the files are that are not in the class path. */
final class Repository {
    private Repository() {}

    static Path file(String name) {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve("recipes"))) {
                return folder.resolve(name);
            }
        }
        throw new IllegalStateException("found no folder recipes in " + here + " or above it");
    }
}
