package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AugmentationTest {
    private static final Field.Image SHAPE = new Field.Image("image", 2, 4, 5);
    private static final Dataset IMAGES = TestData.images(6, SHAPE);

    private static List<Float> list(float[] values) {
        List<Float> list = new ArrayList<>();
        for (float value : values) {
            list.add(value);
        }
        return list;
    }

    /** The twin: pads the whole image, cuts a window out of it, and mirrors that. */
    private static float[] cut(float[] image, int padding, int top, int left, boolean mirrored, Normalization by) {
        int height = SHAPE.height() + 2 * padding;
        int width = SHAPE.width() + 2 * padding;
        float[] padded = new float[SHAPE.channels() * height * width];
        float[] result = new float[SHAPE.size()];
        for (int i = 0; i < image.length; i++) {
            int x = i % SHAPE.width();
            int y = i / SHAPE.width() % SHAPE.height();
            int channel = i / SHAPE.width() / SHAPE.height();
            padded[(channel * height + y + padding) * width + x + padding] = image[i];
        }
        for (int i = 0; i < image.length; i++) {
            int x = mirrored ? SHAPE.width() - 1 - i % SHAPE.width() : i % SHAPE.width();
            int y = i / SHAPE.width() % SHAPE.height();
            int channel = i / SHAPE.width() / SHAPE.height();
            float value = padded[(channel * height + y + top) * width + x + left];
            result[i] = (value - by.mean().get(channel).floatValue())
                    / by.deviation().get(channel).floatValue();
        }
        return result;
    }

    @Test
    void everyWindowOccursAboutEquallyOftenAndNothingElseDoes() {
        Normalization by = new Normalization(List.of(0.5, 1.5), List.of(2.0, 4.0));
        int padding = 1;
        float[] image = TestData.values(IMAGES, 2);
        Map<List<Float>, Integer> counts = new HashMap<>();
        for (int top = 0; top <= 2 * padding; top++) {
            for (int left = 0; left <= 2 * padding; left++) {
                counts.put(list(cut(image, padding, top, left, false, by)), 0);
                counts.put(list(cut(image, padding, top, left, true, by)), 0);
            }
        }
        assertEquals(18, counts.size());
        Augmented augmented = new Augmented(IMAGES, new ImageAugmentation(padding, true, 0));
        Dataset work = encoding(by).apply(augmented.dataset());
        int draws = 18 * 400;
        for (int i = 0; i < draws; i++) {
            augmented.begin(new Draws(7, i, 2));
            float[] target = TestData.values(work, 2);
            assertTrue(counts.containsKey(list(target)), "a window that there is none of");
            counts.merge(list(target), 1, Integer::sum);
        }
        // Five deviations of the binomial distribution.
        counts.values().forEach(count -> assertEquals(400, count, 100));
    }

    private static Encoding encoding(Normalization by) {
        return new Encoding(List.of(new ColumnEncoding.Scaled(SHAPE, by, 0)), Encoding.plain(IMAGES.targetFields()));
    }

    @Test
    void withoutAugmentationOnlyTheNumbersChange() {
        Normalization by = Normalization.of((Column.Numbers) IMAGES.inputs().getFirst(), IMAGES.size());
        float[] target = new float[3 + SHAPE.size()];
        Augmented augmented = new Augmented(IMAGES, Augmentation.NONE);
        augmented.begin(new Draws(1));
        ((Column.Numbers) encoding(by).apply(augmented.dataset()).inputs().getFirst()).read(1, target, 3);
        float[] expected = cut(TestData.values(IMAGES, 1), 0, 0, 0, false, by);
        assertArrayEquals(expected, Arrays.copyOfRange(target, 3, target.length));
        assertEquals(0, target[2]);
    }

    @Test
    void normalizationByADataSetGivesMeanZeroAndDeviationOne() {
        Dataset normalized = TestData.normalizing(IMAGES).apply(IMAGES);
        Normalization after =
                Normalization.of((Column.Numbers) normalized.inputs().getFirst(), normalized.size());
        for (int channel = 0; channel < 2; channel++) {
            assertEquals(0, after.mean().get(channel), 1e-6);
            assertEquals(1, after.deviation().get(channel), 1e-6);
        }
    }

    @Test
    void anImageAndItsMaskStayTogetherAndOtherNumbersStayWhatTheyAre() {
        Column.Numbers image = (Column.Numbers) IMAGES.inputs().getFirst();
        Column.Numbers mask = Columns.numbers(new Field.Image("mask", 2, 4, 5), image::read);
        Column.Numbers age = Columns.numbers(new Field.Numbers("age"), new float[][] {{1}, {2}, {3}, {4}, {5}, {6}});
        Augmented augmented = new Augmented(
                new Dataset("masks", 6, List.of(image, age), List.of(mask)), new ImageAugmentation(2, true, 0));
        Column.Numbers masks = (Column.Numbers) augmented.dataset().targets().getFirst();
        for (int i = 0; i < 50; i++) {
            augmented.begin(new Draws(i));
            float[] row = TestData.values(augmented.dataset(), 4);
            float[] expected = new float[SHAPE.size()];
            masks.read(4, expected, 0);
            assertArrayEquals(expected, Arrays.copyOf(row, SHAPE.size()));
            assertEquals(5, row[SHAPE.size()]);
        }
    }

    @Test
    void wideRowsAreAddedUpInOrderWhoeverReadThem() {
        Dataset wide = TestData.images(700, new Field.Image("image", 3, 10, 10));
        Column.Numbers column = (Column.Numbers) wide.inputs().getFirst();
        double[] sums = new double[3];
        for (int row = 0; row < 700; row++) {
            float[] values = TestData.values(wide, row);
            for (int i = 0; i < values.length; i++) {
                sums[i / 100] += values[i];
            }
        }
        for (int repeat = 0; repeat < 5; repeat++) {
            Normalization by = Normalization.of(column, 700);
            for (int channel = 0; channel < 3; channel++) {
                assertEquals(sums[channel] / 70_000, by.mean().get(channel), 0);
            }
        }
    }

    @Test
    void aSquareIsBlackAtEveryPlaceAndTheRestIsAsItWas() {
        Field.Image shape = new Field.Image("image", 2, 5, 6);
        float[] ones = new float[shape.size()];
        Arrays.fill(ones, 1);
        Dataset bright =
                TestData.labelled("bright", Columns.numbers(shape, new float[][] {ones}), List.of("a"), new int[] {0});
        Augmented augmented = new Augmented(bright, new ImageAugmentation(0, false, 3));
        Map<List<Integer>, Integer> corners = new HashMap<>();
        for (int i = 0; i < 3000; i++) {
            augmented.begin(new Draws(i));
            float[] image = TestData.values(augmented.dataset(), 0);
            int top = 5;
            int left = 6;
            int bottom = -1;
            int right = -1;
            int black = 0;
            for (int pixel = 0; pixel < 30; pixel++) {
                assertEquals(image[pixel], image[30 + pixel], 0);
                if (image[pixel] == 0) {
                    black++;
                    top = Math.min(top, pixel / 6);
                    left = Math.min(left, pixel % 6);
                    bottom = Math.max(bottom, pixel / 6);
                    right = Math.max(right, pixel % 6);
                } else {
                    assertEquals(1, image[pixel], 0);
                }
            }
            assertEquals(black, (bottom - top + 1) * (right - left + 1), "a rectangle");
            corners.merge(List.of(top, left, bottom, right), 1, Integer::sum);
        }
        assertEquals(30, corners.size(), "one for each centre");
        assertTrue(corners.containsKey(List.of(0, 0, 1, 1)) && corners.containsKey(List.of(3, 4, 4, 5)));
        corners.values().forEach(count -> assertEquals(100, count, 50));
    }

    @Test
    void whatDoesNotFitIsRefused() {
        Column.Numbers column = Columns.numbers(new Field.Numbers("vector", List.of(2)), new float[][] {{1, 2}});
        Dataset vectors = TestData.labelled("vectors", column, List.of("a"), new int[] {0});
        assertThrows(IllegalArgumentException.class, () -> new Augmented(vectors, new ImageAugmentation(1, false, 0)));
        assertThrows(IllegalArgumentException.class, () -> new Augmented(vectors, new ImageAugmentation(0, true, 0)));
        new Augmented(vectors, new ImageAugmentation(0, false, 0));
        Normalization three = Normalization.none(3);
        assertThrows(IllegalArgumentException.class, () -> new ColumnEncoding.Scaled(column.field(), three, 0));
        assertThrows(IllegalArgumentException.class, () -> new ImageAugmentation(-1, false, 0));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(1.0), List.of(0.0)));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(1.0), List.of()));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(Double.NaN), List.of(1.0)));
    }
}
