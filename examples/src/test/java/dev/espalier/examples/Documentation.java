package dev.espalier.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The pages of the repository that this test runs in. */
final class Documentation {
    static final Path ROOT = root();

    private Documentation() {}

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve("CONTRIBUTING.md"))) {
                return folder;
            }
        }
        throw new IllegalStateException("found no CONTRIBUTING.md in " + here + " or above it");
    }

    /** All pages, relative to the repository. */
    static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(Path.of("README.md"), Path.of("CONTRIBUTING.md")));
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .map(ROOT::relativize)
                    .forEach(pages::add);
        }
        return pages;
    }

    static String text(Path page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }
}
