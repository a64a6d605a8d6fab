package dev.espalier.reproduce;

import dev.espalier.report.Article;
import dev.espalier.report.Drawing;
import dev.espalier.report.Figure;
import dev.espalier.report.Unit;
import dev.espalier.reproduce.KeptResults.KeptItem;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The documentation's page of results, as far as it is made from kept results: {@code results.md} has a place for each item, between two
 * comments, and the plots are SVG files in {@code images}. Nothing is trained for it.
 *
 * @param docs the folder of the documentation
 */
public record ResultsPage(Path docs) {
    private static final String END = "<!-- end of full scale -->";

    /** A table of more rows is left to the file that it is from. */
    private static final int MOST_ROWS = 12;

    private Path page() {
        return docs.resolve("results.md");
    }

    private Path images() {
        return docs.resolve("images");
    }

    private KeptResults results() {
        return new KeptResults(docs.resolve("results"));
    }

    /**
     * Keeps the results of what is finished in a folder.
     *
     * @param out what {@code --out} was
     * @return what was kept and what was not, a sentence each
     * @throws IOException if something cannot be read or written
     */
    public List<String> gather(Path out) throws IOException {
        return results().gather(out);
    }

    /**
     * Writes the page and its plots, and deletes plots of what is no longer kept.
     *
     * @return the files that were not so before
     * @throws IOException if something cannot be read or written
     */
    public List<Path> write() throws IOException {
        List<Path> changed = new ArrayList<>();
        SequencedMap<Path, String> files = files();
        for (Path old : plots()) {
            if (!files.containsKey(old)) {
                Files.delete(old);
                changed.add(old);
            }
        }
        Files.createDirectories(images());
        for (Path file : files.keySet()) {
            String text = files.getOrDefault(file, "");
            if (!Files.exists(file) || !Files.readString(file).equals(text)) {
                RunFolder.replace(file, text);
                changed.add(file);
            }
        }
        return changed;
    }

    /** The plots that are there. */
    List<Path> plots() throws IOException {
        if (!Files.isDirectory(images())) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(images())) {
            return files.filter(file -> file.getFileName().toString().matches("results-.*\\.svg"))
                    .sorted()
                    .toList();
        }
    }

    /** All files and what must be in them, by what is kept. */
    SequencedMap<Path, String> files() throws IOException {
        SequencedMap<Path, String> files = new LinkedHashMap<>();
        String text = Files.readString(page());
        for (Item item : Items.ALL) {
            Optional<List<String>> block = block(item, files);
            int start = text.indexOf(begin(item));
            int end = text.indexOf(END, Math.max(0, start));
            if (start >= 0 && end >= 0) {
                String inside = String.join("\n\n", block.orElse(List.of("Full scale: not run yet.")));
                text = text.substring(0, start) + begin(item) + "\n\n" + inside + "\n\n" + text.substring(end);
            } else if (block.isPresent()) {
                throw new IllegalArgumentException("%s has no place for %s: add the lines %s and %s where it is to be"
                        .formatted(page(), item.name(), begin(item), END));
            }
        }
        files.put(page(), text);
        return files;
    }

    private static String begin(Item item) {
        return "<!-- full scale of %s, made by: ./espalier reproduce --page docs -->".formatted(item.name());
    }

    /** Paragraphs of an item; empty if nothing of it is kept. */
    private Optional<List<String>> block(Item item, SequencedMap<Path, String> files) throws IOException {
        List<String> block = new ArrayList<>();
        if (item instanceof TrainedTable table) {
            SequencedMap<PaperRow, List<RowResult>> kept = new LinkedHashMap<>();
            for (PaperRow row : table.table().allRows()) {
                kept.put(row, results().of(row));
            }
            if (kept.values().stream().allMatch(List::isEmpty)) {
                return Optional.empty();
            }
            List<TrainedTable.Line> lines = table.lines(row -> kept.getOrDefault(row, List.of()));
            Findings findings = table.findings(Scale.FULL, "", lines);
            block.add("Full scale, mean ± standard deviation over the runs that there are:");
            findings.tables().forEach(one -> block.add(markdown(one.toGrid())));
            table.threeWays(row -> kept.getOrDefault(row, List.of())).ifPresent(ways -> {
                block.add("**" + ways.title() + "**: " + ways.note());
                block.add(markdown(ways));
            });
            block.add(bullets(findings.notes()));
            block.add(markdown(table.origins(lines, this::link)));
            addFigures(item, findings.figures(), block, files);
            return Optional.of(block);
        }
        List<KeptItem> kept = results().of(item);
        SequencedSet<String> notes = new LinkedHashSet<>();
        for (KeptItem one : kept) {
            Reproduction.Contents contents = one.contents();
            block.add("Full scale, " + origin(contents, one.provenance()) + ":");
            for (Comparison table : contents.tables()) {
                if (table.rows().size() <= MOST_ROWS) {
                    block.add("**" + table.title() + "**" + (table.note().isEmpty() ? "" : ": " + table.note()));
                    block.add(markdown(table.toGrid()));
                }
            }
            notes.addAll(contents.notes());
        }
        if (kept.isEmpty()) {
            return Optional.empty();
        }
        block.add(bullets(List.copyOf(notes)));
        kept.forEach(one -> addFigures(item, one.contents().figures(), block, files));
        return Optional.of(block);
    }

    private static String origin(Reproduction.Contents contents, Provenance provenance) {
        return "`%s`, on %s, %s, in %s seconds, commit %s"
                .formatted(
                        contents.command(),
                        provenance.started().substring(0, "2026-11-16".length()),
                        provenance.kernel(),
                        Unit.COUNT.write(contents.seconds()),
                        provenance.commit());
    }

    /** A run's seed, with a link to what is kept of it. */
    private String link(RowResult run) {
        return "[%d](%s)"
                .formatted(
                        run.seed(),
                        docs.relativize(results().file(run)).toString().replace('\\', '/'));
    }

    private void addFigures(Item item, List<Figure> figures, List<String> block, SequencedMap<Path, String> files) {
        for (Figure figure : figures) {
            if (hasPoints(figure)) {
                String name = "results-%s-%s.svg".formatted(item.name(), slug(figure.title()));
                files.put(images().resolve(name), Drawing.svg(figure));
                block.add("![%s](images/%s)".formatted(figure.title(), name));
            }
        }
    }

    private static boolean hasPoints(Figure figure) {
        return switch (figure) {
            case Figure.Plot plot ->
                plot.curves().stream().anyMatch(curve -> !curve.points().isEmpty());
            case Figure.Sizes sizes -> !sizes.parts().isEmpty();
            case Figure.Cells cells -> !cells.grids().isEmpty();
        };
    }

    private static String slug(String title) {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    }

    private static String markdown(Article.Grid grid) {
        List<String> lines = new ArrayList<>();
        lines.add(line(grid.columns()));
        lines.add("|" + "---|".repeat(grid.columns().size()));
        grid.rows().forEach(row -> lines.add(line(row)));
        return String.join("\n", lines);
    }

    private static String line(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |"));
    }

    private static String bullets(List<String> notes) {
        return notes.stream().map(note -> "* " + note).collect(Collectors.joining("\n"));
    }
}
