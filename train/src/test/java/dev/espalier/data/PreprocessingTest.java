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
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PreprocessingTest {
    private static final SampleShape.Image SHAPE = new SampleShape.Image(2, 4, 5);
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
        Preprocessing.Work work = new Preprocessing(Optional.of(by), padding, true).on(IMAGES);
        int draws = 18 * 400;
        for (int i = 0; i < draws; i++) {
            float[] target = new float[SHAPE.size()];
            work.copy(2, new Draws(7, i, 2), target, 0);
            assertTrue(counts.containsKey(list(target)), "a window that there is none of");
            counts.merge(list(target), 1, Integer::sum);
        }
        // Five deviations of the binomial distribution.
        counts.values().forEach(count -> assertEquals(400, count, 100));
    }

    @Test
    void withoutAugmentationOnlyTheNumbersChange() {
        Normalization by = Normalization.of(IMAGES);
        float[] target = new float[3 + SHAPE.size()];
        new Preprocessing(Optional.of(by), 4, true)
                .withoutAugmentation()
                .on(IMAGES)
                .copy(1, new Draws(1), target, 3);
        float[] expected = cut(TestData.values(IMAGES, 1), 0, 0, 0, false, by);
        assertArrayEquals(expected, Arrays.copyOfRange(target, 3, target.length));
        assertEquals(0, target[2]);
    }

    @Test
    void normalizationByADataSetGivesMeanZeroAndDeviationOne() {
        Preprocessing.Work work =
                Preprocessing.normalizing(Normalization.of(IMAGES)).on(IMAGES);
        List<float[]> samples = new ArrayList<>();
        for (int sample = 0; sample < IMAGES.size(); sample++) {
            float[] values = new float[IMAGES.shape().size()];
            work.copy(sample, new Draws(), values, 0);
            samples.add(values);
        }
        Normalization after = Normalization.of(
                Samples.ofFloats("after", IMAGES.shape(), List.of("any"), samples, new int[samples.size()]));
        for (int channel = 0; channel < 2; channel++) {
            assertEquals(0, after.mean().get(channel), 1e-6);
            assertEquals(1, after.deviation().get(channel), 1e-6);
        }
    }

    @Test
    void whatDoesNotFitIsRefused() {
        Dataset vectors = Samples.ofFloats(
                "vectors", new SampleShape.Vector(2), List.of("a"), List.of(new float[] {1, 2}), new int[] {0});
        assertThrows(
                IllegalArgumentException.class,
                () -> Preprocessing.NONE.withPadding(1).on(vectors));
        assertThrows(
                IllegalArgumentException.class,
                () -> Preprocessing.NONE.withFlip(true).on(vectors));
        assertThrows(
                IllegalArgumentException.class,
                () -> Preprocessing.normalizing(Normalization.CIFAR10).on(vectors));
        assertThrows(IllegalArgumentException.class, () -> Preprocessing.NONE.withPadding(-1));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(1.0), List.of(0.0)));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(1.0), List.of()));
        assertThrows(IllegalArgumentException.class, () -> new Normalization(List.of(Double.NaN), List.of(1.0)));
    }
}
