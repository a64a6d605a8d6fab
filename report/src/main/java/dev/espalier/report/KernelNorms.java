package dev.espalier.report;

import dev.espalier.graph.type.Tensor;
import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.awt.image.WritableRaster;
import java.util.Arrays;

/**
 * The norms of the kernels of a weight: a row for each output channel, a column for each input channel.
 *
 * @param rows number of output channels
 * @param columns number of input channels
 * @param norms row by row
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record KernelNorms(int rows, int columns, float[] norms) {
    /** A palette of four bits: nothing, and fifteen strengths. */
    private static final int BITS = 4;

    private static final int STRENGTHS = (1 << BITS) - 1;

    /** One colour for light and dark pages: what is drawn faintly lets the page shine through. */
    private static final int RED = 0x2c;

    private static final int GREEN = 0x8a;
    private static final int BLUE = 0x66;
    private static final int FAINTEST = 50;

    /** Norms above this quantile are drawn alike, lest a single large one makes all others pale. */
    private static final double QUANTILE = 0.99;

    /**
     * Of a weight.
     *
     * @param weight the weight
     * @param axis the axis that its input channels lie along
     */
    static KernelNorms of(Tensor weight, int axis) {
        long[] shape = weight.shape();
        int outAxis = axis == 0 ? 1 : 0;
        int columns = (int) shape[axis];
        int rows = shape.length == 1 ? 1 : (int) shape[outAxis];
        long inStride = stride(shape, axis);
        long outStride = stride(shape, outAxis);
        double[] squares = new double[rows * columns];
        for (long i = 0; i < weight.size(); i++) {
            double value = weight.getDouble(i);
            int row = rows == 1 ? 0 : (int) (i / outStride % rows);
            squares[row * columns + (int) (i / inStride % columns)] += value * value;
        }
        float[] norms = new float[squares.length];
        for (int i = 0; i < norms.length; i++) {
            norms[i] = (float) Math.sqrt(squares[i]);
        }
        return new KernelNorms(rows, columns, norms);
    }

    private static long stride(long[] shape, int axis) {
        return Tensor.size(Arrays.copyOfRange(shape, Math.min(axis + 1, shape.length), shape.length));
    }

    /** The number of pixels of its picture. */
    long pixels(int side) {
        return (long) Math.min(rows, side) * Math.min(columns, side);
    }

    /**
     * The norms as a picture: a pixel for each kernel, or for a rectangle of them where there are too many.
     *
     * @param side how many pixels it may be wide and high
     * @return a PNG file as a data URL
     */
    String picture(int side) {
        int width = Math.min(columns, side);
        int height = Math.min(rows, side);
        float[] means = means(width, height);
        float largest = quantile(means);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_BINARY, palette());
        WritableRaster raster = image.getRaster();
        for (int i = 0; i < means.length; i++) {
            raster.setSample(i % width, i / width, 0, strength(means[i], largest));
        }
        return Png.url(image);
    }

    /** Zero for zero only. */
    private static int strength(float norm, float largest) {
        return norm == 0 ? 0 : 1 + Math.round((STRENGTHS - 1) * Math.min(norm / largest, 1));
    }

    private float[] means(int width, int height) {
        float[] means = new float[width * height];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                means[y * width + x] = mean(
                        columns * x / width, columns * (x + 1) / width, rows * y / height, rows * (y + 1) / height);
            }
        }
        return means;
    }

    private float mean(int left, int right, int top, int bottom) {
        double sum = 0;
        for (int row = top; row < bottom; row++) {
            for (int column = left; column < right; column++) {
                sum += norms[row * columns + column];
            }
        }
        return (float) (sum / ((right - left) * (bottom - top)));
    }

    private static float quantile(float[] values) {
        float[] sorted = values.clone();
        Arrays.sort(sorted);
        int firstPositive = 0;
        while (firstPositive < sorted.length - 1 && sorted[firstPositive] == 0) {
            firstPositive++;
        }
        return sorted[firstPositive + (int) Math.ceil(QUANTILE * (sorted.length - 1 - firstPositive))];
    }

    private static IndexColorModel palette() {
        byte[] red = new byte[STRENGTHS + 1];
        byte[] green = new byte[STRENGTHS + 1];
        byte[] blue = new byte[STRENGTHS + 1];
        byte[] alpha = new byte[STRENGTHS + 1];
        for (int strength = 1; strength <= STRENGTHS; strength++) {
            red[strength] = (byte) RED;
            green[strength] = (byte) GREEN;
            blue[strength] = (byte) BLUE;
            alpha[strength] = (byte) (FAINTEST + (255 - FAINTEST) * (strength - 1) / (STRENGTHS - 1));
        }
        return new IndexColorModel(BITS, STRENGTHS + 1, red, green, blue, alpha);
    }
}
