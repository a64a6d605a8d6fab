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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Results of full scale that are kept after their runs are gone: {@code full/ROW/seed-N.json} for each training of a row, with the same
 * names as the folders of the trainings have, and {@code full/ITEM.json} for an item that is no table of rows, or {@code full/ITEM/ROW+ROW.json} of rows that were run apart.
 *
 * @param folder where they are
 */
record KeptResults(Path folder) {
    private static final String JSON = ".json";

    /** How the names of files end that say where results came from. */
    static final String PROVENANCE = ".provenance.json";

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

    /** Some of an item's rows as part of a file's name, whatever their order; empty for all. */
    static String part(Item item, List<String> rows) {
        return rows.isEmpty() || rows.containsAll(item.rows())
                ? ""
                : item.rows().stream().filter(rows::contains).collect(Collectors.joining("+"));
    }

    private Path file(Item item, String part) {
        return part.isEmpty()
                ? full().resolve(item.name() + JSON)
                : full().resolve(item.name()).resolve(part + JSON);
    }

    /** The rows that a part has. */
    private static List<String> rows(Path part) {
        String name = String.valueOf(part.getFileName());
        return List.of(name.substring(0, name.length() - JSON.length()).split("\\+"));
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

    /** What is kept of an item: of all of it, or of rows that were run apart, in the item's order. */
    List<KeptItem> of(Item item) throws IOException {
        List<KeptItem> kept = new ArrayList<>();
        if (Files.exists(file(item, ""))) {
            kept.add(JsonFile.read(file(item, ""), KeptItem.class));
        }
        for (Path part : parts(item)) {
            kept.add(JsonFile.read(part, KeptItem.class));
        }
        return kept;
    }

    private List<Path> parts(Item item) throws IOException {
        return jsonFiles(full().resolve(item.name())).stream()
                .sorted(Comparator.comparingInt(
                        part -> item.rows().indexOf(rows(part).getFirst())))
                .toList();
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
            for (PaperRow row : table.allRows()) {
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
            if (!(item instanceof TrainedTable)) {
                for (Path contents : findings(item, out)) {
                    keep(item, contents).ifPresent(kept::add);
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

    /** The files with what was found of an item, all of it first. */
    private static List<Path> findings(Item item, Path out) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path file : jsonFiles(out)) {
            String name = String.valueOf(file.getFileName());
            if (name.equals(item.name() + JSON)) {
                found.addFirst(file);
            } else if (name.startsWith(item.name() + "-") && !name.endsWith(PROVENANCE)) {
                found.add(file);
            }
        }
        return found;
    }

    /** Keeps findings in place of those of the same rows, or of some of them. */
    private Optional<String> keep(Item item, Path contents) throws IOException {
        Contents found = JsonFile.read(contents, Contents.class);
        if (!found.scale().equals(Scale.FULL.toString())) {
            return Optional.empty();
        }
        String name = String.valueOf(contents.getFileName());
        String base = name.substring(0, name.length() - JSON.length());
        String part = base.substring(Math.min(base.length(), item.name().length() + 1));
        Path file = file(item, part);
        if (!part.isEmpty() && Files.exists(file(item, ""))) {
            throw new IllegalArgumentException("%s has all rows of %s: delete it, or do all of them anew instead of %s"
                    .formatted(file(item, ""), item.name(), part));
        }
        for (Path other : parts(item)) {
            if (!other.equals(file) && (part.isEmpty() || rows(file).containsAll(rows(other)))) {
                Files.delete(other);
            }
        }
        Provenance provenance = JsonFile.read(contents.resolveSibling(base + PROVENANCE), Provenance.class);
        return Optional.of(write(file, new KeptItem(found, provenance)));
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
        Path own = folder.resolve(row.recipe());
        Path parent = own.getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            return List.of();
        }
        String name = own.getFileName().toString();
        try (Stream<Path> folders = Files.list(parent)) {
            return folders.filter(Files::isDirectory)
                    .filter(path -> Variant.isFolderOf(name, path.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }
}
