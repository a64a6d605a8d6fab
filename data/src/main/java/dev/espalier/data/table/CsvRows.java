package dev.espalier.data.table;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Rows of a CSV file for a model that is trained already: what columns hold and what categories there are is known, and columns
 * are found by their names.
 *
 * @param file the file, plain or with {@code .gz}
 * @param header whether its first line names the columns; if not, they are called 0, 1, …
 * @param delimiter what stands between two cells
 * @param decimal what stands before the decimals of a number
 */
public record CsvRows(Path file, boolean header, char delimiter, char decimal) {
    /**
     * Some rows, and where they stand.
     *
     * @param dataset the rows, not encoded
     * @param lines the line of each, from 1
     */
    public record Rows(Dataset dataset, List<Long> lines) {
        /** Copies the list. */
        public Rows {
            lines = List.copyOf(lines);
        }
    }

    /**
     * Reads the file.
     *
     * @param encoding what the model was trained with
     * @param labelled whether the file must have the labels too
     * @return the rows
     * @throws IOException if it cannot be read, a column is missing, or a cell is not what the model knows
     */
    public Rows read(Encoding encoding, boolean labelled) throws IOException {
        List<Field> inputs = fields(encoding.inputs().stream()
                .flatMap(input -> input.from().stream())
                .toList());
        List<Field> targets = labelled
                ? fields(encoding.targets().stream()
                        .flatMap(target -> target.from().stream())
                        .toList())
                : List.of();
        List<Field> all = Stream.concat(inputs.stream(), targets.stream()).toList();
        List<Integer> places = new ArrayList<>();
        List<String> columns = new ArrayList<>();
        List<float[]> rows = new ArrayList<>();
        List<Long> lines = new ArrayList<>();
        new CsvText(file, delimiter).forEach((line, cells) -> {
            if (columns.isEmpty()) {
                columns.addAll(header ? Table.unique(cells) : Columns.numbered(cells.size()));
                requireColumns(columns, all, line);
                all.forEach(field -> places.add(columns.indexOf(field.name())));
                if (header) {
                    return true;
                }
            }
            if (cells.size() == 1 && cells.getFirst().isBlank()) {
                return true;
            }
            if (cells.size() != columns.size()) {
                throw DataException.in(place(line), "%d fields: expected %d".formatted(cells.size(), columns.size()));
            }
            float[] row = new float[all.size()];
            for (int i = 0; i < row.length; i++) {
                row[i] = value(all.get(i), cells.get(places.get(i)), i >= inputs.size(), line);
            }
            rows.add(row);
            lines.add(line);
            return true;
        });
        if (rows.isEmpty()) {
            throw DataException.in(file, "no rows: expected " + (header ? "a header and " : "") + names(all));
        }
        List<Column> made = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            made.add(column(all.get(i), rows, i));
        }
        Dataset dataset = new Dataset(
                String.valueOf(file.getFileName()),
                rows.size(),
                made.subList(0, inputs.size()),
                made.subList(inputs.size(), made.size()));
        return new Rows(dataset, lines);
    }

    /** Single numbers and categories are all that a cell can hold. */
    private static List<Field> fields(List<Field> fields) {
        for (Field field : fields) {
            boolean fits = field instanceof Field.Category
                    || (field instanceof Field.Numbers numbers
                            && numbers.shape().isEmpty());
            if (!fits) {
                throw new IllegalArgumentException(
                        "the model takes or says %s, which no cell of a table holds".formatted(field));
            }
        }
        return fields;
    }

    private static List<String> names(Collection<Field> fields) {
        return fields.stream().map(Field::name).toList();
    }

    private void requireColumns(List<String> columns, List<Field> wanted, long line) throws DataException {
        List<String> missing = new ArrayList<>(names(wanted));
        missing.removeAll(columns);
        if (!missing.isEmpty()) {
            throw DataException.in(
                    place(line),
                    "there is no column %s; there are %s. The model needs %s: name them so in the first line%s"
                            .formatted(
                                    String.join(", ", missing),
                                    columns,
                                    names(wanted),
                                    columns.size() == 1 && wanted.size() > 1
                                            ? ", and say what stands between them with --delimiter"
                                            : ""));
        }
    }

    private String place(long line) {
        return file + ", line " + line;
    }

    /** A number, or a place among the categories; NaN if it is missing. */
    private float value(Field field, String cell, boolean isTarget, long line) throws DataException {
        String number = decimal == '.' ? cell : cell.replace(decimal, '.');
        if (field instanceof Field.Category category) {
            int place = category.values().indexOf(isTarget && Cells.isNumber(number) ? number : cell);
            if (place >= 0 || (cell.isEmpty() && !isTarget)) {
                return place < 0 ? Float.NaN : place;
            }
            throw DataException.in(
                    place(line),
                    "'%s' in column %s: the model knows %s%s"
                            .formatted(
                                    cell,
                                    field.name(),
                                    category.values(),
                                    isTarget ? "" : "; leave the cell empty if it is none of them"));
        }
        if (Cells.isMissingNumber(number) && !isTarget) {
            return Float.NaN;
        }
        float value = Cells.number(number);
        if (!Float.isFinite(value)) {
            throw DataException.in(
                    place(line), "'%s' in column %s: expected a finite number".formatted(cell, field.name()));
        }
        return value;
    }

    private static Column column(Field field, List<float[]> rows, int at) {
        return switch (field) {
            case Field.Category category ->
                Columns.categories(
                        category,
                        rows.stream()
                                .mapToInt(row -> Float.isNaN(row[at]) ? -1 : (int) row[at])
                                .toArray());
            case Field.Dense dense ->
                Columns.numbers(dense, (row, target, offset) -> target[offset] = rows.get(row)[at]);
            case Field.Tokens tokens -> throw new IllegalArgumentException(tokens + " is in no table");
        };
    }
}
