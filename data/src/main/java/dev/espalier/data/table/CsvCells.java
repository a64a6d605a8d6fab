package dev.espalier.data.table;

import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A CSV file, whose columns are found by their names.
 *
 * @param file the file, plain or with {@code .gz}
 * @param header whether its first line names the columns; if not, they are called 0, 1, …
 * @param delimiter what stands between two cells
 */
public record CsvCells(Path file, boolean header, char delimiter) implements CellFile {
    @Override
    public String placeWord() {
        return "line";
    }

    @Override
    public List<String> columns() throws IOException {
        List<String> columns = new ArrayList<>();
        new CsvText(file, delimiter).forEach((_, cells) -> {
            columns.addAll(named(cells));
            return false;
        });
        if (columns.isEmpty()) {
            throw DataException.in(file, "no rows: it is empty");
        }
        return columns;
    }

    private List<String> named(List<String> cells) {
        return header ? Table.unique(cells) : Columns.numbered(cells.size());
    }

    @Override
    public void forEach(List<String> wanted, Visitor visitor) throws IOException {
        List<String> columns = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        new CsvText(file, delimiter).forEach((line, cells) -> {
            if (columns.isEmpty()) {
                columns.addAll(named(cells));
                requireColumns(columns, wanted, line);
                wanted.forEach(name -> places.add(columns.indexOf(name)));
                if (header) {
                    return true;
                }
            }
            if (cells.size() == columns.size() && !isBlank(cells)) {
                visitor.row(line, places.stream().map(cells::get).toList());
            } else if (!isBlank(cells)) {
                visitor.problem(line, "%d fields: expected %d".formatted(cells.size(), columns.size()));
            }
            return true;
        });
    }

    private static boolean isBlank(List<String> cells) {
        return cells.size() == 1 && cells.getFirst().isBlank();
    }

    private void requireColumns(List<String> columns, List<String> wanted, long line) throws DataException {
        String missing = CellFile.missing(columns, wanted);
        if (!missing.isEmpty()) {
            throw DataException.in(
                    "%s, %s %d".formatted(file, placeWord(), line),
                    "%s: name them so in the first line%s"
                            .formatted(
                                    missing,
                                    columns.size() == 1 && wanted.size() > 1
                                            ? ", and say what stands between them with --delimiter"
                                            : ""));
        }
    }
}
