package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Shifts and scales values: {@code (value − mean) / deviation}, with one mean and one deviation for each channel of an
 * image or each of other numbers.
 *
 * @param mean the means
 * @param deviation the deviations, each above 0
 */
public record Normalization(List<Double> mean, List<Double> deviation) {
    /** Rows that are read at once; they are added up in order, whoever read them. */
    private static final int CHUNK = 256;
    /** From so many values on, reading a row is worth a thread: it may be an image to be decoded. */
    private static final int WIDE = 256;

    /** Checks the numbers. */
    public Normalization {
        mean = List.copyOf(mean);
        deviation = List.copyOf(deviation);
        Check.sameSize("mean", mean.size(), "deviation", deviation.size());
        Check.atLeast("the number of means", mean.size(), 1);
        mean.forEach(value -> Check.finite("mean", value));
        deviation.forEach(value -> Check.positive("deviation", value));
    }

    /**
     * What changes nothing.
     *
     * @param statistics the number of means
     * @return means of 0 and deviations of 1
     */
    public static Normalization none(int statistics) {
        return new Normalization(Collections.nCopies(statistics, 0.0), Collections.nCopies(statistics, 1.0));
    }

    /**
     * The normalisation after which a column has means 0 and deviations 1. What is constant is only shifted; missing values
     * (NaN) are left out, and where all are missing nothing is done.
     *
     * @param column the numbers
     * @param rows how many rows it has
     * @return its means and its deviations (of the population: divided by the number of values)
     */
    public static Normalization of(Column.Numbers column, int rows) {
        int statistics = column.field().statistics();
        double[] mean = new double[statistics];
        double[] square = new double[statistics];
        long[] count = new long[statistics];
        // Two passes: squares of large values would lose the digits that their differences consist of.
        accumulate(column, rows, (statistic, value) -> {
            mean[statistic] += value;
            count[statistic]++;
        });
        Arrays.setAll(mean, i -> mean[i] / Math.max(1, count[i]));
        accumulate(column, rows, (statistic, value) -> {
            double distance = value - mean[statistic];
            square[statistic] += distance * distance;
        });
        List<Double> means = new ArrayList<>();
        List<Double> deviations = new ArrayList<>();
        for (int i = 0; i < statistics; i++) {
            double deviation = Math.sqrt(square[i] / Math.max(1, count[i]));
            means.add(mean[i]);
            deviations.add(isConstant(deviation, mean[i]) ? 1.0 : deviation);
        }
        return new Normalization(means, deviations);
    }

    /** Whether a deviation is nothing but the rounding of the mean. */
    private static boolean isConstant(double deviation, double mean) {
        return deviation <= 1e-12 * Math.abs(mean) || deviation == 0;
    }

    private interface Visitor {
        void visit(int statistic, double value);
    }

    private static void accumulate(Column.Numbers column, int rows, Visitor visitor) {
        int size = column.field().size();
        int run = size / column.field().statistics();
        float[][] values = new float[Math.min(rows, CHUNK)][size];
        for (int first = 0; first < rows; first += CHUNK) {
            int start = first;
            int count = Math.min(CHUNK, rows - first);
            IntStream chunk = IntStream.range(0, count);
            (size < WIDE ? chunk : chunk.parallel()).forEach(i -> column.read(start + i, values[i], 0));
            for (float[] row : Arrays.asList(values).subList(0, count)) {
                for (int i = 0; i < size; i++) {
                    if (!Float.isNaN(row[i])) {
                        visitor.visit(i / run, row[i]);
                    }
                }
            }
        }
    }
}
