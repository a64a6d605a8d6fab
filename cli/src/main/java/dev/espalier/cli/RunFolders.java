package dev.espalier.cli;

import dev.espalier.journal.RunFolder;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The folder {@code runs}, where runs go that nobody gave a place. */
final class RunFolders {
    private static final Path RUNS = Path.of("runs");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    private RunFolders() {}

    /** What runs of a recipe are called. */
    static String name(Path recipe) {
        return String.valueOf(recipe.getFileName()).replaceFirst("\\.toml$", "");
    }

    /** A place for a run: the last one of that name if it goes on, a new one otherwise. */
    static Path of(String name, boolean resume) throws IOException {
        return resume
                ? last(name)
                : RUNS.resolve(
                        name + "-" + LocalDateTime.now(ZoneId.systemDefault()).format(TIME));
    }

    private static Path last(String name) throws IOException {
        Pattern pattern = Pattern.compile(Pattern.quote(name) + "-\\d{8}-\\d{6}");
        Optional<Path> newest = Optional.empty();
        if (Files.isDirectory(RUNS)) {
            try (Stream<Path> folders = Files.list(RUNS)) {
                newest = folders.filter(folder ->
                                pattern.matcher(folder.getFileName().toString()).matches())
                        .max(Comparator.comparing(folder -> folder.getFileName().toString()));
            }
        }
        return newest.orElseThrow(() -> new IllegalArgumentException(
                "there is no run of " + name + " under " + RUNS + " to go on with: give its folder with --run-dir"));
    }

    /** Takes a folder for a new run, or says how to go on with the one that is in it. */
    static void requireFree(RunFolder folder) throws IOException {
        try {
            folder.create();
        } catch (DirectoryNotEmptyException _) {
            throw new IllegalArgumentException(
                    folder.path() + " is not empty: go on with what is in it by --resume, or give another --run-dir");
        }
    }
}
