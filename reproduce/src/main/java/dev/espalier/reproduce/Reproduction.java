package dev.espalier.reproduce;

import dev.espalier.report.Article;
import dev.espalier.report.Figure;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An item reproduced, and the files that keep it: {@code ITEM.json} with every number, {@code ITEM.html} to look at, and
 * {@code ITEM.provenance.json}. What was found of some of its rows alone has these in its name, {@code ITEM-ROW+ROW.json}, unless it is a table of
 * trainings, which come together from run to run.
 *
 * @param item which item
 * @param setting how it was done
 * @param findings what came out
 * @param seconds how long it took
 * @param folder where the files are
 */
public record Reproduction(Item item, Setting setting, Findings findings, double seconds, Path folder) {

    /** What {@code ITEM.json} holds. */
    record Contents(
            String item,
            String title,
            String place,
            String scale,
            List<Long> seeds,
            String command,
            double seconds,
            List<Comparison> tables,
            List<Figure> figures,
            List<String> notes) {
        /** Copies the lists. */
        Contents {
            seeds = List.copyOf(seeds);
            tables = List.copyOf(tables);
            figures = List.copyOf(figures);
            notes = List.copyOf(notes);
        }
    }

    /**
     * Reproduces an item and writes the files.
     *
     * @param item which item
     * @param setting how
     * @param command what the user typed, for the record
     * @return what came out; empty if it was stopped
     * @throws IOException if something cannot be read or written
     */
    public static Optional<Reproduction> of(Item item, Setting setting, String command) throws IOException {
        requireOptions(item, setting);
        item.require(setting);
        new RunFolder(setting.folder()).requireWritable();
        long started = System.nanoTime();
        Provenance provenance = Origin.of(1, "", setting.run(), item.trains());
        Optional<Findings> findings = item.run(setting);
        if (findings.isEmpty()) {
            return Optional.empty();
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        Reproduction done = new Reproduction(item, setting, findings.get(), seconds, setting.folder());
        done.write(command, provenance.withKernel(findings.get().computedBy()));
        return Optional.of(done);
    }

    private static void requireOptions(Item item, Setting setting) {
        for (String row : setting.rows()) {
            if (!item.rows().contains(row)) {
                throw new IllegalArgumentException(
                        item.rows().isEmpty()
                                ? "--rows %s: %s has no rows; leave --rows out".formatted(row, item.name())
                                : "--rows %s: %s has no such row; choose some of %s"
                                        .formatted(row, item.name(), String.join(", ", item.rows())));
            }
        }
        if (!item.trains() && !setting.changes().isEmpty()) {
            throw new IllegalArgumentException("--set %s: %s trains nothing; leave --set out"
                    .formatted(setting.changes().getFirst(), item.name()));
        }
    }

    /**
     * The file with every number.
     *
     * @return the path of a JSON file
     */
    public Path json() {
        return file(".json");
    }

    /**
     * The page to look at.
     *
     * @return the path of an HTML file
     */
    public Path page() {
        return file(".html");
    }

    private Path file(String ending) {
        String rows = item instanceof TrainedTable ? "" : KeptResults.part(item, setting.rows());
        return folder.resolve(item.name() + (rows.isEmpty() ? "" : "-" + rows) + ending);
    }

    /**
     * Where the trainings are, if there are any.
     *
     * @return the path of a folder
     */
    public Path trainings() {
        return setting.trainings();
    }

    private void write(String command, Provenance provenance) throws IOException {
        Files.createDirectories(folder);
        JsonFile.write(file(KeptResults.PROVENANCE), provenance);
        JsonFile.write(
                json(),
                new Contents(
                        item.name(),
                        item.title(),
                        item.place(),
                        setting.scale().toString(),
                        setting.seeds(),
                        command,
                        seconds,
                        findings.tables(),
                        findings.figures(),
                        findings.notes()));
        new Article(
                        item.place(),
                        item.title(),
                        findings.notes(),
                        findings.tables().stream().map(Comparison::toGrid).toList(),
                        findings.figures(),
                        details(command, provenance))
                .write(page());
    }

    private Map<String, String> details(String command, Provenance provenance) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("Command", command);
        details.put("Scale", setting.scale().toString());
        details.put("Seeds", setting.seeds().toString());
        details.put("Started", provenance.started());
        details.put("Computed by", provenance.kernel());
        details.put("Engine", provenance.engine());
        details.put("Device", provenance.device());
        details.put("Espalier", provenance.espalier() + ", commit " + provenance.commit());
        details.put("Java", provenance.java());
        details.put(
                "Machine",
                "%s, %s, %d processors"
                        .formatted(provenance.system(), provenance.architecture(), provenance.processors()));
        return details;
    }
}
