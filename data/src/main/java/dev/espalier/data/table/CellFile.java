package dev.espalier.data.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

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
