package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.stream.Stream;

/**
 * Moves and mirrors images.
 *
 * @param padding how many black pixels are put around an image before a window of its own size is cut out at random; 0
 *     leaves it where it is, and 4 is usual for CIFAR-10
 * @param flip whether every other image, at random, is mirrored left to right
 */
public record CropAndFlip(int padding, boolean flip) implements Augmentation {
    /** Checks the padding. */
    public CropAndFlip {
        Check.atLeast("padding", padding, 0);
        Check.atMost("padding", padding, 1 << 16);
    }

    @Override
    public boolean changes() {
        return padding > 0 || flip;
    }

    @Override
    public void check(Dataset dataset) {
        boolean images = Stream.concat(dataset.inputFields().stream(), dataset.targetFields().stream())
                .anyMatch(Field.Image.class::isInstance);
        if (!images && changes()) {
            throw new IllegalArgumentException(
                    "padding = %d, flip = %s: crops and flips are for images, but %s has none; set padding = 0, flip = false"
                            .formatted(padding, flip, dataset.name()));
        }
    }

    /** How often it draws depends on the padding and the flip alone. */
    @Override
    public Change draw(Draws draws) {
        int down = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
        int right = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
        return new Window(down, right, flip && draws.coin());
    }

    /** Where the window lies, and whether it is mirrored. */
    private record Window(int down, int right, boolean mirrored) implements Change {
        @Override
        public void apply(Field.Dense field, float[] source, float[] target, int offset) {
            switch (field) {
                case Field.Numbers numbers -> System.arraycopy(source, 0, target, offset, numbers.size());
                case Field.Image image -> apply(image, source, target, offset);
            }
        }

        private void apply(Field.Image image, float[] source, float[] target, int offset) {
            for (int channel = 0; channel < image.channels(); channel++) {
                for (int row = 0; row < image.height(); row++) {
                    int start = channel * image.height();
                    boolean outside = row + down < 0 || row + down >= image.height();
                    int from = (start + row + down) * image.width();
                    int to = offset + (start + row) * image.width();
                    for (int i = 0; i < image.width(); i++) {
                        int column = (mirrored ? image.width() - 1 - i : i) + right;
                        boolean black = outside || column < 0 || column >= image.width();
                        target[to + i] = black ? 0 : source[from + column];
                    }
                }
            }
        }
    }
}
