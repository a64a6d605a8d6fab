package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the branches meet, to the last bit. */
class ThresholdTest {
    private static final int COUNT = 3000;

    /** Norms that are exact in double: {@code ‖u‖ = 5} with the metric spherical and not. */
    @ParameterizedTest
    @ValueSource(doubles = {1, 0.25, 8})
    void atTheThresholdTheGroupIsZeroAndOneBitAboveItIsNot(double stepSize) {
        for (double[] d : List.of(new double[] {1, 1}, new double[] {1, 2}, new double[] {0.5, 4})) {
            double[] x = {3 / d[0], -4 / d[1]};
            for (DoubleFunction<Penalty> penalty : List.<DoubleFunction<Penalty>>of(
                    lambda -> new GroupLasso(lambda, GroupWeight.NONE),
                    lambda -> new GroupMcp(lambda, 1e3, GroupWeight.NONE),
                    lambda -> new GroupScad(lambda, 1e3, 0.5, GroupWeight.NONE))) {
                assertThreshold(penalty, x, d, stepSize, 5 / stepSize, Math.nextDown(5 / stepSize));
            }
        }
    }

    /** With α = 1 the threshold is λ itself, so that it can be set for any group to what rounding leaves of its norm. */
    @Test
    void atTheThresholdOfAnyGroup() {
        Cases.check(Kind.LASSO, COUNT, problem -> {
            double[] d = problem.d();
            boolean spherical = Arrays.stream(d).allMatch(value -> value == d[0]);
            double threshold = spherical ? d[0] * Norm.of(problem.x()) : Norm.of(problem.u());
            double below = threshold - 4 * Math.ulp(threshold);
            assertThreshold(lambda -> new GroupLasso(lambda, GroupWeight.NONE), problem.x(), d, 1, threshold, below);
        });
    }

    private static void assertThreshold(
            DoubleFunction<Penalty> penalty, double[] x, double[] d, double stepSize, double lambda, double below) {
        Problem at = new Problem(0, penalty.apply(lambda), x, d, stepSize);
        Problem above = new Problem(0, penalty.apply(below), x, d, stepSize);
        for (Solver solver : Cases.ROOT_SOLVERS) {
            Solution zero = at.solve(solver);
            assertEquals(Branch.ZEROED, zero.outcome().branch(), () -> solver + " " + at);
            assertArrayEquals(new double[x.length], zero.z());
            Solution tiny = above.solve(solver);
            assertEquals(Branch.SHRUNK, tiny.outcome().branch(), () -> solver + " " + above);
            assertTrue(tiny.outcome().theta() > 0 && Norm.of(tiny.z()) > 0, () -> solver + " is zero " + above);
            assertTrue(tiny.outcome().theta() < 1e-12 * Norm.of(x), () -> solver + " " + tiny.outcome() + " " + above);
        }
    }

    /** At the knee and beyond, a convex problem leaves the group alone; below, the solution meets it continuously. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aroundTheKneeOfMcp(boolean spherical) {
        for (long seed : Cases.seeds(COUNT)) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(1, 10);
            double[] x = Cases.normal(random, n);
            double[] d = Cases.metric(random, n, spherical ? 0 : 3);
            double beta = Cases.logUniform(random, 0.1, 100);
            double stepSize = beta * Arrays.stream(d).min().orElseThrow() * random.nextDouble(0.01, 0.99);
            double lambda = Norm.of(x) / beta;
            for (int ulps = -4; ulps <= 4; ulps++) {
                double strength = lambda + ulps * Math.ulp(lambda);
                Problem problem = new Problem(seed, new GroupMcp(strength, beta, GroupWeight.NONE), x, d, stepSize);
                for (Solver solver : Cases.ROOT_SOLVERS) {
                    Solution solution = problem.solve(solver);
                    String message = "seed %d, %s, %s".formatted(seed, solver, problem);
                    assertArrayEquals(x, solution.z(), 1e-12 * Norm.of(x), message);
                    if (Norm.of(x) >= beta * strength) {
                        assertEquals(Branch.UNTOUCHED, solution.outcome().branch(), message);
                        assertArrayEquals(x, solution.z(), message);
                    }
                }
            }
        }
    }

    /** The slope of SCAD breaks at λ and aλ; a solution must not fall between two pieces. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aroundTheBreaksOfScad(boolean spherical) {
        for (long seed : Cases.seeds(COUNT)) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(1, 10);
            double[] d = Cases.metric(random, n, spherical ? 0 : 3);
            double lambda = Cases.logUniform(random, 1e-3, 1e3);
            double a = 1 + Cases.logUniform(random, 0.1, 100);
            double stepSize = (a - 1) * Arrays.stream(d).min().orElseThrow() * random.nextDouble(0.01, 0.99);
            Penalty penalty = GroupScad.classical(lambda, a, GroupWeight.NONE);
            double[] direction = Cases.normal(random, n);
            double norm = Norm.of(direction);
            for (double end : new double[] {lambda, a * lambda}) {
                double slope = penalty.profile(lambda).slope(end);
                for (double nudge : new double[] {-1e-15, -1e-16, 0, 1e-16, 1e-15}) {
                    double length = end * (1 + nudge) / norm;
                    double[] expected = Arrays.stream(direction)
                            .map(value -> value * length)
                            .toArray();
                    double[] x =
                            new double[n]; // such that the solution is the expected one: x = z + (α/d) h'(‖z‖) z/‖z‖
                    Arrays.setAll(x, i -> expected[i] * (1 + stepSize * slope / (d[i] * end)));
                    Problem problem = new Problem(seed, penalty, x, d, stepSize);
                    for (Solver solver : Cases.ROOT_SOLVERS) {
                        assertArrayEquals(
                                expected,
                                problem.solve(solver).z(),
                                1e-12 * Norm.of(x),
                                () -> "seed %d, %s, %s".formatted(problem.seed(), solver, problem));
                    }
                }
            }
        }
    }

    /** Zero and {@code x} are equally good where {@code Σ d x² = αβλ²}; the longer is taken, as the closed form does. */
    @Test
    void onATieTheLongerSolutionIsTaken() {
        Penalty penalty = new GroupMcp(1, 1, GroupWeight.NONE);
        for (double[][] tie : new double[][][] {{{2}, {1}}, {{1, 1}, {2, 2}}, {{1, 1}, {1, 3}}}) {
            for (Solver solver : Cases.ROOT_SOLVERS) {
                Problem problem = new Problem(0, penalty, tie[0], tie[1], 4);
                assertArrayEquals(problem.x(), problem.solve(solver).z(), () -> solver + " " + problem);
            }
        }
    }

    /** At the knee a problem that is not convex has its minimiser elsewhere. */
    @Test
    void atTheKneeOfAProblemThatIsNotConvex() {
        Problem problem = new Problem(
                0, new GroupMcp(5, 1, GroupWeight.NONE), new double[] {3, 4}, new double[] {10, 0.015625}, 1);
        double[] twin = NaiveProx.apply(problem.profile(), problem.x(), problem.d(), problem.stepSize());
        for (Solver solver : Cases.ROOT_SOLVERS) {
            Solution solution = problem.solve(solver);
            assertEquals(Branch.SHRUNK, solution.outcome().branch(), solver.toString());
            assertArrayEquals(twin, solution.z(), 1e-14, solver.toString());
        }
    }

    /** θ shrinks with the distance to the threshold, down to rounding; the number of evaluations must not grow with that. */
    @Test
    void aHairAboveTheThresholdCostsNoMoreThanElsewhere() {
        SplittableRandom random = new SplittableRandom(5);
        for (int trial = 0; trial < 2000; trial++) {
            int n = 2 + random.nextInt(40);
            double[] x = random.doubles(n, -1, 1).toArray();
            double[] d = random.doubles(n, -7, 0).map(e -> Math.pow(10, e)).toArray();
            double[] u = IntStream.range(0, n).mapToDouble(i -> d[i] * x[i]).toArray();
            double l = Norm.of(u) * (1 - Math.pow(10, random.nextDouble(-15, -1)));
            Outcome outcome = WeightedProx.EXACT.apply(
                    new GroupLasso(l, GroupWeight.NONE).profileOfSize(n), x, d, 1, new double[n]);
            assertTrue(outcome.converged() && outcome.iterations() <= 10, "trial " + trial + " " + outcome);
        }
    }
}
