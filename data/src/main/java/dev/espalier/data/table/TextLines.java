package dev.espalier.data.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A file with a text in every line, for a model that takes a single one; blank lines are left out.
 *
 * @param file the file, plain or with {@code .gz}
 */
public record TextLines(Path file) implements CellFile {
    /** What the only column is called. */
    public static final String TEXT = "text";

    @Override
    public String placeWord() {
        return "line";
    }

    @Override
    public List<String> columns() {
        return List.of(TEXT);
    }

    @Override
    public void forEach(List<String> wanted, Visitor visitor) throws IOException {
        if (wanted.size() != 1) {
            throw new IllegalArgumentException(
                    "%s has a text in a line, and %s are needed: give a table with these columns, .csv, .tsv or .jsonl"
                            .formatted(file, wanted));
        }
        PlainText.read(file, reader -> {
            long number = 0;
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                number++;
                if (!line.isBlank()) {
                    visitor.row(number, List.of(line.strip()));
                }
            }
        });
    }
}
