package dev.espalier.train.task;

import java.util.Arrays;

/** Sums of squares of numbers in columns, around zero and around the mean of each column, in one pass (Welford 1962). */
final class ColumnSquares {
    private long[] counts = new long[1];
    private double[] means = new double[1];
    private double[] squares = new double[1];

    void add(int column, double value) {
        if (column >= counts.length) {
            int size = Math.max(column + 1, 2 * counts.length);
            counts = Arrays.copyOf(counts, size);
            means = Arrays.copyOf(means, size);
            squares = Arrays.copyOf(squares, size);
        }
        counts[column]++;
        double deviation = value - means[column];
        means[column] += deviation / counts[column];
        squares[column] += deviation * (value - means[column]);
    }

    /** {@return the mean of a column; 0 if it has no numbers} */
    double mean(int column) {
        return column < means.length ? means[column] : 0;
    }

    /** {@return the sum over all columns of the squared distances from the column's mean} */
    double aroundMeans() {
        return Arrays.stream(squares).sum();
    }

    /** {@return the sum of all squares} */
    double aroundZero() {
        double sum = 0;
        for (int column = 0; column < counts.length; column++) {
            sum += squares[column] + counts[column] * means[column] * means[column];
        }
        return sum;
    }
}
