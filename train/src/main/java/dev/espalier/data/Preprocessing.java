package dev.espalier.data;

import dev.espalier.check.Check;
import java.util.Arrays;
import java.util.Optional;

/**
 * What is done to a sample on its way into a batch: first augmentation, then normalisation.
 *
 * @param normalization if there is one
 * @param padding how many black pixels are put around an image before a window of its own size is cut out at random; 0
 *     leaves it as it is, and 4 is usual for CIFAR-10
 * @param flip whether every other image, at random, is mirrored left to right
 */
public record Preprocessing(Optional<Normalization> normalization, int padding, boolean flip) {
    /** Leaves samples as they are. */
    public static final Preprocessing NONE = new Preprocessing(Optional.empty(), 0, false);

    /** Checks the padding. */
    public Preprocessing {
        Check.atLeast("padding", padding, 0);
        Check.atMost("padding", padding, 1 << 16);
    }

    /**
     * Normalisation alone, as for a test part.
     *
     * @param normalization the means and deviations
     * @return the preprocessing
     */
    public static Preprocessing normalizing(Normalization normalization) {
        return new Preprocessing(Optional.of(normalization), 0, false);
    }

    /**
     * The same with random crops.
     *
     * @param pixels the padding
     * @return the preprocessing
     */
    public Preprocessing withPadding(int pixels) {
        return new Preprocessing(normalization, pixels, flip);
    }

    /**
     * The same with or without mirrored images.
     *
     * @param mirrored whether every other image is mirrored
     * @return the preprocessing
     */
    public Preprocessing withFlip(boolean mirrored) {
        return new Preprocessing(normalization, padding, mirrored);
    }

    /**
     * The same without what is random: what a model is judged with.
     *
     * @return the preprocessing
     */
    public Preprocessing withoutAugmentation() {
        return new Preprocessing(normalization, 0, false);
    }

    /** Gets ready for a data set; each thread needs its own. */
    Work on(Dataset dataset) {
        return new Work(this, dataset);
    }

    /** The preprocessing of one data set's samples, with scratch memory for one at a time. */
    static final class Work {
        private final Preprocessing preprocessing;
        private final Dataset dataset;
        private final SampleShape.Image frame;
        private final float[] raw;
        private final float[] mean;
        private final float[] deviation;

        private Work(Preprocessing preprocessing, Dataset dataset) {
            this.preprocessing = preprocessing;
            this.dataset = dataset;
            SampleShape shape = dataset.shape();
            this.frame = switch (shape) {
                case SampleShape.Image image -> image;
                case SampleShape.Vector(int length) -> {
                    if (preprocessing.padding > 0 || preprocessing.flip) {
                        throw new IllegalArgumentException(
                                "padding = %d, flip = %s: crops and flips are for images, but %s holds vectors; set padding = 0, flip = false"
                                        .formatted(preprocessing.padding, preprocessing.flip, dataset.name()));
                    }
                    yield new SampleShape.Image(length, 1, 1);
                }
            };
            this.raw = new float[shape.size()];
            this.mean = new float[shape.statistics()];
            this.deviation = new float[shape.statistics()];
            Arrays.fill(deviation, 1);
            preprocessing.normalization.ifPresent(this::take);
        }

        private void take(Normalization normalization) {
            Check.sameSize(
                    "the normalization", normalization.mean().size(), "a sample of " + dataset.name(), mean.length);
            for (int i = 0; i < mean.length; i++) {
                mean[i] = normalization.mean().get(i).floatValue();
                deviation[i] = normalization.deviation().get(i).floatValue();
            }
        }

        /** Puts a sample into the target. How often it draws depends on the preprocessing alone. */
        void copy(int sample, Draws draws, float[] target, int offset) {
            dataset.copy(sample, raw, 0);
            int padding = preprocessing.padding;
            int down = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
            int right = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
            boolean mirrored = preprocessing.flip && draws.coin();
            for (int channel = 0; channel < frame.channels(); channel++) {
                for (int row = 0; row < frame.height(); row++) {
                    int at = (channel * frame.height() + row) * frame.width();
                    copyRow(channel, row + down, right, mirrored, target, offset + at);
                }
            }
        }

        private void copyRow(int channel, int row, int right, boolean mirrored, float[] target, int offset) {
            int width = frame.width();
            boolean outside = row < 0 || row >= frame.height();
            int from = (channel * frame.height() + row) * width;
            for (int i = 0; i < width; i++) {
                int column = (mirrored ? width - 1 - i : i) + right;
                float value = outside || column < 0 || column >= width ? 0 : raw[from + column];
                target[offset + i] = (value - mean[channel]) / deviation[channel];
            }
        }
    }
}
