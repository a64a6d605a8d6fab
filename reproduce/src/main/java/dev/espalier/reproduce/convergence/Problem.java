package dev.espalier.reproduce.convergence;

import dev.espalier.core.check.Check;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Penalty;
import java.util.Arrays;
import java.util.Random;
import java.util.random.RandomGenerator;

/**
 * A smooth function whose smoothness constant is known, because it was built so: the mean over samples
 *
 * <pre>{@code
 * f(x) = 1/n Σ_i ℓ(⟨a_i, x⟩, b_i)
 * }</pre>
 *
 * <p>The rows a_i make {@code A = √n·Q·S·Vᵀ} with orthonormal Q and V, so {@code AᵀA/n = V S² Vᵀ} and L is the largest
 * {@code s²} times the largest curvature of ℓ: it is 1. The weights are in groups of one size, some of which the samples do
 * not depend on.
 */
public final class Problem {
    private final Loss loss;
    private final double[][] rows;
    private final double[] targets;
    private final int groupSize;

    /** The loss ℓ of one sample. */
    public enum Loss {
        /** {@code ½(p − b)²}. */
        LEAST_SQUARES(1) {
            @Override
            double value(double prediction, double target) {
                return 0.5 * (prediction - target) * (prediction - target);
            }

            @Override
            double slope(double prediction, double target) {
                return prediction - target;
            }

            @Override
            double target(double exact, Random random) {
                return exact + 0.1 * random.nextGaussian();
            }
        },
        /** {@code ln(1 + exp(−b p))}, b = ±1. */
        LOGISTIC(0.25) {
            @Override
            double value(double prediction, double target) {
                double margin = target * prediction;
                return margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin;
            }

            @Override
            double slope(double prediction, double target) {
                return -target / (1 + Math.exp(target * prediction));
            }

            @Override
            double target(double exact, Random random) {
                return random.nextDouble() < 1 / (1 + Math.exp(-exact)) ? 1 : -1;
            }
        };

        private final double curvature;

        Loss(double curvature) {
            this.curvature = curvature;
        }

        abstract double value(double prediction, double target);

        abstract double slope(double prediction, double target);

        /** What a sample shows of an exact answer. */
        abstract double target(double exact, Random random);
    }

    /**
     * The size of a problem.
     *
     * @param samples n
     * @param groups number of groups
     * @param groupSize weights in a group
     * @param condition largest {@code s²} by the smallest
     */
    public record Size(int samples, int groups, int groupSize, double condition) {
        /** Checks that there are more samples than weights. */
        public Size {
            Check.atLeast("samples", samples, (long) groups * groupSize);
        }
    }

    /**
     * A random problem.
     *
     * @param loss ℓ
     * @param size how large
     * @param seed what all that is random depends on
     */
    public Problem(Loss loss, Size size, long seed) {
        Random random = new Random(seed);
        int n = size.samples();
        int p = size.groups() * size.groupSize();
        this.loss = loss;
        this.groupSize = size.groupSize();
        double[][] left = orthonormal(p, n, random);
        double[][] right = orthonormal(p, p, random);
        rows = new double[n][p];
        for (int k = 0; k < p; k++) {
            double share = p == 1 ? 0 : (double) k / (p - 1);
            double scale = Math.sqrt(n * Math.pow(size.condition(), -share) / loss.curvature);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < p; j++) {
                    rows[i][j] += scale * left[k][i] * right[k][j];
                }
            }
        }
        double[] truth = truth(size, random);
        targets = new double[n];
        for (int i = 0; i < n; i++) {
            targets[i] = loss.target(product(rows[i], truth), random);
        }
    }

    /** Every third group matters. */
    private static double[] truth(Size size, Random random) {
        double[] truth = new double[size.groups() * size.groupSize()];
        for (int i = 0; i < truth.length; i++) {
            truth[i] = i / size.groupSize() % 3 == 0 ? random.nextGaussian() : 0;
        }
        return truth;
    }

    /** Rows that are orthonormal, by Gram and Schmidt, twice for the rounding. */
    private static double[][] orthonormal(int count, int length, Random random) {
        double[][] vectors = new double[count][length];
        for (int k = 0; k < count; k++) {
            for (int i = 0; i < length; i++) {
                vectors[k][i] = random.nextGaussian();
            }
            for (int pass = 0; pass < 2; pass++) {
                for (int before = 0; before < k; before++) {
                    add(vectors[k], -product(vectors[k], vectors[before]), vectors[before]);
                }
                double norm = Norm.of(vectors[k]);
                for (int i = 0; i < length; i++) {
                    vectors[k][i] /= norm;
                }
            }
        }
        return vectors;
    }

    /**
     * The Lipschitz constant of the gradient.
     *
     * @return L
     */
    public double smoothness() {
        return 1;
    }

    /**
     * The number of weights.
     *
     * @return the dimension of x
     */
    public int dimension() {
        return rows[0].length;
    }

    /**
     * The number of weights in a group.
     *
     * @return its size
     */
    public int groupSize() {
        return groupSize;
    }

    /**
     * The number of groups.
     *
     * @return how many
     */
    public int groups() {
        return dimension() / groupSize;
    }

    /**
     * The weights of a group.
     *
     * @param group which group, from 0
     * @param x all weights, or as many numbers that belong to them
     * @return a copy of the group's
     */
    public double[] group(int group, double[] x) {
        return Arrays.copyOfRange(x, group * groupSize, (group + 1) * groupSize);
    }

    /**
     * The smooth function.
     *
     * @param x the weights
     * @return f(x)
     */
    public double value(double[] x) {
        double sum = 0;
        for (int i = 0; i < rows.length; i++) {
            sum += loss.value(product(rows[i], x), targets[i]);
        }
        return sum / rows.length;
    }

    /**
     * Its gradient.
     *
     * @param x the weights
     * @return ∇f(x)
     */
    public double[] gradient(double[] x) {
        double[] gradient = new double[x.length];
        for (int i = 0; i < rows.length; i++) {
            add(gradient, loss.slope(product(rows[i], x), targets[i]) / rows.length, rows[i]);
        }
        return gradient;
    }

    /**
     * An unbiased estimate of the gradient, from samples drawn with replacement.
     *
     * @param x the weights
     * @param batchSize number of samples
     * @param random draws them
     * @return g
     */
    public double[] estimate(double[] x, int batchSize, RandomGenerator random) {
        int[] counts = new int[rows.length];
        for (int k = 0; k < batchSize; k++) {
            counts[random.nextInt(rows.length)]++;
        }
        double[] gradient = new double[x.length];
        for (int i = 0; i < rows.length; i++) {
            if (counts[i] > 0) {
                add(gradient, loss.slope(product(rows[i], x), targets[i]) * counts[i] / batchSize, rows[i]);
            }
        }
        return gradient;
    }

    /**
     * The variance of a gradient that is estimated from one sample.
     *
     * @param x the weights
     * @return {@code E‖∇ℓ_i(x) − ∇f(x)‖²}
     */
    public double variance(double[] x) {
        double[] mean = gradient(x);
        double sum = 0;
        for (int i = 0; i < rows.length; i++) {
            double slope = loss.slope(product(rows[i], x), targets[i]);
            sum += slope * slope * product(rows[i], rows[i]);
        }
        return sum / rows.length - product(mean, mean);
    }

    /**
     * The composite function {@code F = f + h}.
     *
     * @param penalty the penalty of a group
     * @param x the weights
     * @return F(x)
     */
    public double objective(Penalty penalty, double[] x) {
        double sum = value(x);
        for (int group = 0; group < groups(); group++) {
            sum += penalty.value(group(group, x));
        }
        return sum;
    }

    /**
     * What the theorem bounds.
     *
     * @param penalty the penalty of a group
     * @param x the weights
     * @param gradient ∇f(x)
     * @return {@code dist(0, ∂F(x))²}
     */
    public double squaredDistance(Penalty penalty, double[] x, double[] gradient) {
        double sum = 0;
        for (int group = 0; group < groups(); group++) {
            double distance = penalty.stationarityDistance(group(group, x), group(group, gradient));
            sum += distance * distance;
        }
        return sum;
    }

    /**
     * The smallest λ for which nothing but zero is stationary under the ℓ1/ℓ2 penalty with λ_g = λ√|g|.
     *
     * @return λ_max
     */
    public double largestLambda() {
        double[] gradient = gradient(new double[dimension()]);
        double largest = 0;
        for (int group = 0; group < groups(); group++) {
            largest = Math.max(largest, Norm.of(group(group, gradient)) / Math.sqrt(groupSize));
        }
        return largest;
    }

    static double product(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    private static void add(double[] sum, double factor, double[] other) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += factor * other[i];
        }
    }
}
