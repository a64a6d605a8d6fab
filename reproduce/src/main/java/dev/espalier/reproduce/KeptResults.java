package dev.espalier.reproduce;

import dev.espalier.reproduce.Reproduction.Contents;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Results of full scale that are kept after their runs are gone: {@code full/ROW/seed-N.json} for each training of a row, with the same
 * names as the folders of the trainings have, and {@code full/ITEM.json} for an item that is no table of rows, or {@code full/ITEM/ROW.json} if some of its rows were run apart.
 *
 * @param folder where they are
 */
record KeptResults(Path folder) {
    private static final String JSON = ".json";

    /**
     * An item that is no table of rows.
     *
     * @param contents what came out
     * @param provenance where it came from
     */
    record KeptItem(Contents contents, Provenance provenance) {}

    private Path full() {
        return folder.resolve(Scale.FULL.toString());
    }

    /** Where a result is kept. */
    Path file(RowResult result) {
        return full().resolve(new Variant(result.variant()).folder(result.row()))
                .resolve("seed-" + result.seed() + JSON);
    }

    private Path file(String item, List<String> rows) {
        return rows.isEmpty()
                ? full().resolve(item + JSON)
                : full().resolve(item).resolve(String.join("-", rows) + JSON);
    }

    /** What is kept of a row and its variants, by name and seed. */
    List<RowResult> of(PaperRow row) throws IOException {
        List<RowResult> results = new ArrayList<>();
        for (Path variant : foldersOf(full(), row)) {
            for (Path file : jsonFiles(variant)) {
                results.add(JsonFile.read(file, RowResult.class));
            }
        }
        return results;
    }

    /** What is kept of an item: of all of it, and of rows that were run apart, in the item's order. */
    List<KeptItem> of(Item item) throws IOException {
        List<KeptItem> kept = new ArrayList<>();
        Path whole = file(item.name(), List.of());
        if (Files.exists(whole)) {
            kept.add(JsonFile.read(whole, KeptItem.class));
        }
        for (Path file : jsonFiles(full().resolve(item.name()))) {
            kept.add(JsonFile.read(file, KeptItem.class));
        }
        kept.sort(Comparator.comparingInt(one -> one.contents().rows().stream()
                .mapToInt(item.rows()::indexOf)
                .min()
                .orElse(-1)));
        return kept;
    }

    private static List<Path> jsonFiles(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(path -> path.toString().endsWith(JSON)).sorted().toList();
        }
    }

    /**
     * Keeps what is finished in a folder that {@code reproduce --out} wrote, or that was put together like one.
     *
     * @param out the folder; models need not be in it
     * @return what was kept and what was not, a sentence each
     * @throws IllegalArgumentException if there is nothing to keep
     */
    List<String> gather(Path out) throws IOException {
        List<String> kept = new ArrayList<>();
        List<String> left = new ArrayList<>();
        Path trainings = out.resolve(Scale.FULL.toString());
        for (PaperTable table : PaperTable.values()) {
            for (PaperRow row : table.rows()) {
                Recipe protocol = Trainings.protocol(Scale.FULL, row);
                for (Path variant : foldersOf(trainings, row)) {
                    for (RunFolder run : new RunFolder(variant).runs()) {
                        Optional<RowResult> result = RowResult.read(row.recipe(), protocol, run);
                        if (result.isPresent()) {
                            kept.add(write(file(result.get()), result.get()));
                        } else {
                            left.add(unfinished(run));
                        }
                    }
                }
            }
        }
        for (Item item : Items.ALL) {
            Path contents = out.resolve(item.name() + JSON);
            if (!(item instanceof TrainedTable) && Files.exists(contents)) {
                Contents found = JsonFile.read(contents, Contents.class);
                if (found.scale().equals(Scale.FULL.toString())) {
                    kept.add(write(
                            file(item.name(), found.rows()),
                            new KeptItem(
                                    found,
                                    JsonFile.read(out.resolve(item.name() + ".provenance.json"), Provenance.class))));
                }
            }
        }
        if (kept.isEmpty()) {
            throw new IllegalArgumentException(
                    "nothing of full scale is finished in %s: give the --out of a reproduce --scale full, where trainings are full/RECIPE/seed-N%s"
                            .formatted(out, left.isEmpty() ? "" : "; " + String.join("; ", left)));
        }
        kept.addAll(left);
        return kept;
    }

    private static String write(Path file, Object result) throws IOException {
        boolean before = Files.exists(file);
        Files.createDirectories(Objects.requireNonNull(file.getParent(), "a file is in a folder"));
        JsonFile.write(file, result);
        return (before ? "replaced " : "kept ") + file;
    }

    private static String unfinished(RunFolder run) throws IOException {
        List<Metrics> lines = run.metrics();
        return lines.isEmpty()
                ? run.path() + " is left out: nothing was evaluated there"
                : "%s is left out: it ended after epoch %.0f, before it was finished"
                        .formatted(run.path(), lines.getLast().epoch());
    }

    private static List<Path> foldersOf(Path folder, PaperRow row) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(folder)) {
            return folders.filter(Files::isDirectory)
                    .filter(path ->
                            Variant.isFolderOf(row.recipe(), path.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }
}
