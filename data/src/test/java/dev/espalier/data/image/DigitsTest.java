package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.TestData;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DigitsTest {
    private final LoadedData digits;

    DigitsTest() throws IOException {
        digits = DataSection.load(DataSection.read("data.kind=digits"), Context.QUIET);
    }

    @Test
    void thePartsHoldAllSamplesAndAFifthOfEachClassIsHeldOut() {
        assertEquals(1438, digits.train().size());
        assertEquals(359, digits.test().size());
        assertEquals(List.of(new Field.Image("image", 1, 8, 8)), digits.train().inputFields());
        int[] train = counts(digits.train());
        int[] test = counts(digits.test());
        // The published counts of the ten classes.
        int[] all = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
        for (int label = 0; label < 10; label++) {
            assertEquals(all[label], train[label] + test[label], "class " + label);
            assertEquals(Math.round(0.2 * all[label]), test[label], "class " + label);
        }
    }

    @Test
    void valuesAreIntensitiesAndTheBrightestIsOne() {
        float brightest = 0;
        for (int sample = 0; sample < digits.train().size(); sample++) {
            for (float value : TestData.values(digits.train(), sample)) {
                assertTrue(value >= 0 && value <= 1, () -> "value " + value);
                assertEquals(value * 16, Math.round(value * 16), "in sixteenths");
                brightest = Math.max(brightest, value);
            }
        }
        assertEquals(1, brightest);
    }

    @Test
    void theFirstSampleIsThePublishedZero() {
        float[] row = new float[8];
        float[] pixels = {0, 0, 5, 13, 9, 1, 0, 0};
        for (int i = 0; i < 8; i++) {
            row[i] = pixels[i] / 16;
        }
        Dataset part = holdsFirst(digits.train(), row) ? digits.train() : digits.test();
        assertArrayEquals(row, firstRow(part));
        assertEquals(0, TestData.label(part, 0));
    }

    @Test
    void loadingAgainGivesTheSameParts() throws IOException {
        LoadedData again = DataSection.load(DataSection.read("data.kind=digits"), Context.QUIET);
        for (int sample = 0; sample < again.test().size(); sample++) {
            assertArrayEquals(TestData.values(digits.test(), sample), TestData.values(again.test(), sample));
        }
    }

    private static boolean holdsFirst(Dataset part, float[] row) {
        return Arrays.equals(firstRow(part), row);
    }

    private static float[] firstRow(Dataset part) {
        return Arrays.copyOf(TestData.values(part, 0), 8);
    }

    private static int[] counts(Dataset dataset) {
        int[] counts = new int[TestData.classNames(dataset).size()];
        for (int sample = 0; sample < dataset.size(); sample++) {
            counts[TestData.label(dataset, sample)]++;
        }
        return counts;
    }
}
