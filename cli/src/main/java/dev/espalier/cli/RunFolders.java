package dev.espalier.cli;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.Standing;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The folder {@code runs}, where runs go that nobody gave a place. */
final class RunFolders {
    private static final Path RUNS = Path.of("runs");

    private RunFolders() {}

    /** What runs of a recipe are called. */
    static String name(Path recipe) {
        return String.valueOf(recipe.getFileName()).replaceFirst("\\.toml$", "");
    }

    /** A new place for a run. */
    static RunFolder fresh(String name) {
        return RunFolder.fresh(RUNS, name);
    }

    /**
     * What to go on with: the newest of that name that was stopped; if there is none, the newest that is finished.
     *
     * @param say told which it is, and why no newer one
     */
    static RunFolder toResume(String name, Consumer<String> say) throws IOException {
        SequencedMap<RunFolder, Standing> newestFirst = standings(name);
        RunFolder chosen = Stream.of(Standing.STOPPED, Standing.FINISHED)
                .flatMap(standing -> newestFirst.keySet().stream().filter(run -> newestFirst.get(run) == standing))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no run of %s under %s to go on with%s: %s"
                        .formatted(
                                name,
                                RUNS,
                                newestFirst.entrySet().stream()
                                        .map(run -> ", " + describe(run))
                                        .collect(Collectors.joining()),
                                "start anew without --resume, or give a folder with --run-dir")));
        say.accept((newestFirst.get(chosen) == Standing.STOPPED
                        ? "going on with " + chosen.path()
                        : "none was stopped: taking " + chosen.path() + ", which is finished")
                + newestFirst.entrySet().stream()
                        .takeWhile(run -> !run.getKey().equals(chosen))
                        .map(run -> "; the newer " + describe(run))
                        .collect(Collectors.joining()));
        return chosen;
    }

    private static String describe(Map.Entry<RunFolder, Standing> run) {
        return run.getKey().path()
                + switch (run.getValue()) {
                    case NOTHING -> " has nothing in it";
                    case LOST -> " ended before its first checkpoint";
                    case STOPPED -> " was stopped";
                    case FINISHED -> " is finished";
                };
    }

    private static SequencedMap<RunFolder, Standing> standings(String name) throws IOException {
        SequencedMap<RunFolder, Standing> standings = new LinkedHashMap<>();
        if (Files.isDirectory(RUNS)) {
            Pattern pattern = Pattern.compile(Pattern.quote(name) + "-\\d{8}-\\d{6}");
            try (Stream<Path> folders = Files.list(RUNS)) {
                for (Path folder : folders.filter(folder ->
                                pattern.matcher(folder.getFileName().toString()).matches())
                        .sorted(Comparator.reverseOrder())
                        .toList()) {
                    standings.put(new RunFolder(folder), Standing.of(new RunFolder(folder)));
                }
            }
        }
        return standings;
    }

    /** Looks whether a new run may take a folder, and says how to go on with the one that is in it. */
    static void requireFree(RunFolder folder) throws IOException {
        try {
            folder.requireFree();
        } catch (DirectoryNotEmptyException _) {
            throw new IllegalArgumentException(
                    folder.path() + " is not empty: go on with what is in it by --resume, or give another --run-dir");
        }
    }
}
