package dev.espalier.reproduce.convergence;

import java.util.List;

/** A line through points, by least squares. */
public final class Slope {
    private Slope() {}

    /**
     * The slope of the line.
     *
     * @param x abscissas, at least two of them different
     * @param y ordinates
     * @return dy/dx
     */
    public static double of(List<Double> x, List<Double> y) {
        double meanOfX = mean(x);
        double meanOfY = mean(y);
        double products = 0;
        double squares = 0;
        for (int i = 0; i < x.size(); i++) {
            products += (x.get(i) - meanOfX) * (y.get(i) - meanOfY);
            squares += (x.get(i) - meanOfX) * (x.get(i) - meanOfX);
        }
        return products / squares;
    }

    private static double mean(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }
}
