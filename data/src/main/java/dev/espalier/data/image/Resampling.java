package dev.espalier.data.image;

import dev.espalier.data.Field;
import java.util.List;

/**
 * Resizes images: bilinear where they grow, and where they shrink the same triangle stretched to the size of the new
 * pixels, so that nothing aliases. Written out here, because what a drawing library does differs between platforms.
 */
final class Resampling {
    private Resampling() {}

    /** One plane for grey, or three for red, green and blue; values from 0 to 255. */
    record Planes(int height, int width, List<float[]> values) {}

    static byte[] toBytes(Planes planes, Field.Image shape) {
        List<float[]> wanted = inChannels(planes.values, shape.channels());
        byte[] bytes = new byte[shape.size()];
        int at = 0;
        for (float[] plane : wanted) {
            float[] wide = resizeRows(plane, planes.height, planes.width, shape.width());
            float[] resized = transpose(
                    resizeRows(
                            transpose(wide, planes.height, shape.width()),
                            shape.width(),
                            planes.height,
                            shape.height()),
                    shape.width(),
                    shape.height());
            for (float value : resized) {
                bytes[at++] = (byte) Math.round(Math.clamp(value, 0f, 255f));
            }
        }
        return bytes;
    }

    private static List<float[]> inChannels(List<float[]> planes, int channels) {
        if (planes.size() == channels) {
            return planes;
        }
        if (planes.size() == 1) {
            return List.of(planes.getFirst(), planes.getFirst(), planes.getFirst());
        }
        float[] red = planes.get(0);
        float[] green = planes.get(1);
        float[] blue = planes.get(2);
        float[] grey = new float[red.length];
        for (int i = 0; i < grey.length; i++) {
            // The luma of ITU-R BT.601.
            grey[i] = 0.299f * red[i] + 0.587f * green[i] + 0.114f * blue[i];
        }
        return List.of(grey);
    }

    /** Resizes each row from one length to another. */
    private static float[] resizeRows(float[] values, int rows, int length, int newLength) {
        double scale = (double) length / newLength;
        double reach = Math.max(1, scale);
        float[] resized = new float[rows * newLength];
        for (int i = 0; i < newLength; i++) {
            double centre = (i + 0.5) * scale;
            int from = Math.max(0, (int) Math.floor(centre - reach));
            int to = Math.min(length, (int) Math.ceil(centre + reach));
            double[] weights = new double[to - from];
            double sum = 0;
            for (int j = from; j < to; j++) {
                weights[j - from] = Math.max(0, 1 - Math.abs(j + 0.5 - centre) / reach);
                sum += weights[j - from];
            }
            for (int row = 0; row < rows; row++) {
                double value = 0;
                for (int j = from; j < to; j++) {
                    value += weights[j - from] * values[row * length + j];
                }
                resized[row * newLength + i] = (float) (value / sum);
            }
        }
        return resized;
    }

    private static float[] transpose(float[] values, int rows, int columns) {
        float[] transposed = new float[values.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                transposed[column * rows + row] = values[row * columns + column];
            }
        }
        return transposed;
    }
}
