package dev.espalier.train.task;

import java.util.Arrays;

/**
 * A trivial model of numbers: it gives the mean of the original's outputs, whatever the input. The mean is that of each number where all
 * samples have the same length, else that of each column.
 *
 * <p>Reads the original's outputs once, sample by sample; its memory does not grow with the number of samples.
 */
final class MeanOutput {
    /** Of longer samples, only the means of columns are taken. */
    private static final int MAX_LENGTH = 1 << 22;

    private final Moments columns = new Moments();
    private Moments numbers = new Moments();
    private int length = -1;
    private long samples;
    private long zeros;

    /** Sums by place: squares and means, and sums of samples scaled to length 1. */
    private static final class Moments {
        private final ColumnSquares squares = new ColumnSquares();
        private double[] units = new double[1];

        void add(float[] sample, int size, double norm) {
            double scale = norm == 0 ? 0 : 1 / (norm * Math.sqrt((double) sample.length / size));
            if (units.length < size) {
                units = Arrays.copyOf(units, size);
            }
            for (int i = 0; i < sample.length; i++) {
                squares.add(i % size, sample[i]);
                units[i % size] += scale * sample[i];
            }
        }

        /** Sum over samples of the cosine with the mean; NaN if the mean is zero and has no direction. */
        double cosines() {
            double product = 0;
            double norm = 0;
            for (int i = 0; i < units.length; i++) {
                double mean = squares.mean(i);
                product += units[i] * mean;
                norm += mean * mean;
            }
            return norm == 0 ? Double.NaN : product / Math.sqrt(norm);
        }
    }

    /** Adds an output of the original for one sample, whose columns are {@code size} numbers. */
    void add(float[] sample, int size) {
        double squares = 0;
        for (float value : sample) {
            squares += (double) value * value;
        }
        double norm = Math.sqrt(squares);
        columns.add(sample, size, norm);
        if (samples == 0 && sample.length <= MAX_LENGTH) {
            length = sample.length;
        }
        if (sample.length == length) {
            numbers.add(sample, sample.length, norm);
        } else if (length >= 0) {
            length = -1;
            numbers = new Moments();
        }
        samples++;
        zeros += norm == 0 ? 1 : 0;
    }

    /** Of a single sample, the mean of each number is the sample itself. */
    private Moments moments() {
        return length >= 0 && samples > 1 ? numbers : columns;
    }

    /** {@return the sum of the squared distances of all numbers from the means of their columns} */
    double aroundColumns() {
        return columns.squares.aroundMeans();
    }

    /** {@return the sum of all squares} */
    double aroundZero() {
        return columns.squares.aroundZero();
    }

    /** {@return the R² of this model around the means of the columns} */
    double explained() {
        double whole = aroundColumns();
        return whole == 0 ? Double.NaN : 1 - moments().squares.aroundMeans() / whole;
    }

    /** {@return the mean cosine between this model's output and the original's; two zeros are alike} */
    double cosine() {
        double sum = moments().cosines();
        return samples == 0
                ? Double.NaN
                : Double.isNaN(sum) ? (double) zeros / samples : Math.clamp(sum / samples, -1, 1);
    }
}
