package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.function.Executable;

/** Small data sets, and what tests ask of all of them. */
public final class TestData {
    private TestData() {}

    /** All numbers of a row, input by input. */
    public static float[] values(Dataset dataset, int row) {
        int size = dataset.inputFields().stream()
                .mapToInt(field -> ((Field.Dense) field).size())
                .sum();
        float[] values = new float[size];
        int at = 0;
        for (Column column : dataset.inputs()) {
            Column.Numbers numbers = (Column.Numbers) column;
            numbers.read(row, values, at);
            at += numbers.field().size();
        }
        return values;
    }

    public static int label(Dataset dataset, int row) {
        return ((Column.Categories) dataset.targets().getFirst()).read(row);
    }

    public static List<String> classNames(Dataset dataset) {
        return ((Field.Category) dataset.targetFields().getFirst()).values();
    }

    /** Images whose every pixel tells which row of the data, channel, row and column it is. */
    public static Dataset images(int count, Field.Image field) {
        return images(count, field, _ -> {});
    }

    /** The same, but reading a row first does something else. */
    public static Dataset images(int count, Field.Image field, IntConsumer before) {
        float[][] values = new float[count][field.size()];
        int[] labels = new int[count];
        for (int row = 0; row < count; row++) {
            for (int i = 0; i < field.size(); i++) {
                values[row][i] = row * field.size() + i + 1;
            }
            labels[row] = row % 3;
        }
        Column.Numbers numbers = Columns.numbers(field, values);
        return labelled(
                "numbered",
                Columns.numbers(field, (row, target, offset) -> {
                    before.accept(row);
                    numbers.read(row, target, offset);
                }),
                List.of("a", "b", "c"),
                labels);
    }

    public static Dataset labelled(String name, Column.Numbers input, List<String> classes, int[] labels) {
        Field.Category label = new Field.Category("label", classes);
        return new Dataset(name, labels.length, List.of(input), List.of(Columns.categories(label, labels)));
    }

    /** Normalises images by themselves. */
    public static Encoding normalizing(Dataset images) {
        Column.Numbers column = (Column.Numbers) images.inputs().getFirst();
        Normalization by = Normalization.of(column, images.size());
        return new Encoding(
                List.of(new ColumnEncoding.Scaled(column.field(), by, 0)), Encoding.plain(images.targetFields()));
    }

    /** The one error that malformed data must give: its message holds all of these. */
    public static void assertRefused(Executable load, String... parts) {
        assertMessage(assertThrows(DataException.class, load), parts);
    }

    public static void assertMessage(Throwable thrown, String... parts) {
        String message = String.valueOf(thrown.getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }
}
