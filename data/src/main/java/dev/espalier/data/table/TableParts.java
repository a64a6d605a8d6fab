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
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
    /** A larger share of different values, and a column of texts identifies rows. */
    private static final double ID_SHARE = 0.9;
    /** What columns of identifiers are called, if they hold whole numbers; nothing and the like where a library wrote its index. */
    private static final Pattern ID_NAME = Pattern.compile(
            "|unnamed: ?0|(.*[_ .-])?(id|ids|uuid|guid|rowid|rownames?|row[_ .-]?(number|no|num|id|index))|.*[a-z](ID|Id)",
            Pattern.DOTALL);

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
        if (own.isEmpty()) {
            requireUseful();
        }
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
        TableKind.Missing rule = rule();
        int[] rows = IntStream.range(0, table.size())
                .filter(row -> rule != TableKind.Missing.DROP || isWhole(table, row))
                .toArray();
        int dropped = table.size() - rows.length;
        if (rows.length == 0) {
            throw DataException.in(
                    table.name(),
                    "each of its %d rows misses a value: set data.missing to indicate or mean".formatted(dropped));
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

    private TableKind.Missing rule() {
        return values.of(own.isPresent() ? TableKind.MISSING_TEXTS : TableKind.MISSING);
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
                                            ? "fill them, or set data.missing to indicate, mean, zero or drop (labels: drop only)"
                                            : "a label must be there: set data.missing to drop"));
        }
        String filled = refused ? "" : missing(table, 0);
        if (!filled.isEmpty()) {
            notes.add("missing values in %s: %s. %s (data.missing = \"%s\")"
                    .formatted(
                            table.name(),
                            filled,
                            switch (rule) {
                                case INDICATE ->
                                    "A number becomes the mean of its column, with an indicator input; a category gets a value of its own";
                                case MEAN -> "A number becomes the mean of its column; a category has no value";
                                case ZERO -> "A number becomes 0; a category has no value";
                                case REFUSE, DROP -> "They are left as they are";
                            },
                            rule.name().toLowerCase(Locale.ROOT)));
        }
    }

    /** How many values are missing in which columns, and where the first is; empty if none is. */
    private String missing(Table table, int fromColumn) {
        List<String> found = new ArrayList<>();
        for (int i = fromColumn; i < table.heads().size(); i++) {
            int column = i;
            int[] rows = missingRows(table, column);
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

    private static int[] missingRows(Table table, int column) {
        return IntStream.range(0, table.size())
                .filter(row -> table.isMissing(column, row))
                .toArray();
    }

    private Field input(int column) throws DataException {
        String name = name(column);
        return switch (train.heads().get(column).content()) {
            case NUMBERS -> {
                noteId(column);
                yield new Field.Numbers(name);
            }
            case DATES -> new Field.Date(name, false);
            case UTC_DATES -> new Field.Date(name, true);
            case TEXTS -> category(column);
        };
    }

    /** Where texts are missing, nothing is a value like others: an empty cell is found among the categories by its text. */
    private Field.Category category(int column) throws DataException {
        SortedSet<String> texts = new TreeSet<>(train.texts(column));
        if (texts.size() > MOST_CATEGORIES) {
            throw DataException.in(
                    train.name(),
                    "column %s has %,d different texts, which would be as many inputs: %s"
                            .formatted(name(column), texts.size(), leftOut(List.of(name(column)))));
        }
        if (rule() == TableKind.Missing.INDICATE && missingRows(train, column).length > 0) {
            texts.add("");
        }
        return new Field.Category(name(column), List.copyOf(texts));
    }

    /** Refuses columns that are empty or identify rows, all at once. */
    private void requireUseful() throws DataException {
        List<String> problems = new ArrayList<>();
        List<String> useless = new ArrayList<>();
        for (int column = 0; column < inputs; column++) {
            int present = train.size() - missingRows(train, column).length;
            String problem = present == 0 ? "is empty" : present < ID_ROWS ? "" : identifies(column, present);
            if (!problem.isEmpty()) {
                problems.add("column %s %s".formatted(name(column), problem));
                useless.add(name(column));
            }
        }
        if (!problems.isEmpty()) {
            throw DataException.in(
                    train.name(),
                    "%s. Nothing can be learned from %s: %s"
                            .formatted(
                                    String.join("; ", problems),
                                    useless.size() == 1 ? "it" : "them",
                                    leftOut(useless)));
        }
    }

    /** What makes a column one of identifiers; empty if it is none. */
    private String identifies(int column, int present) {
        return switch (train.heads().get(column).content()) {
            case TEXTS -> {
                int different = train.texts(column).size();
                yield different > ID_SHARE * present
                        ? "looks like an identifier: %,d different texts in %,d rows".formatted(different, present)
                        : "";
            }
            // Any measurement has nearly as many values as rows: only the name tells.
            case NUMBERS ->
                !isNamed()
                                && DataSection.isLabelled(values)
                                && isIdName(name(column))
                                && differentWhole(column) > ID_SHARE * present
                        ? "looks like an identifier: %,d different integers in %,d rows"
                                .formatted(differentWhole(column), present)
                        : "";
            case DATES, UTC_DATES -> "";
        };
    }

    /** Whether the settings name the columns to use: then a number that looks like an identifier is none. */
    private boolean isNamed() {
        return !values.of(TableKind.COLUMNS).isEmpty()
                || !TableKind.inputs(values).isEmpty();
    }

    private static boolean isIdName(String name) {
        return ID_NAME.matcher(name).matches()
                || ID_NAME.matcher(name.toLowerCase(Locale.ROOT)).matches();
    }

    /** How many different whole numbers a column has; 0 if one is not whole. */
    private long differentWhole(int column) {
        double[] present = IntStream.range(0, train.size())
                .mapToDouble(row -> train.number(column, row))
                .filter(value -> !Double.isNaN(value))
                .toArray();
        boolean whole = Arrays.stream(present).allMatch(value -> value == Math.rint(value));
        return whole ? Arrays.stream(present).distinct().count() : 0;
    }

    /** How columns are left out, by the key that the settings have for it. */
    private String leftOut(List<String> useless) {
        if (!values.of(TableKind.COLUMNS).isEmpty()) {
            return "leave %s out of data.columns".formatted(String.join(", ", useless));
        }
        if (!TableKind.inputs(values).isEmpty()) {
            return "leave %s out of data.inputs".formatted(String.join(", ", useless));
        }
        List<String> ignored = new ArrayList<>(values.of(TableKind.IGNORE));
        ignored.addAll(useless);
        return "set data.ignore = [%s]"
                .formatted(ignored.stream()
                        .map(name -> '"' + name.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
                        .collect(Collectors.joining(", ")));
    }

    private void noteId(int column) {
        if (train.size() >= ID_ROWS && isRising(column)) {
            notes.add(
                    "column %s of %s holds rising whole numbers: it looks like an id, and data.ignore = [\"%s\"] leaves it out"
                            .formatted(name(column), train.name(), name(column)));
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
                        case Field.Numbers numbers -> numbers(table, column, numbers);
                        case Field.Date date -> numbers(table, column, date);
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

    private static Column numbers(Table table, int column, Field.Dense field) {
        return Columns.numbers(field, (row, target, offset) -> target[offset] = table.number(column, row));
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
            all[row] = text < 0 ? numbers.getOrDefault("", -1) : codes[text];
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
            notes.add(
                    "column %s of %s has %,d %s that the training split does not have: predicted as none of its categories"
                            .formatted(field.name(), table.name(), strange, strange == 1 ? "value" : "values"));
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
