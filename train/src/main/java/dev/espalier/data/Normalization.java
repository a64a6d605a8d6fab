package dev.espalier.data;

import dev.espalier.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Shifts and scales values: {@code (value − mean) / deviation}, with one mean and one deviation for each channel of an
 * image or each feature of a vector.
 *
 * @param mean the means
 * @param deviation the deviations, each above 0
 */
public record Normalization(List<Double> mean, List<Double> deviation) {
    /** The usual one for CIFAR-10, which is that of its training part to four digits. */
    public static final Normalization CIFAR10 =
            new Normalization(List.of(0.4914, 0.4822, 0.4465), List.of(0.2470, 0.2435, 0.2616));

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
     * The normalisation after which a data set has means 0 and deviations 1. A channel or feature that is constant is only
     * shifted.
     *
     * @param dataset the training part, usually
     * @return its means and its deviations (of the population: divided by the number of values)
     */
    public static Normalization of(Dataset dataset) {
        int statistics = dataset.shape().statistics();
        int run = dataset.shape().size() / statistics;
        double[] mean = new double[statistics];
        double[] square = new double[statistics];
        double count = (double) dataset.size() * run;
        // Two passes: squares of large values would lose the digits that their differences consist of.
        accumulate(dataset, (statistic, value) -> mean[statistic] += value);
        Arrays.setAll(mean, i -> mean[i] / count);
        accumulate(dataset, (statistic, value) -> {
            double distance = value - mean[statistic];
            square[statistic] += distance * distance;
        });
        List<Double> means = new ArrayList<>();
        List<Double> deviations = new ArrayList<>();
        for (int i = 0; i < statistics; i++) {
            double deviation = Math.sqrt(square[i] / count);
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

    private static void accumulate(Dataset dataset, Visitor visitor) {
        int size = dataset.shape().size();
        int run = size / dataset.shape().statistics();
        float[] values = new float[size];
        for (int sample = 0; sample < dataset.size(); sample++) {
            dataset.copy(sample, values, 0);
            for (int i = 0; i < size; i++) {
                visitor.visit(i / run, values[i]);
            }
        }
    }
}
