package dev.espalier.data.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A file with rows of cells that have names, as text: what a model that is trained already is asked about. */
public interface CellFile {
    /** Sees one row after the other. */
    interface Visitor {
        /**
         * Sees the cells of a row.
         *
         * @param place where it stands, from 1
         * @param cells as many as were wanted, in that order; empty where a value is missing
         */
        void row(long place, List<String> cells);

        /**
         * Is told of a row that cannot be read; the next ones may be sound.
         *
         * @param place where it stands, from 1
         * @param problem what is wrong, and what was expected
         */
        void problem(long place, String problem);
    }

    /** {@return the file} */
    Path file();

    /** {@return what places of rows are called: line, row} */
    String placeWord();

    /**
     * {@return the names of its columns, in order}
     *
     * @throws IOException if it cannot be read, or has none
     */
    List<String> columns() throws IOException;

    /**
     * A file of rows, by its ending: {@code .jsonl} or {@code .ndjson}, {@code .txt} with a text in a line, {@code .tsv}, what a {@link
     * CellFormat} reads; everything else is CSV. All but the last may end with {@code .gz} besides.
     *
     * @param file the file
     * @param header whether the first line of a CSV file names the columns
     * @param delimiter what stands between two cells of a CSV file; by default a comma, in {@code .tsv} files a tab
     * @return its rows
     * @throws IllegalArgumentException if it takes a format that is not there
     */
    static CellFile of(Path file, boolean header, Optional<Character> delimiter) {
        String name = file.toString().toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "");
        if (name.endsWith(".jsonl") || name.endsWith(".ndjson")) {
            return new JsonLines(file);
        }
        if (name.endsWith(".txt")) {
            return new TextLines(file);
        }
        Optional<CellFile> known = CellFormat.find(file);
        if (known.isPresent()) {
            return known.get();
        }
        if (name.endsWith(".parquet")) {
            throw new IllegalArgumentException(
                    "%s: Parquet is read by the module table, which is not on the class path: depend on".formatted(file)
                            + " dev.espalier:espalier-table, or write the table as CSV");
        }
        return new CsvCells(file, header, delimiter.orElse(name.endsWith(".tsv") ? '\t' : ','));
    }

    /**
     * Reads the file.
     *
     * @param wanted the names of the cells that a row must have; others are left out
     * @param visitor sees every row
     * @throws IOException if it cannot be read, or no row has these cells
     */
    void forEach(List<String> wanted, Visitor visitor) throws IOException;

    /**
     * What a table without a column should be told.
     *
     * @param columns what it has
     * @param wanted what it should have
     * @return a sentence; empty if all is there
     */
    static String missing(List<String> columns, List<String> wanted) {
        List<String> missing =
                wanted.stream().filter(name -> !columns.contains(name)).toList();
        return missing.isEmpty()
                ? ""
                : "there is no column %s; there are %s. The model needs %s"
                        .formatted(String.join(", ", missing), columns, wanted);
    }
}
