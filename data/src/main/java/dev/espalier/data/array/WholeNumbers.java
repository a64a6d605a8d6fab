package dev.espalier.data.array;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.Field;
import dev.espalier.data.ModelInput;
import java.util.List;

/** Arrays of whole numbers for inputs that are such: sequences of token ids, and places in a table. */
final class WholeNumbers {
    private WholeNumbers() {}

    static Column of(String name, NpyArray array, ModelInput declared) throws DataException {
        List<Integer> shape = array.rowShape();
        requirePlaces(array, shape, declared);
        return switch (shape.size()) {
            case 0 -> places(name, array, declared);
            case 1 -> sequences(name, array, shape.getFirst());
            default ->
                throw DataException.in(
                        array.place(),
                        "a row is %s, and the model takes %s: whole numbers must be [rows] or [rows, tokens]"
                                .formatted(shape, declared));
        };
    }

    /** Ids of another vocabulary would make a model fail in the middle of a training, or say nonsense. */
    private static void requirePlaces(NpyArray array, List<Integer> shape, ModelInput declared) throws DataException {
        long perRow = shape.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
        long places = declared.places().orElse(Integer.MAX_VALUE);
        for (long i = 0; i < perRow * array.rows(); i++) {
            long value = array.whole(i);
            if (value < 0 || value >= places) {
                throw DataException.in(
                        array.place(),
                        "row %,d has %,d, but the model looks its input %s up in a table of %,d places: it must be from 0 to %,d; were these made for another model?"
                                .formatted(i / perRow, value, declared, places, places - 1));
            }
        }
    }

    private static Column places(String name, NpyArray array, ModelInput declared) throws DataException {
        if (declared.places().isEmpty()) {
            throw DataException.in(
                    array.place(),
                    "whole numbers, one a row, and the model does not look its input %s up in a table: that is not supported"
                            .formatted(declared));
        }
        int[] rows = new int[array.rows()];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = Math.toIntExact(array.whole(row));
        }
        return Columns.categories(
                new Field.Category(
                        name, Columns.numbered(Math.toIntExact(declared.places().getAsLong()))),
                rows);
    }

    private static Column.Sequences sequences(String name, NpyArray array, int length) {
        Field.Tokens field = new Field.Tokens(name, length, 0, List.of(), true);
        return Columns.sequences(field, row -> {
            int[] ids = new int[length];
            for (int i = 0; i < length; i++) {
                ids[i] = Math.toIntExact(array.whole((long) row * length + i));
            }
            return ids;
        });
    }
}
