package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Moves and mirrors images, and covers a part of each.
 *
 * @param padding how many black pixels are put around an image before a window of its own size is cut out at random; 0
 *     leaves it where it is, and 4 is usual for CIFAR-10
 * @param flip whether every other image, at random, is mirrored left to right
 * @param cutout the side of a square that is then blackened, centred on any pixel, so that parts of it may lie outside (DeVries
 *     and Taylor, 2017); 0 for none, and 8 to 16 are usual for CIFAR-10
 */
public record ImageAugmentation(int padding, boolean flip, int cutout) implements Augmentation {
    private static final int LARGEST = 1 << 16;

    /** Checks the padding and the cutout. */
    public ImageAugmentation {
        Check.atLeast("padding", padding, 0);
        Check.atMost("padding", padding, LARGEST);
        Check.atLeast("cutout", cutout, 0);
        Check.atMost("cutout", cutout, LARGEST);
    }

    @Override
    public boolean changes() {
        return padding > 0 || flip || cutout > 0;
    }

    @Override
    public void check(Dataset dataset) {
        boolean images = Stream.concat(dataset.inputFields().stream(), dataset.targetFields().stream())
                .anyMatch(Field.Image.class::isInstance);
        if (!images && changes()) {
            throw new IllegalArgumentException(
                    "padding = %d, flip = %s, cutout = %d are for images, but %s has none; set padding = 0, flip = false, cutout = 0"
                            .formatted(padding, flip, cutout, dataset.name()));
        }
    }

    /** How often it draws depends on its own numbers alone. */
    @Override
    public Change draw(Draws draws) {
        int down = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
        int right = padding == 0 ? 0 : draws.below(2 * padding + 1) - padding;
        Window window = new Window(down, right, flip && draws.coin());
        return cutout == 0 ? window : new Covered(window, cutout, draws.below(LARGEST), draws.below(LARGEST));
    }

    /** A window of which a square is black. Its centre is given in parts of the height and width, as images differ in size. */
    private record Covered(Window window, int side, int down, int right) implements Change {
        @Override
        public void apply(Field.Dense field, float[] source, float[] target, int offset) {
            window.apply(field, source, target, offset);
            if (field instanceof Field.Image image) {
                int top = first(down, image.height());
                int left = first(right, image.width());
                for (int channel = 0; channel < image.channels(); channel++) {
                    for (int row = Math.max(top, 0); row < Math.min(top + side, image.height()); row++) {
                        int start = offset + (channel * image.height() + row) * image.width();
                        Arrays.fill(
                                target,
                                start + Math.clamp(left, 0, image.width()),
                                start + Math.clamp((long) left + side, 0, image.width()),
                                0);
                    }
                }
            }
        }

        private int first(int part, int length) {
            return (int) ((long) part * length / LARGEST) - side / 2;
        }
    }

    /** Where the window lies, and whether it is mirrored. */
    private record Window(int down, int right, boolean mirrored) implements Change {
        @Override
        public void apply(Field.Dense field, float[] source, float[] target, int offset) {
            switch (field) {
                case Field.Numbers numbers -> System.arraycopy(source, 0, target, offset, numbers.size());
                case Field.Date _ -> target[offset] = source[0];
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
