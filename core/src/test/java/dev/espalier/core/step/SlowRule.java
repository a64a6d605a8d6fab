package dev.espalier.core.step;

import dev.espalier.core.rule.UpdateRule;
import java.util.Arrays;

/** The slow, obvious twin of the update rules: the paper's table of optimizers, row by row, in double. */
public final class SlowRule {
    private final UpdateRule rule;
    private final double floor;
    private final double[] mean;
    private final double[] squares;
    private final double[] direction;
    private final double[] metric;

    /** A rule at rest, whose metric is nowhere below a share of its mean. */
    public SlowRule(UpdateRule rule, int size, double floor) {
        this.rule = rule;
        this.floor = floor;
        mean = new double[size];
        squares = new double[size];
        direction = new double[size];
        metric = new double[size];
    }

    /** The memory of the rule's mean of gradients. */
    public double[] mean() {
        return mean;
    }

    /** The memory of the rule's mean of squared gradients. */
    public double[] squares() {
        return squares;
    }

    /** m of the last step. */
    public double[] direction() {
        return direction;
    }

    /** D of the last step. */
    public double[] metric() {
        return metric;
    }

    /** Step t, from 1. */
    public void advance(long t, double[] g) {
        for (int i = 0; i < g.length; i++) {
            switch (rule) {
                case UpdateRule.Sgd() -> {
                    direction[i] = g[i];
                    metric[i] = 1;
                }
                case UpdateRule.Momentum(double mu) -> {
                    mean[i] = mu * mean[i] + g[i];
                    direction[i] = mean[i];
                    metric[i] = 1;
                }
                case UpdateRule.AdaGrad(double epsilon) -> {
                    squares[i] += g[i] * g[i];
                    direction[i] = g[i];
                    metric[i] = Math.sqrt(squares[i]) + epsilon;
                }
                case UpdateRule.RmsProp(double beta, double epsilon) -> {
                    squares[i] = beta * squares[i] + (1 - beta) * g[i] * g[i];
                    direction[i] = g[i];
                    metric[i] = Math.sqrt(squares[i] + epsilon);
                }
                case UpdateRule.Adam(double beta1, double beta2, double epsilon, UpdateRule.Adam.Metric corrected) -> {
                    mean[i] = beta1 * mean[i] + (1 - beta1) * g[i];
                    squares[i] = beta2 * squares[i] + (1 - beta2) * g[i] * g[i];
                    direction[i] = mean[i] / (1 - Math.pow(beta1, (double) t));
                    double bias = 1 - Math.pow(beta2, (double) t);
                    switch (corrected) {
                        case CORRECTED -> metric[i] = Math.sqrt(squares[i] / bias) + epsilon;
                        case UNCORRECTED -> {
                            metric[i] = Math.sqrt(squares[i]) + epsilon;
                            direction[i] *= Math.sqrt(bias);
                        }
                    }
                }
            }
        }
        double mean = Arrays.stream(metric).average().orElseThrow();
        Arrays.setAll(metric, i -> Math.max(metric[i], floor * mean));
    }

    /** {@code (1 − α·decay) x − α D⁻¹ m}. */
    public double[] candidate(double[] x, double alpha, double decay) {
        double[] next = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            next[i] = (1 - alpha * decay) * x[i] - alpha * direction[i] / metric[i];
        }
        return next;
    }
}
