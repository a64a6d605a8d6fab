package dev.espalier.data;

import dev.espalier.check.Check;

/** The shape of one sample. */
public sealed interface SampleShape {
    /**
     * The number of values.
     *
     * @return the product of the lengths
     */
    int size();

    /**
     * The lengths of the axes of some samples together.
     *
     * @param samples the number of samples
     * @return the number of samples, followed by the lengths of one
     */
    long[] batched(int samples);

    /**
     * How many means and deviations normalise a sample: an image has one for a
     * channel, a vector one for a feature.
     *
     * @return the number of means
     */
    int statistics();

    /**
     * An image, channel by channel, each row by row.
     *
     * @param channels 1 for grey, 3 for red, green, blue
     * @param height in pixels
     * @param width in pixels
     */
    record Image(int channels, int height, int width) implements SampleShape {
        /** Checks the lengths. */
        public Image {
            Check.atLeast("channels", channels, 1);
            Check.atLeast("height", height, 1);
            Check.atLeast("width", width, 1);
            Check.atMost("channels * height * width", (long) channels * height * width, Integer.MAX_VALUE);
        }

        @Override
        public int size() {
            return channels * height * width;
        }

        @Override
        public long[] batched(int samples) {
            return new long[] {samples, channels, height, width};
        }

        @Override
        public int statistics() {
            return channels;
        }
    }

    /**
     * A vector of features.
     *
     * @param length the number of features
     */
    record Vector(int length) implements SampleShape {
        /** Checks the length. */
        public Vector {
            Check.atLeast("length", length, 1);
        }

        @Override
        public int size() {
            return length;
        }

        @Override
        public long[] batched(int samples) {
            return new long[] {samples, length};
        }

        @Override
        public int statistics() {
            return length;
        }
    }
}
