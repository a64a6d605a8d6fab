package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class HoldoutTest {
    private static final Field.Image FIELD = new Field.Image("image", 1, 1, 1);
    private static final Dataset ALL = TestData.images(61, FIELD);

    @Test
    void everySampleIsInExactlyOnePartAndTheOrderIsKept() {
        Holdout.Cut split = new Holdout(0.25, 3).of(ALL);
        TreeSet<Float> together = new TreeSet<>();
        for (Dataset part : List.of(split.kept(), split.held())) {
            List<Float> values = firsts(part);
            assertEquals(values.stream().sorted().toList(), values);
            values.forEach(value -> assertTrue(together.add(value), () -> value + " is in both parts"));
        }
        assertEquals(ALL.size(), together.size());
    }

    @Test
    void labelsStayWithTheirSamples() {
        Dataset test = new Holdout(0.25, 3).of(ALL).held();
        for (int sample = 0; sample < test.size(); sample++) {
            assertEquals(((int) TestData.values(test, sample)[0] - 1) % 3, TestData.label(test, sample));
        }
    }

    @Test
    void theSeedDecidesWhoIsHeldOut() {
        assertEquals(
                firsts(new Holdout(0.25, 3).of(ALL).held()),
                firsts(new Holdout(0.25, 3).of(ALL).held()));
        assertNotEquals(
                firsts(new Holdout(0.25, 3).of(ALL).held()),
                firsts(new Holdout(0.25, 4).of(ALL).held()));
    }

    @Test
    void validationIsCutOffTheTrainingPart() {
        Holdout.Cut cut = new Holdout(0.25, 3).validationOf(ALL);
        assertEquals(firsts(new Holdout(0.25, 3).of(ALL).held()), firsts(cut.held()));
        assertEquals("numbered", cut.kept().name());
        assertEquals("numbered validation", cut.held().name());
    }

    @Test
    void aLimitPicksTheSameShareOfEachClassInOrder() {
        // 21, 20 and 20 of each class.
        for (int most : new int[] {1, 2, 3, 30, 31, 60, 61}) {
            Dataset some = new Limit(most, 7).of(ALL);
            assertEquals(most, some.size());
            List<Float> values = firsts(some);
            assertEquals(values.stream().sorted().toList(), values);
            int[] counts = new int[3];
            for (int row = 0; row < most; row++) {
                counts[TestData.label(some, row)]++;
            }
            Arrays.stream(counts).forEach(count -> assertEquals(most / 3.0, count, 1));
            assertTrue(firsts(ALL).containsAll(values));
            assertTrue(firsts(new Limit(61, 7).of(ALL)).containsAll(values));
        }
        assertTrue(firsts(new Limit(31, 7).of(ALL)).containsAll(firsts(new Limit(30, 7).of(ALL))));
        assertNotEquals(firsts(new Limit(30, 7).of(ALL)), firsts(new Limit(30, 8).of(ALL)));
        assertThrows(IllegalArgumentException.class, () -> new Limit(0, 1));
    }

    @Test
    void tooFewSamplesAndImpossibleFractionsAreRefused() {
        Dataset three = TestData.images(3, FIELD);
        assertThrows(IllegalArgumentException.class, () -> Holdout.DEFAULT.of(three));
        for (double fraction : new double[] {0, 1, -0.1, Double.NaN}) {
            assertThrows(IllegalArgumentException.class, () -> new Holdout(fraction, 0), () -> "" + fraction);
        }
    }

    /** Rows of blocks of different sizes, and no targets. */
    private static Dataset blocks(int... sizes) {
        List<Integer> blocks = new ArrayList<>();
        for (int block = 0; block < sizes.length; block++) {
            blocks.addAll(Collections.nCopies(sizes[block], block));
        }
        // Rows of a block need not stand together.
        Collections.shuffle(blocks, new Random(3));
        float[][] rows = new float[blocks.size()][1];
        for (int row = 0; row < rows.length; row++) {
            rows[row][0] = row;
        }
        return new Dataset(
                "blocks",
                rows.length,
                List.of(Columns.numbers(new Field.Numbers("x", List.of(1)), rows)),
                List.of(),
                blocks::get);
    }

    private static Map<Integer, Integer> counts(Dataset dataset) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (int row = 0; row < dataset.size(); row++) {
            counts.merge(dataset.block().applyAsInt(row), 1, Integer::sum);
        }
        return counts;
    }

    @Test
    void blocksStayTogether() {
        Dataset all = blocks(7, 1, 4, 9, 2, 2, 5, 3, 6, 1);
        Map<Integer, Integer> sizes = counts(all);
        Holdout.Cut cut = new Holdout(0.3, 5).of(all);
        assertEquals(7, counts(cut.kept()).size());
        assertEquals(3, counts(cut.held()).size());
        for (Dataset part : List.of(cut.kept(), cut.held(), new Limit(20, 5).of(all), new Limit(21, 5).of(all))) {
            counts(part).forEach((block, count) -> assertEquals(sizes.get(block), count));
        }
        for (int most = 1; most < 40; most++) {
            Dataset some = new Limit(most, 5).of(all);
            assertTrue(some.size() <= most || counts(some).size() == 1, "at most so many, but one block");
            assertTrue(firsts(new Limit(most + 1, 5).of(all)).containsAll(firsts(some)));
        }
    }

    @Test
    void numbersAreHeldOutFromEveryTenth() {
        float[][] rows = new float[1000][1];
        for (int row = 0; row < rows.length; row++) {
            // Rising by more and more: a plain draw would often miss the largest.
            rows[row][0] = (float) Math.pow(2, row * 37 % 1000 / 50.0);
        }
        Column.Numbers price = Columns.numbers(new Field.Numbers("price"), rows);
        Dataset all = new Dataset("prices", rows.length, List.of(price), List.of(price));
        for (long seed = 0; seed < 20; seed++) {
            int[] tenths = new int[10];
            for (float value : firsts(new Holdout(0.2, seed).of(all).held())) {
                tenths[(int) Math.round(50 * Math.log(value) / Math.log(2)) / 100]++;
            }
            assertEquals("[20, 20, 20, 20, 20, 20, 20, 20, 20, 20]", Arrays.toString(tenths));
        }
        assertEquals(
                1,
                new Holdout(0.2, 1)
                        .of(all.rows(new int[] {1, 2, 3, 4, 5}))
                        .held()
                        .size());
    }

    private static List<Float> firsts(Dataset dataset) {
        List<Float> values = new ArrayList<>();
        for (int sample = 0; sample < dataset.size(); sample++) {
            values.add(TestData.values(dataset, sample)[0]);
        }
        return values;
    }
}
