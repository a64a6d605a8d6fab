package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/** Small data sets, and what tests ask of all of them. */
final class TestData {
    private TestData() {}

    static float[] values(Dataset dataset, int sample) {
        float[] values = new float[dataset.shape().size()];
        dataset.copy(sample, values, 0);
        return values;
    }

    /** Images whose every pixel tells which sample, channel, row and column it is. */
    static Dataset images(int count, SampleShape.Image shape) {
        List<float[]> samples = new ArrayList<>();
        int[] labels = new int[count];
        for (int sample = 0; sample < count; sample++) {
            float[] values = new float[shape.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = sample * values.length + i + 1;
            }
            samples.add(values);
            labels[sample] = sample % 3;
        }
        return Samples.ofFloats("numbered", shape, List.of("a", "b", "c"), samples, labels);
    }

    /** The one error that malformed data must give: its message holds all of these. */
    static void assertRefused(Executable load, String... parts) {
        String message = String.valueOf(assertThrows(DataException.class, load).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }
}
