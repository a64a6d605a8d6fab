package dev.espalier.data.table;

import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.DataException;
import dev.espalier.data.DataKind;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LabelType;
import dev.espalier.data.NamedInput;
import dev.espalier.data.Normalization;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.DoublePredicate;
import java.util.stream.IntStream;

/**
 * What kinds of tables have in common, wherever their rows come from: which columns are used for what, and what becomes of missing
 * values. A kind of its own reads a {@link Table} whose columns are those of a {@link Selection}, first the inputs and then
 * the labels, which must be texts: whether they are classes or numbers is decided by what they say.
 */
public abstract class TableKind implements DataKind {
    /** What becomes of missing values. */
    public enum Missing {
        /**
         * A number or a date becomes the mean of its column in the training part, with an indicator behind it where the training
         * part misses one; a text that is missing is a value of its own.
         */
        INDICATE,
        /** They are refused, with counts for each column. */
        REFUSE,
        /** A number becomes the mean of its column in the training part; a text is none of its column's. */
        MEAN,
        /** A number becomes 0, a date the mean of its column; a text is none of its column's. */
        ZERO,
        /** The row is left out. */
        DROP
    }

    /** {@code data.label}. */
    public static final Key<List<String>> LABEL = Key.someTexts(
                    "data.label",
                    "the column of labels: its name, or its number from 0, or from the end as -1, -2, …; several in brackets")
            .in(new Range<>(
                    "at least one, all different, none empty",
                    values -> Range.<String>distinct().legal().test(values)
                            && values.stream().noneMatch(String::isBlank)))
            .withDefault(List.of("-1"));
    /** {@code data.columns}. */
    public static final Key<List<String>> COLUMNS = Key.texts(
                    "data.columns", "the columns to say labels from, in this order; if empty, all others")
            .withDefault(List.of());
    /** {@code data.ignore}. */
    public static final Key<List<String>> IGNORE =
            Key.texts("data.ignore", "columns to leave out, such as an id").withDefault(List.of());
    /** {@code data.inputs}. */
    public static final Key<List<String>> INPUTS = Key.texts(
                    "data.inputs",
                    "for a model of several inputs: each as \"name = column, column\", in place of columns and ignore; if empty, all columns are one input")
            .withDefault(List.of());
    /** {@code data.categories}. */
    public static final Key<List<String>> CATEGORIES = Key.texts(
                    "data.categories", "columns whose values are names even if they look like numbers, such as codes")
            .withDefault(List.of());
    /** {@code data.missing}. */
    public static final Key<Missing> MISSING = Key.choice(
                    "data.missing",
                    Missing.class,
                    "what becomes of missing values: the column's mean and an indicator, of a category a value of its own; refused; the column's mean; 0; or the row is dropped")
            .withDefault(Missing.INDICATE);
    /** {@code data.missing}, of texts that become tokens. */
    public static final Key<Missing> MISSING_TEXTS = Key.choice(
                    "data.missing",
                    Missing.class,
                    "what becomes of missing values: refused, no text, or the row is dropped; a label must be there")
            .withDefault(Missing.REFUSE);

    /** What the joined inputs are called. */
    static final String FEATURES = "features";

    /** For kinds of tables. */
    protected TableKind() {}

    /** {@return the keys that all kinds of tables have} */
    protected static List<Key<?>> tableKeys() {
        return List.of(
                DataSection.LABELLED,
                LABEL,
                DataSection.LABEL_TYPE,
                COLUMNS,
                IGNORE,
                INPUTS,
                CATEGORIES,
                MISSING,
                DataSection.NORMALIZE,
                DataSection.TEST_FRACTION);
    }

    @Override
    public void check(Values values) {
        if (!values.of(COLUMNS).isEmpty() && !values.of(IGNORE).isEmpty()) {
            throw new IllegalArgumentException(
                    "data.columns and data.ignore are both set: give the columns to use, or those to leave out");
        }
        if (!inputs(values).isEmpty()) {
            checkInputs(values);
        }
        if (!DataSection.isLabelled(values) && !LABEL.defaultValue().equals(Optional.of(values.of(LABEL)))) {
            throw new IllegalArgumentException(
                    "data.labelled = false and data.label = %s: leave one of them out; columns that are no inputs are listed in data.ignore"
                            .formatted(values.of(LABEL)));
        }
        if (values.of(LABEL).size() > 1 && values.of(DataSection.LABEL_TYPE) == LabelType.CATEGORY) {
            throw new IllegalArgumentException(
                    "data.label names %d columns, which must be numbers, but they are to be classes: name one, or set data.label_type to number, or task.multi_label to true if each is 0 or 1"
                            .formatted(values.of(LABEL).size()));
        }
    }

    private static void checkInputs(Values values) {
        if (!values.of(COLUMNS).isEmpty() || !values.of(IGNORE).isEmpty()) {
            throw new IllegalArgumentException(
                    "data.inputs names the columns to use: leave data.columns and data.ignore out");
        }
        Set<String> used = new HashSet<>();
        for (NamedInput input : inputs(values)) {
            if (input.name().isEmpty()) {
                throw new IllegalArgumentException(
                        "data.inputs has '%s': write \"name = column, column\", with the name that the model has for the input"
                                .formatted(String.join(", ", input.sources())));
            }
            for (String column : input.sources()) {
                if (!used.add(column)) {
                    throw new IllegalArgumentException(
                            "data.inputs has the column %s twice: a column belongs to one input".formatted(column));
                }
            }
        }
    }

    /** What the columns make up, if not one input; none for kinds that have no such key. */
    static List<NamedInput> inputs(Values values) {
        return values.has(INPUTS)
                ? values.of(INPUTS).stream().map(NamedInput::parse).toList()
                : List.of();
    }

    @Override
    public Outline outline(Values values) {
        return inputs(values).isEmpty() ? new Outline.Vector() : new Outline.Unknown();
    }

    /**
     * Makes data sets of tables.
     *
     * @param values the section's values
     * @param train the table to learn from, of the columns of a {@link Selection}
     * @param test the table to judge by, of the same columns; empty if some rows are to be held out
     * @param labels how many columns, at the end, are labels
     * @return the parts
     * @throws DataException if the tables are not what they should be
     */
    protected static Parts parts(Values values, Table train, Optional<Table> test, int labels) throws DataException {
        return new TableParts(values, train, test, labels, Optional.empty()).parts();
    }

    /** Makes the inputs of a kind whose inputs are neither numbers nor categories, but made of texts. */
    @FunctionalInterface
    protected interface Inputs {
        /**
         * Makes them.
         *
         * @param table one of the tables
         * @return the columns, a row for each of the table's
         */
        List<Column> of(Table table);
    }

    /**
     * Makes data sets of tables, with inputs of the kind's own.
     *
     * @param values the section's values
     * @param train the table to learn from: columns of texts, then labels
     * @param test the table to judge by, of the same columns; empty if some rows are to be held out
     * @param labels how many columns, at the end, are labels
     * @param inputs makes the inputs
     * @return the parts
     * @throws DataException if the tables are not what they should be
     */
    protected static Parts parts(Values values, Table train, Optional<Table> test, int labels, Inputs inputs)
            throws DataException {
        return new TableParts(values, train, test, labels, Optional.of(inputs)).parts();
    }

    @Override
    public Encoding encoding(Values values, Dataset train) {
        List<ColumnEncoding> inputs = new ArrayList<>();
        for (Column column : train.inputs()) {
            inputs.add(
                    switch (column) {
                        case Column.Numbers numbers -> encoded(values, numbers, train.size());
                        case Column.Categories categories -> new ColumnEncoding.OneHot(categories.field());
                        case Column.Sequences sequences ->
                            throw new IllegalArgumentException(sequences.field() + " is in no table");
                    });
        }
        List<ColumnEncoding> joined = new ArrayList<>();
        int from = 0;
        for (NamedInput input : inputs(values)) {
            int to = from + input.sources().size();
            joined.add(new ColumnEncoding.Joined(input.name().orElseThrow(), inputs.subList(from, to)));
            from = to;
        }
        return new Encoding(
                joined.isEmpty() ? List.of(new ColumnEncoding.Joined(FEATURES, inputs)) : joined, targets(train));
    }

    private static ColumnEncoding encoded(Values values, Column.Numbers column, int rows) {
        Normalization measured = Normalization.of(column, rows);
        boolean isDate = column.field() instanceof Field.Date;
        double missing = values.of(MISSING) == Missing.ZERO && !isDate
                ? 0
                : measured.mean().getFirst();
        ColumnEncoding.Scaled scaled = new ColumnEncoding.Scaled(
                column.field(), values.of(DataSection.NORMALIZE) ? measured : Normalization.none(1), missing);
        float[] found = new float[rows];
        IntStream.range(0, rows).forEach(row -> column.read(row, found, row));
        ColumnEncoding encoding = isDate ? new ColumnEncoding.Calendar(scaled, cycles(found)) : scaled;
        return values.of(MISSING) == Missing.INDICATE && any(found, Double::isNaN)
                ? new ColumnEncoding.Indicated(encoding)
                : encoding;
    }

    private static boolean any(float[] values, DoublePredicate wanted) {
        return IntStream.range(0, values.length).anyMatch(row -> wanted.test(values[row]));
    }

    /** Where no date has a time, the hour says nothing. */
    private static List<ColumnEncoding.Calendar.Cycle> cycles(float[] dates) {
        return any(dates, date -> !Double.isNaN(date) && date != Math.rint(date))
                ? List.of(ColumnEncoding.Calendar.Cycle.values())
                : List.of(ColumnEncoding.Calendar.Cycle.WEEK, ColumnEncoding.Calendar.Cycle.YEAR);
    }

    /**
     * How labels become targets: a class stays what it is; numbers are one vector, in their own units.
     *
     * @param train what is left to learn from
     * @return the encodings
     */
    protected static List<ColumnEncoding> targets(Dataset train) {
        List<ColumnEncoding> measured = train.targets().stream()
                .filter(Column.Numbers.class::isInstance)
                .map(Column.Numbers.class::cast)
                .<ColumnEncoding>map(
                        column -> new ColumnEncoding.Measured(column.field(), Normalization.of(column, train.size())))
                .toList();
        if (measured.isEmpty()) {
            return Encoding.plain(train.targetFields());
        }
        String name = measured.size() == 1 ? measured.getFirst().to().name() : "targets";
        return List.of(new ColumnEncoding.Joined(name, measured));
    }
}
