package dev.espalier.data.table;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LabelType;
import dev.espalier.data.Parts;
import dev.espalier.settings.Values;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Makes data sets of tables: decides what labels are, and deals with missing values. */
final class TableParts {
    /** More different numbers in a column of labels may be no classes, and are worth a note. */
    private static final int MANY = 20;
    /** What occurs less often can hardly be learned as a class. */
    private static final int FEW_ROWS = 10;
    /** Each value of a category becomes a number of its own. */
    private static final int MOST_CATEGORIES = 10_000;
    /** In fewer rows any column may rise, or have no value twice. */
    private static final int ID_ROWS = 20;

    private final Values values;
    private final Table train;
    private final Optional<Table> test;
    private final int inputs;
    private final Optional<TableKind.Inputs> own;
    private final List<String> notes = new ArrayList<>();

    TableParts(Values values, Table train, Optional<Table> test, int labels, Optional<TableKind.Inputs> own) {
        this.values = values;
        this.train = train;
        this.test = test;
        this.inputs = train.heads().size() - labels;
        this.own = own;
    }

    Parts parts() throws DataException {
        // Refused before anything is concluded from what is there.
        int[] trainRows = present(train);
        Optional<int[]> testRows = test.isPresent() ? Optional.of(present(test.get())) : Optional.empty();
        List<Field> fields = new ArrayList<>();
        for (int column = own.isPresent() ? inputs : 0; column < train.heads().size(); column++) {
            fields.add(column < inputs ? input(column) : label(column));
        }
        Dataset learned = dataset(train, fields, trainRows, test.isPresent() ? " train" : "");
        Optional<Dataset> judged = test.isPresent()
                ? Optional.of(dataset(test.get(), fields, testRows.orElseThrow(), " test"))
                : Optional.empty();
        return new Parts(learned, judged, notes);
    }

    private String name(int column) {
        return train.heads().get(column).name();
    }

    /** The rows to use: all, or those without missing values. */
    private int[] present(Table table) throws DataException {
        TableKind.Missing rule = values.of(TableKind.MISSING);
        int[] rows = IntStream.range(0, table.size())
                .filter(row -> rule != TableKind.Missing.DROP || isWhole(table, row))
                .toArray();
        int dropped = table.size() - rows.length;
        if (rows.length == 0) {
            throw DataException.in(
                    table.name(),
                    "each of its %d rows misses a value: set data.missing to mean or zero".formatted(dropped));
        }
        if (dropped > 0) {
            notes.add("%,d of %,d rows of %s miss a value and are dropped: %s"
                    .formatted(dropped, table.size(), table.name(), missing(table, 0)));
        }
        if (rule != TableKind.Missing.DROP) {
            requirePresent(table, rule);
        }
        return rows;
    }

    private static boolean isWhole(Table table, int row) {
        return IntStream.range(0, table.heads().size()).noneMatch(column -> table.isMissing(column, row));
    }

    private void requirePresent(Table table, TableKind.Missing rule) throws DataException {
        boolean refused = rule == TableKind.Missing.REFUSE;
        String found = missing(table, refused ? 0 : inputs);
        if (!found.isEmpty()) {
            throw DataException.in(
                    table.name(),
                    "values are missing: %s; %s"
                            .formatted(
                                    found,
                                    refused
                                            ? "fill them, or set data.missing to mean, zero or drop (labels: drop only)"
                                            : "a label must be there: set data.missing to drop"));
        }
        String filled = refused ? "" : missing(table, 0);
        if (!filled.isEmpty()) {
            notes.add("values of %s are missing, and %s stands in for a number: %s"
                    .formatted(table.name(), rule == TableKind.Missing.ZERO ? "0" : "the column's mean", filled));
        }
    }

    /** How many values are missing in which columns, and where the first is; empty if none is. */
    private String missing(Table table, int fromColumn) {
        List<String> found = new ArrayList<>();
        for (int i = fromColumn; i < table.heads().size(); i++) {
            int column = i;
            int[] rows = IntStream.range(0, table.size())
                    .filter(row -> table.isMissing(column, row))
                    .toArray();
            if (rows.length > 0) {
                found.add("%,d in %s%s (the first in %s)"
                        .formatted(
                                rows.length,
                                column < inputs ? "column " : "the label ",
                                name(column),
                                table.shortPlace(rows[0])));
            }
        }
        return String.join(", ", found);
    }

    private Field input(int column) throws DataException {
        String name = name(column);
        noteId(column);
        if (train.heads().get(column).isNumber()) {
            return new Field.Numbers(name);
        }
        List<String> texts = train.texts(column).stream().sorted().toList();
        if (texts.size() > MOST_CATEGORIES) {
            throw DataException.in(
                    train.name(),
                    "column %s has %,d different texts, which would be as many inputs: list it in data.ignore"
                            .formatted(name, texts.size()));
        }
        if (texts.isEmpty()) {
            throw DataException.in(train.name(), "column %s is empty: list it in data.ignore".formatted(name));
        }
        return new Field.Category(name, texts);
    }

    private void noteId(int column) {
        String what = train.heads().get(column).isNumber()
                ? isRising(column) ? "rising whole numbers" : ""
                : train.texts(column).size() == train.size() ? "a different text in every row" : "";
        if (!what.isEmpty() && train.size() >= ID_ROWS) {
            notes.add("column %s of %s holds %s: it looks like an id, and data.ignore = [\"%s\"] leaves it out"
                    .formatted(name(column), train.name(), what, name(column)));
        }
    }

    private boolean isRising(int column) {
        return IntStream.range(0, train.size())
                .allMatch(row -> train.number(column, row) == Math.rint(train.number(column, row))
                        && (row == 0 || train.number(column, row) > train.number(column, row - 1)));
    }

    private Field label(int column) throws DataException {
        List<String> names = train.texts(column);
        boolean numeric = names.stream().allMatch(Cells::isNumber);
        boolean several = train.heads().size() - inputs > 1;
        LabelType type = values.of(DataSection.LABEL_TYPE);
        boolean number = several
                || switch (type) {
                    case AUTO -> numeric && looksLikeNumbers(column, names);
                    case CATEGORY -> false;
                    case NUMBER -> true;
                };
        if (number && !numeric) {
            throw DataException.in(
                    train.name(),
                    "the label %s has the value '%s', which is no number: %s"
                            .formatted(
                                    name(column),
                                    names.stream()
                                            .filter(name -> !Cells.isNumber(name))
                                            .findFirst()
                                            .orElseThrow(),
                                    several
                                            ? "several labels must be numbers; name one column in data.label"
                                            : "for classes set task.kind = \"classification\", or data.label_type = \"category\""));
        }
        return number ? new Field.Numbers(name(column)) : new Field.Category(name(column), classes(names));
    }

    private boolean looksLikeNumbers(int column, List<String> names) {
        boolean whole = names.stream().allMatch(Cells::isWhole);
        boolean many = names.size() > MANY;
        boolean estimated = whole
                ? many && train.size() < FEW_ROWS * names.size() && !isCount(names)
                : many || names.size() > train.size() / 2;
        if (many || estimated) {
            notes.add(
                    "the label %s of %s has %,d different %snumbers, such as %s, in %,d rows: %s"
                            .formatted(
                                    name(column),
                                    train.name(),
                                    names.size(),
                                    whole ? "whole " : "",
                                    names.getFirst(),
                                    train.size(),
                                    estimated
                                            ? "it is taken for a number to be estimated (task.kind = \"regression\"); for classes set task.kind = \"classification\""
                                            : "each is taken for a class (task.kind = \"classification\"); for a number to be estimated set task.kind = \"regression\""));
        }
        return estimated;
    }

    /** Whether numbers are all from the least to the greatest, as classes are that somebody has numbered. */
    private static boolean isCount(List<String> names) {
        LongSummaryStatistics numbers =
                names.stream().mapToLong(Long::parseLong).distinct().summaryStatistics();
        return numbers.getMax() - numbers.getMin() == numbers.getCount() - 1;
    }

    /** The classes in order: by value where all are whole numbers, by name otherwise. */
    private List<String> classes(List<String> names) throws DataException {
        boolean whole = names.stream().allMatch(Cells::isWhole);
        Comparator<String> byName = Comparator.naturalOrder();
        Comparator<String> order =
                whole ? Comparator.<String>comparingLong(Long::parseLong).thenComparing(byName) : byName;
        if (names.size() < 2) {
            throw DataException.in(
                    train.name(),
                    "all labels are " + names + ": there must be 2 classes or more; is it the right column?");
        }
        return names.stream().sorted(order).toList();
    }

    private Dataset dataset(Table table, List<Field> fields, int[] rows, String part) throws DataException {
        List<Column> columns = new ArrayList<>();
        own.ifPresent(makes -> columns.addAll(makes.of(table)));
        int given = columns.size();
        int first = train.heads().size() - fields.size();
        for (int i = 0; i < fields.size(); i++) {
            int column = first + i;
            columns.add(
                    switch (fields.get(i)) {
                        case Field.Category category -> categories(table, column, category, rows);
                        case Field.Numbers numbers when column >= inputs -> labels(table, column, numbers, rows);
                        case Field.Numbers numbers ->
                            Columns.numbers(
                                    numbers, (row, target, offset) -> target[offset] = table.number(column, row));
                        case Field.Image _, Field.Tokens _ ->
                            throw new IllegalStateException("a table has neither images nor tokens");
                    });
        }
        Dataset all = new Dataset(
                shortName(table) + part,
                table.size(),
                columns.subList(0, given + inputs - first),
                columns.subList(given + inputs - first, columns.size()));
        return rows.length == table.size() ? all : all.rows(rows);
    }

    private static String shortName(Table table) {
        return table.name().substring(table.name().lastIndexOf('/') + 1);
    }

    private Column categories(Table table, int column, Field.Category field, int[] rows) throws DataException {
        Map<String, Integer> numbers = new HashMap<>();
        field.values().forEach(value -> numbers.put(value, numbers.size()));
        int[] codes = table.texts(column).stream()
                .mapToInt(text -> numbers.getOrDefault(text, -1))
                .toArray();
        int strange = 0;
        int[] all = new int[table.size()];
        for (int row = 0; row < all.length; row++) {
            int text = table.text(column, row);
            all[row] = text < 0 ? -1 : codes[text];
            strange += text >= 0 && codes[text] < 0 ? 1 : 0;
        }
        if (column >= inputs) {
            for (int row : rows) {
                if (all[row] < 0) {
                    throw DataException.in(
                            table.place(row),
                            "the class %s does not occur in the training part, which has %s"
                                    .formatted(table.texts(column).get(table.text(column, row)), field.values()));
                }
            }
        } else if (strange > 0) {
            notes.add("%,d values in column %s of %s do not occur in the training part: they are none of its categories"
                    .formatted(strange, field.name(), table.name()));
        }
        return Columns.categories(field, all);
    }

    private static Column labels(Table table, int column, Field.Numbers field, int[] rows) throws DataException {
        List<String> texts = table.texts(column);
        float[][] all = new float[table.size()][1];
        for (int row : rows) {
            String text = texts.get(table.text(column, row));
            all[row][0] = Cells.number(text);
            if (!Float.isFinite(all[row][0])) {
                throw DataException.in(
                        table.place(row),
                        "'%s' in the label %s: expected a finite number".formatted(text, field.name()));
            }
        }
        return Columns.numbers(field, all);
    }
}
