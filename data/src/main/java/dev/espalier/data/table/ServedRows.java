package dev.espalier.data.table;

import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Problems;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Rows for a model that is trained already: what columns hold and what categories there are is known, and columns are found by
 * their names. What is wrong in them is told all at once.
 *
 * @param cells the file
 * @param decimal what stands before the decimals of a number
 * @param progress who is told as reading goes on
 */
public record ServedRows(CellFile cells, char decimal, Context.Progress progress) {
    private static final int PROGRESS = 10_000;
    /** Of many categories, that many show what they look like. */
    private static final int SHOWN = 20;

    /**
     * Some rows, and where they stand.
     *
     * @param dataset the rows, not encoded
     * @param places the line or row of each, from 1
     * @param notes what a user should know of them, a sentence each
     */
    public record Rows(Dataset dataset, List<Long> places, List<String> notes) {
        /** Copies the lists. */
        public Rows {
            places = List.copyOf(places);
            notes = List.copyOf(notes);
        }
    }

    /** Makes tokens of texts. */
    @FunctionalInterface
    public interface Tokenization {
        /** For models that take no texts. */
        Tokenization NONE = texts -> {
            throw new IllegalArgumentException("texts of %s, and no tokenizer".formatted(texts.name()));
        };

        /**
         * Makes tokens.
         *
         * @param texts a table with nothing but columns of texts
         * @return what the model takes of it, in the order of its inputs
         * @throws IOException if there is no tokenizer
         */
        List<Column> columns(Table texts) throws IOException;
    }

    /**
     * The columns of texts that a model's tokens are made of.
     *
     * @param encoding what the model was trained with
     * @return one name, or two of a pair; none if it does not take texts only
     */
    public static List<String> texts(Encoding encoding) {
        List<Field> from = from(encoding.inputs());
        return from.stream().allMatch(Field.Tokens.class::isInstance)
                ? ((Field.Tokens) from.getFirst()).texts()
                : List.of();
    }

    private static List<Field> from(List<ColumnEncoding> columns) {
        return columns.stream().flatMap(column -> column.from().stream()).toList();
    }

    /**
     * Reads the file.
     *
     * @param encoding what the model was trained with
     * @param labelled whether the file must have the labels too
     * @param tokenization what makes tokens, for a model of texts
     * @return the rows
     * @throws IOException if it cannot be read, a column is missing, or a cell is not what the model knows
     */
    public Rows read(Encoding encoding, boolean labelled, Tokenization tokenization) throws IOException {
        List<String> texts = texts(encoding);
        List<Field> inputs = texts.isEmpty() ? requireCells(from(encoding.inputs())) : List.of();
        List<Field> targets = labelled ? requireCells(from(encoding.targets())) : List.of();
        Collected collected = new Collected(texts, inputs, targets);
        List<String> wanted = Stream.concat(
                        texts.stream(), collected.fields.stream().map(Field::name))
                .toList();
        cells.forEach(wanted, collected);
        collected.problems.requireNone();
        if (collected.places.isEmpty()) {
            throw DataException.in(cells.file(), "no rows: expected " + wanted);
        }
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < collected.fields.size(); i++) {
            columns.add(column(collected.fields.get(i), collected.rows, i));
        }
        return new Rows(
                new Dataset(
                        String.valueOf(cells.file().getFileName()),
                        collected.places.size(),
                        texts.isEmpty()
                                ? columns.subList(0, inputs.size())
                                : tokenization.columns(collected.written.build()),
                        columns.subList(inputs.size(), columns.size())),
                collected.places,
                collected.notes());
    }

    /** Single numbers and categories are all that a cell can hold, besides texts. */
    private static List<Field> requireCells(List<Field> fields) {
        for (Field field : fields) {
            boolean fits = field instanceof Field.Category
                    || field instanceof Field.Date
                    || (field instanceof Field.Numbers numbers
                            && numbers.shape().isEmpty());
            if (!fits) {
                throw new IllegalArgumentException(
                        "the model takes or says %s, which no cell of a table holds".formatted(field));
            }
        }
        return fields;
    }

    /** How often a column has a category that the model does not know, and the first of them. */
    private static final class Unknown {
        private final String first;
        private final long place;
        private long count;

        Unknown(String first, long place) {
            this.first = first;
            this.place = place;
        }
    }

    /** All rows: first the texts, then inputs, then targets. */
    private final class Collected implements CellFile.Visitor {
        private final int texts;
        private final int inputs;
        private final List<Field> fields;
        private final Table.Builder written;
        private final List<float[]> rows = new ArrayList<>();
        private final List<Long> places = new ArrayList<>();
        private final Problems problems = new Problems();
        private final Map<Field.Category, Unknown> unknown = new LinkedHashMap<>();

        Collected(List<String> texts, List<Field> inputs, List<Field> targets) {
            this.texts = texts.size();
            this.inputs = inputs.size();
            this.fields = Stream.concat(inputs.stream(), targets.stream()).toList();
            this.written = new Table.Builder(
                    cells.file().toString(),
                    texts.stream()
                            .map(name -> new Table.Head(name, Table.Content.TEXTS))
                            .toList(),
                    cells.placeWord());
        }

        @Override
        public void row(long place, List<String> found) {
            written.begin(place);
            for (int i = 0; i < texts; i++) {
                written.text(i, found.get(i).isBlank() ? null : found.get(i));
            }
            float[] row = new float[fields.size()];
            for (int i = 0; i < row.length; i++) {
                row[i] = value(fields.get(i), found.get(texts + i), i >= inputs, place);
            }
            rows.add(row);
            places.add(place);
            if (places.size() % PROGRESS == 0) {
                progress.at("rows", places.size(), 0);
            }
        }

        @Override
        public void problem(long place, String problem) {
            problems.add(DataException.in("%s, %s %d".formatted(cells.file(), cells.placeWord(), place), problem));
        }

        /** Like the test split of a training, rows may have categories that the model has never seen: they are none of its own. */
        List<String> notes() {
            List<String> notes = new ArrayList<>();
            unknown.forEach((category, found) -> notes.add(
                    "%s: column %s has %,d %s that the training did not have, the first '%s' in %s %d: predicted as none of the known categories, %s"
                            .formatted(
                                    cells.file(),
                                    category.name(),
                                    found.count,
                                    found.count == 1 ? "value" : "values",
                                    found.first,
                                    cells.placeWord(),
                                    found.place,
                                    some(category.values()))));
            return notes;
        }

        private float days(Field.Date date, String number, String cell, long place) {
            Optional<IsoDate> found = IsoDate.parse(number);
            if (found.isPresent() && found.get().zoned() == date.zoned()) {
                return found.get().days();
            }
            problem(
                    place,
                    found.isPresent() && !date.zoned()
                            ? "'%s' in column %s has an offset from UTC, but the dates of the training had none: leave it out"
                                    .formatted(cell, date.name())
                            : "'%s' in column %s: expected %s"
                                    .formatted(
                                            cell,
                                            date.name(),
                                            date.zoned() ? IsoDate.EXPECTED_ZONED : IsoDate.EXPECTED));
            return Float.NaN;
        }

        /** A number, or a place among the categories; NaN if it is missing, or wrong. */
        private float value(Field field, String cell, boolean isTarget, long place) {
            String number = decimal == '.' ? cell : cell.replace(decimal, '.');
            if (field instanceof Field.Category category) {
                int index = category.values().indexOf(isTarget && Cells.isNumber(number) ? number : cell);
                if (index >= 0) {
                    return index;
                }
                if (isTarget) {
                    problem(
                            place,
                            "'%s' in column %s: expected one of %s, as in training"
                                    .formatted(cell, field.name(), some(category.values())));
                } else if (!cell.isEmpty()) {
                    unknown.computeIfAbsent(category, _ -> new Unknown(cell, place)).count++;
                }
                return Float.NaN;
            }
            if (Cells.isMissing(number) && !isTarget) {
                return Float.NaN;
            }
            if (field instanceof Field.Date date) {
                return days(date, number, cell, place);
            }
            // As DuckDB's truth values are numbers when a model is trained.
            float value = switch (number) {
                case "true" -> 1;
                case "false" -> 0;
                default -> Cells.number(number);
            };
            if (!Float.isFinite(value)) {
                problem(place, "'%s' in column %s: expected a finite number".formatted(cell, field.name()));
            }
            return value;
        }
    }

    private static String some(List<String> values) {
        List<String> shown = values.stream()
                .limit(SHOWN)
                .map(value -> value.isEmpty() ? "(empty)" : value)
                .toList();
        return values.size() <= SHOWN ? shown.toString() : "%s and %,d more".formatted(shown, values.size() - SHOWN);
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
