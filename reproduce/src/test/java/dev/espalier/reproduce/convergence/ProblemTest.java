package dev.espalier.reproduce.convergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.reproduce.convergence.Problem.Loss;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The problems have the constants that they claim. */
final class ProblemTest {
    private static final Problem.Size SIZE = new Problem.Size(60, 4, 3, 20);

    private static double[] random(int length, long seed) {
        Random random = new Random(seed);
        return random.doubles(length, -1, 1).toArray();
    }

    private static double[] shifted(double[] x, double factor, double[] direction) {
        double[] sum = new double[x.length];
        Arrays.setAll(sum, i -> x[i] + factor * direction[i]);
        return sum;
    }

    @ParameterizedTest
    @EnumSource
    void theGradientIsTheSlopeOfTheValue(Loss loss) {
        Problem problem = new Problem(loss, SIZE, 3);
        double[] x = random(problem.dimension(), 1);
        double[] direction = random(problem.dimension(), 2);
        double step = 1e-5;
        double slope =
                (problem.value(shifted(x, step, direction)) - problem.value(shifted(x, -step, direction))) / (2 * step);
        assertEquals(slope, Problem.product(problem.gradient(x), direction), 1e-8);
    }

    /** Power iteration on differences of gradients finds the largest curvature, at least where it is the same everywhere. */
    @ParameterizedTest
    @EnumSource
    void theSmoothnessConstantIsMetAndNotExceeded(Loss loss) {
        Problem problem = new Problem(loss, SIZE, 4);
        double[] zero = new double[problem.dimension()];
        double[] direction = random(problem.dimension(), 3);
        double curvature = 0;
        for (int i = 0; i < 300; i++) {
            double norm = Norm.of(direction);
            double scale = 1e-4 / norm;
            double[] step = shifted(zero, scale, direction);
            double[] change = shifted(problem.gradient(step), -1, problem.gradient(zero));
            curvature = Norm.of(change) / Norm.of(step);
            direction = change;
        }
        // Both losses have their largest curvature at zero.
        assertEquals(problem.smoothness(), curvature, 1e-3);
        for (int seed = 0; seed < 20; seed++) {
            double[] x = random(problem.dimension(), seed);
            double[] y = random(problem.dimension(), 100 + seed);
            double change = Norm.of(shifted(problem.gradient(x), -1, problem.gradient(y)));
            assertTrue(change <= problem.smoothness() * Norm.of(shifted(x, -1, y)) * (1 + 1e-12), "seed " + seed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theEstimateHasTheVarianceThatItShould(Loss loss) {
        Problem problem = new Problem(loss, SIZE, 5);
        double[] x = random(problem.dimension(), 4);
        double[] exact = problem.gradient(x);
        SplittableRandom draws = new SplittableRandom(1);
        double[] mean = new double[x.length];
        double squares = 0;
        int repetitions = 4000;
        int batchSize = 8;
        for (int i = 0; i < repetitions; i++) {
            double[] noise = shifted(problem.estimate(x, batchSize, draws), -1, exact);
            mean = shifted(mean, 1.0 / repetitions, noise);
            squares += Problem.product(noise, noise) / repetitions;
        }
        double expected = problem.variance(x) / batchSize;
        assertEquals(expected, squares, 0.1 * expected);
        assertTrue(Norm.of(mean) < 5 * Math.sqrt(expected / repetitions), "biased by " + Norm.of(mean));
    }

    @Test
    void fromTheLargestLambdaOnZeroIsStationary() {
        Problem problem = new Problem(Loss.LEAST_SQUARES, SIZE, 6);
        double[] zero = new double[problem.dimension()];
        double[] gradient = problem.gradient(zero);
        double lambda = problem.largestLambda();
        assertEquals(0, problem.squaredDistance(new GroupLasso(lambda), zero, gradient), 1e-25);
        assertTrue(problem.squaredDistance(new GroupLasso(0.99 * lambda), zero, gradient) > 1e-6);
    }

    @Test
    void fewerSamplesThanWeightsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Problem.Size(11, 4, 3, 1));
    }
}
