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
    void validationIsCutOffTheTrainingPart() {
        DataSplit cut = new Holdout(0.25, 3).validationOf(ALL);
        assertEquals(firsts(new Holdout(0.25, 3).of(ALL).test()), firsts(cut.test()));
        assertEquals("numbered", cut.train().name());
        assertEquals("numbered validation", cut.test().name());
    }

    @Test
    void aLimitPicksTheSameShareOfEachClassInOrder() {
        // 21, 20 and 20 of each class.
        for (int most : new int[] {1, 2, 3, 30, 31, 60, 61}) {
            Dataset some = new Limit(most, 7).of(ALL);
            assertEquals(most, some.size());
            List<Float> values = firsts(some);
            assertEquals(values.stream().sorted().toList(), values);
            List<Integer> counts = Samples.byClass(some).stream()
                    .map(samples -> samples.length)
                    .toList();
            counts.forEach(count -> assertEquals(most / 3.0, count, 1));
            assertTrue(firsts(ALL).containsAll(values));
            assertTrue(firsts(new Limit(61, 7).of(ALL)).containsAll(values));
        }
        assertTrue(firsts(new Limit(31, 7).of(ALL)).containsAll(firsts(new Limit(30, 7).of(ALL))));
        assertNotEquals(firsts(new Limit(30, 7).of(ALL)), firsts(new Limit(30, 8).of(ALL)));
        assertThrows(IllegalArgumentException.class, () -> new Limit(0, 1));
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
