package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class HoldoutTest {
    private static final Dataset ALL = TestData.images(61, new SampleShape.Image(1, 1, 1));

    @Test
    void everySampleIsInExactlyOnePartAndTheOrderIsKept() {
        DataSplit split = new Holdout(0.25, 3).of(ALL);
        TreeSet<Float> together = new TreeSet<>();
        for (Dataset part : List.of(split.train(), split.test())) {
            List<Float> values = firsts(part);
            assertEquals(values.stream().sorted().toList(), values);
            values.forEach(value -> assertTrue(together.add(value), () -> value + " is in both parts"));
        }
        assertEquals(ALL.size(), together.size());
    }

    @Test
    void labelsStayWithTheirSamples() {
        Dataset test = new Holdout(0.25, 3).of(ALL).test();
        for (int sample = 0; sample < test.size(); sample++) {
            assertEquals(((int) TestData.values(test, sample)[0] - 1) % 3, test.label(sample));
        }
    }

    @Test
    void theSeedDecidesWhoIsHeldOut() {
        assertEquals(
                firsts(new Holdout(0.25, 3).of(ALL).test()),
                firsts(new Holdout(0.25, 3).of(ALL).test()));
        assertNotEquals(
                firsts(new Holdout(0.25, 3).of(ALL).test()),
                firsts(new Holdout(0.25, 4).of(ALL).test()));
    }

    @Test
    void tooFewSamplesAndImpossibleFractionsAreRefused() {
        Dataset three = TestData.images(3, new SampleShape.Image(1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> Holdout.DEFAULT.of(three));
        for (double fraction : new double[] {0, 1, -0.1, Double.NaN}) {
            assertThrows(IllegalArgumentException.class, () -> new Holdout(fraction, 0), () -> "" + fraction);
        }
    }

    private static List<Float> firsts(Dataset dataset) {
        List<Float> values = new ArrayList<>();
        for (int sample = 0; sample < dataset.size(); sample++) {
            values.add(TestData.values(dataset, sample)[0]);
        }
        return values;
    }
}
