package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Columns over what is in memory, and over some rows of other columns. */
public final class Columns {
    private Columns() {}

    /**
     * Numbers in memory.
     *
     * @param field what they are
     * @param rows an array for each row; not copied
     * @return the column
     */
    public static Column.Numbers numbers(Field.Dense field, float[][] rows) {
        for (float[] row : rows) {
            Check.sameSize("a row of " + field.name(), row.length, field.toString(), field.size());
        }
        return numbers(
                field, (row, target, offset) -> System.arraycopy(rows[row], 0, target, offset, rows[row].length));
    }

    /**
     * Images in memory, a byte for each value.
     *
     * @param field what they are
     * @param rows an array for each row; not copied
     * @param white the byte that stands for an intensity of 1
     * @return the column
     */
    public static Column.Numbers images(Field.Image field, byte[][] rows, int white) {
        for (byte[] row : rows) {
            Check.sameSize("a row of " + field.name(), row.length, field.toString(), field.size());
        }
        float[] intensities = intensities(white);
        return numbers(field, (row, target, offset) -> copy(rows[row], intensities, target, offset));
    }

    /**
     * What bytes mean. A table, since dividing each pixel anew costs more than all else that is done to it.
     *
     * @param white the byte that stands for an intensity of 1
     * @return the intensity of every byte
     */
    public static float[] intensities(int white) {
        float[] intensities = new float[256];
        for (int i = 0; i < intensities.length; i++) {
            intensities[i] = (float) i / white;
        }
        return intensities;
    }

    /**
     * Makes intensities of bytes.
     *
     * @param source the bytes
     * @param intensities what they mean, by {@link #intensities}
     * @param target takes as many values
     * @param offset where the first of them goes
     */
    public static void copy(byte[] source, float[] intensities, float[] target, int offset) {
        for (int i = 0; i < source.length; i++) {
            target[offset + i] = intensities[Byte.toUnsignedInt(source[i])];
        }
    }

    /**
     * Categories in memory.
     *
     * @param field what they are
     * @param rows an index into the field's values for each row, or −1; not copied
     * @return the column
     */
    public static Column.Categories categories(Field.Category field, int[] rows) {
        for (int value : rows) {
            Check.atLeast("an index of " + field.name(), value, -1);
            Check.atMost("an index of " + field.name(), value, field.values().size() - 1);
        }
        return new Column.Categories() {
            @Override
            public Field.Category field() {
                return field;
            }

            @Override
            public int read(int row) {
                return rows[row];
            }
        };
    }

    /**
     * Sequences that a function reads.
     *
     * @param field what they are
     * @param reader makes a row; called by several threads at once
     * @return the column
     */
    public static Column.Sequences sequences(Field.Tokens field, IntFunction<int[]> reader) {
        return new Column.Sequences() {
            @Override
            public Field.Tokens field() {
                return field;
            }

            @Override
            public int[] read(int row) {
                return reader.apply(row);
            }
        };
    }

    /** What reads the numbers of a row: a {@link Column.Numbers} without its field. */
    @FunctionalInterface
    public interface Reader {
        /**
         * Copies the values of a row.
         *
         * @param row its index
         * @param target takes as many values as the field has
         * @param offset where the first of them goes
         */
        void read(int row, float[] target, int offset);
    }

    /**
     * Numbers that a function reads.
     *
     * @param field what they are
     * @param reader copies a row; called by several threads at once
     * @return the column
     */
    public static Column.Numbers numbers(Field.Dense field, Reader reader) {
        return new Column.Numbers() {
            @Override
            public Field.Dense field() {
                return field;
            }

            @Override
            public void read(int row, float[] target, int offset) {
                reader.read(row, target, offset);
            }
        };
    }

    /**
     * The names of categories that have numbers only.
     *
     * @param count how many
     * @return 0, 1, … as texts
     */
    public static List<String> numbered(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toList();
    }

    /** Some rows of a column, which stay where they are. */
    static Column rows(Column column, int[] chosen) {
        return switch (column) {
            case Column.Numbers numbers ->
                numbers(numbers.field(), (row, target, offset) -> numbers.read(chosen[row], target, offset));
            case Column.Categories categories ->
                new Column.Categories() {
                    @Override
                    public Field.Category field() {
                        return categories.field();
                    }

                    @Override
                    public int read(int row) {
                        return categories.read(chosen[row]);
                    }
                };
            case Column.Sequences sequences ->
                new Column.Sequences() {
                    @Override
                    public Field.Tokens field() {
                        return sequences.field();
                    }

                    @Override
                    public int[] read(int row) {
                        return sequences.read(chosen[row]);
                    }

                    @Override
                    public int length(int row) {
                        return sequences.length(chosen[row]);
                    }

                    @Override
                    public Optional<String> text(int row) {
                        return sequences.text(chosen[row]);
                    }
                };
        };
    }
}
