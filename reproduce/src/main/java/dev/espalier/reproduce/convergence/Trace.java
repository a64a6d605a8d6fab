package dev.espalier.reproduce.convergence;

import java.util.ArrayList;
import java.util.List;

/**
 * What was met on a descent.
 *
 * @param steps what each step met
 * @param metricBound the smallest entry of D
 * @param stepBound the smallest {@code α/d}
 * @param gradientBound the longest gradient
 * @param moveBound the longest exact move
 * @param penaltySmoothness the largest curvature of h between an exact and an inexact point
 * @param variance the largest variance of a gradient from one sample
 * @param nonZeroGroups number of groups that are not zero in the end
 */
public record Trace(
        List<Step> steps,
        double metricBound,
        double stepBound,
        double gradientBound,
        double moveBound,
        double penaltySmoothness,
        double variance,
        int nonZeroGroups) {

    /** Copies the steps. */
    public Trace {
        steps = List.copyOf(steps);
    }

    /**
     * A step.
     *
     * @param squaredDistance {@code dist(0, ∂F(x_{t+1}))²}
     * @param squaredNoise {@code ‖g_t − ∇f(x_t)‖²}
     * @param squaredError {@code ‖x_{t+1} − x*_{t+1}‖²}
     */
    public record Step(double squaredDistance, double squaredNoise, double squaredError) {}

    /**
     * The mean squared distance over the first steps.
     *
     * @param count T
     * @return the mean
     */
    public double mean(int count) {
        return meanBetween(0, count);
    }

    /**
     * The mean squared distance in the second half: what is left of it when the way has been gone.
     *
     * @return the mean
     */
    public double floor() {
        return meanBetween(steps.size() / 2, steps.size());
    }

    private double meanBetween(int from, int to) {
        return steps.subList(from, to).stream()
                .mapToDouble(Step::squaredDistance)
                .average()
                .orElseThrow();
    }

    /**
     * The sum of squared errors of the operator.
     *
     * @return K
     */
    public double squaredErrors() {
        return steps.stream().mapToDouble(Step::squaredError).sum();
    }

    /**
     * The exponent p of {@code mean(T) ~ T^p} over the last tenfold of T.
     *
     * @return the slope in logarithmic axes, by least squares
     */
    public double slope() {
        List<Means> means = means();
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (Means mean : means) {
            if (mean.steps() >= steps.size() / 10) {
                x.add(Math.log(mean.steps()));
                y.add(Math.log(mean.distance()));
            }
        }
        return Slope.of(x, y);
    }

    /**
     * Means over the first T steps.
     *
     * @param steps T
     * @param distance mean squared distance
     * @param noise sum of squared noise
     */
    public record Means(int steps, double distance, double noise) {}

    /**
     * The means, at numbers of steps that are evenly spread on a logarithmic axis.
     *
     * @return from T = 1 to the end
     */
    public List<Means> means() {
        List<Means> means = new ArrayList<>();
        double distance = 0;
        double noise = 0;
        double next = 1;
        for (int t = 1; t <= steps.size(); t++) {
            distance += steps.get(t - 1).squaredDistance();
            noise += steps.get(t - 1).squaredNoise();
            if (t >= next || t == steps.size()) {
                means.add(new Means(t, distance / t, noise));
                next = t * 1.15;
            }
        }
        return means;
    }
}
