package dev.espalier.data.table;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.CsvRecordHandler;
import de.siegmar.fastcsv.reader.FieldModifier;
import dev.espalier.data.DataException;
import java.io.FilterReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Path;
import java.util.List;

/** The cells of a CSV file, plain or with {@code .gz}, in UTF-8, line by line; a cell in quotes may have line breaks in it. */
public final class CsvText {
    private final Path file;
    private final char delimiter;

    /**
     * A file that is not opened yet.
     *
     * @param file the file
     * @param delimiter what stands between two cells
     */
    public CsvText(Path file, char delimiter) {
        this.file = file;
        this.delimiter = delimiter;
    }

    /** Sees one line after the other. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Sees the cells of a line.
         *
         * @param line where it starts, from 1
         * @param cells its cells, without quotes
         * @return false if that is enough
         * @throws IOException if the cells are not what they should be
         */
        boolean visit(long line, List<String> cells) throws IOException;
    }

    /**
     * Reads the file.
     *
     * @param visitor sees every line
     * @throws IOException if it cannot be read, or is no such file
     */
    public void forEach(Visitor visitor) throws IOException {
        PlainText.read(file, reader -> parse(reader, visitor));
    }

    /** What stands in quotes is kept as it is, blanks included. Remembers whether the last cell stood in quotes. */
    private static final class Stripping implements FieldModifier {
        private boolean lastQuoted;

        @Override
        public String modify(long line, int index, boolean quoted, String field) {
            lastQuoted = quoted;
            return quoted ? field : field.strip();
        }
    }

    /** Remembers the last character of a text that is no line break. */
    private static final class Tail extends FilterReader {
        private char last;

        Tail(Reader reader) {
            super(reader);
        }

        @Override
        public int read(char[] target, int offset, int length) throws IOException {
            int count = super.read(target, offset, length);
            for (int i = offset + count - 1; i >= offset; i--) {
                if (target[i] != '\n' && target[i] != '\r') {
                    last = target[i];
                    break;
                }
            }
            return count;
        }
    }

    private void parse(Reader reader, Visitor visitor) throws IOException {
        Tail tail = new Tail(reader);
        Stripping stripping = new Stripping();
        long line = 0;
        try (CsvReader<CsvRecord> records = CsvReader.builder()
                .fieldSeparator(delimiter)
                .allowExtraFields(true)
                .allowMissingFields(true)
                .build(CsvRecordHandler.of(handler -> handler.fieldModifier(stripping)), tail)) {
            for (CsvRecord cells : records) {
                line = cells.getStartingLineNumber();
                if (!visitor.visit(line, cells.getFields())) {
                    return;
                }
            }
        } catch (CsvParseException malformed) {
            throw DataException.in(file + ", after line " + line, reasons(malformed), malformed);
        }
        // The parser takes the end of the file for a closing quote, and all rows since an open one for a single cell.
        if (stripping.lastQuoted && tail.last != '"') {
            throw DataException.in(file + ", line " + line, "a quote is opened there and never closed");
        }
    }

    private static String reasons(Throwable problem) {
        String message = String.valueOf(problem.getMessage());
        return problem.getCause() == null ? message : message + ": " + reasons(problem.getCause());
    }
}
