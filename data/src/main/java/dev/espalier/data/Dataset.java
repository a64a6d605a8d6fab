package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Rows of typed columns: what a model is given, and what it is to say. Safe to read from several threads.
 *
 * @param name what to call it
 * @param size the number of rows, at least 1
 * @param inputs what a model is given
 * @param targets what it is to say
 * @param block from a row to a number that only rows have which must stay together, such as windows of one text or pictures of
 *     one patient: {@link Holdout} and {@link Limit} take all of a block or nothing. Usually every row is a block of its own
 */
public record Dataset(String name, int size, List<Column> inputs, List<Column> targets, IntUnaryOperator block) {
    /** Checks the size and the names. */
    public Dataset {
        Check.atLeast("the number of rows of " + name, size, 1);
        inputs = List.copyOf(inputs);
        targets = List.copyOf(targets);
        Check.atLeast("the number of inputs of " + name, inputs.size(), 1);
        requireNames(name, fields(inputs));
        requireNames(name, fields(targets));
    }

    /**
     * Rows that do not belong together.
     *
     * @param name what to call it
     * @param size the number of rows, at least 1
     * @param inputs what a model is given
     * @param targets what it is to say
     */
    public Dataset(String name, int size, List<? extends Column> inputs, List<? extends Column> targets) {
        this(name, size, List.copyOf(inputs), List.copyOf(targets), IntUnaryOperator.identity());
    }

    private static void requireNames(String name, List<Field> fields) {
        List<String> names = fields.stream().map(Field::name).toList();
        if (names.stream().distinct().count() < names.size()) {
            throw new IllegalArgumentException(
                    "%s has the columns %s: each needs a name of its own".formatted(name, names));
        }
    }

    static List<Field> fields(List<Column> columns) {
        return columns.stream().map(Column::field).toList();
    }

    /**
     * What the inputs are.
     *
     * @return the fields, in order
     */
    public List<Field> inputFields() {
        return fields(inputs);
    }

    /**
     * What the targets are.
     *
     * @return the fields, in order
     */
    public List<Field> targetFields() {
        return fields(targets);
    }

    /**
     * Some of the rows, which stay where they are.
     *
     * @param chosen their indices, in the order that they are to have
     * @return the data set of these
     */
    public Dataset rows(int[] chosen) {
        int[] rows = chosen.clone();
        for (int row : rows) {
            Check.atLeast("a row of " + name, row, 0);
            Check.atMost("a row of " + name, row, size - 1);
        }
        return new Dataset(
                name,
                rows.length,
                inputs.stream().map(column -> Columns.rows(column, rows)).toList(),
                targets.stream().map(column -> Columns.rows(column, rows)).toList(),
                row -> block.applyAsInt(rows[row]));
    }

    /** What knows the lengths of rows, where rows of like length are to make batches. */
    Optional<Column.Sequences> lengths() {
        return inputs.stream()
                .filter(Column.Sequences.class::isInstance)
                .map(Column.Sequences.class::cast)
                .filter(column -> column.length(0) > 0)
                .findFirst();
    }

    /** The same rows, short ones first, where rows of like length are to make batches: what is read in order pads little then. */
    Dataset byLength() {
        return lengths()
                .map(lengths -> rows(IntStream.range(0, size)
                        .boxed()
                        .sorted(Comparator.comparingInt(lengths::length))
                        .mapToInt(Integer::intValue)
                        .toArray()))
                .orElse(this);
    }

    /**
     * The same under another name.
     *
     * @param other the name
     * @return the data set
     */
    public Dataset named(String other) {
        return new Dataset(other, size, inputs, targets, block);
    }

    /**
     * Refuses a data set that has other columns.
     *
     * @param other the data set
     * @throws IllegalArgumentException if its inputs or targets are other fields
     */
    void requireAlike(Dataset other) {
        if (!inputFields().equals(other.inputFields()) || !targetFields().equals(other.targetFields())) {
            throw new IllegalArgumentException("%s has %s → %s, but %s has %s → %s: they must be alike"
                    .formatted(
                            name,
                            inputFields(),
                            targetFields(),
                            other.name,
                            other.inputFields(),
                            other.targetFields()));
        }
    }

    @Override
    public String toString() {
        return "%s: %d rows of %s → %s".formatted(name, size, inputFields(), targetFields());
    }
}
