package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Legal numbers at the ends of their range: the result is finite, shrunk towards zero, and right. */
class ExtremeInputTest {
    private static final double LARGEST = Double.MAX_VALUE;
    private static final double SMALLEST = Double.MIN_VALUE;

    private static List<Solver> allSolvers() {
        List<Solver> solvers = new ArrayList<>(Cases.ROOT_SOLVERS);
        solvers.add(Solver.AdaProx.DEFAULT);
        return solvers;
    }

    /** Beside what the second weight would cost, the minima of the first, 0.4375 and 1, are no difference at all. */
    @Test
    void aWeightOfALargeMetricDoesNotDrownTheOthersMinima() {
        double[] x = {3, 0.5};
        double[] d = {1e-6, 1e20};
        GroupMcp penalty = new GroupMcp(1, 2, GroupWeight.NONE);
        double[] z = new double[2];
        Outcome outcome = WeightedProx.EXACT.apply(penalty.profile(1), x, d, 1, z);
        assertEquals(Branch.SHRUNK, outcome.branch());
        assertEquals(0.4375, NaiveProx.objective(penalty.profile(1), x, d, 1, z), 1e-4);
    }

    private static void assertSane(Problem problem) {
        for (Solver solver : allSolvers()) {
            Solution solution = problem.solve(solver);
            Outcome outcome = solution.outcome();
            ProxPropertiesTest.assertShrunkTowardsZero(problem.x(), solution.z());
            assertTrue(Double.isFinite(outcome.theta()), () -> solver + " has theta " + outcome.theta());
            assertTrue(outcome.residual() >= 0, () -> solver + " has residual " + outcome.residual());
            assertEquals(
                    outcome.branch() == Branch.ZEROED,
                    outcome.theta() == 0,
                    () -> solver + " contradicts itself: " + outcome);
            boolean idle = problem.stepSize() == 0 || problem.penalty().strength(problem.x().length) == 0;
            assertTrue(
                    !idle || outcome.branch() == Branch.UNTOUCHED || Norm.of(problem.x()) == 0,
                    () -> solver + " has nothing to do: " + outcome);
            if (outcome.branch() == Branch.UNTOUCHED) {
                assertArrayEquals(problem.x(), solution.z(), () -> solver + " touched it");
            }
        }
        Solution expected = problem.solve(Solver.DEFAULT);
        boolean subnormal = Arrays.stream(expected.z()).anyMatch(value -> Math.abs(value) < Double.MIN_NORMAL);
        boolean tooLong = Norm.of(problem.x()) == Double.POSITIVE_INFINITY;
        assertTrue(
                expected.outcome().converged() || subnormal || tooLong,
                () -> "the default reached its limit: " + expected.outcome());
        for (Solver solver : Cases.ROOT_SOLVERS) {
            Solution solution = problem.solve(solver);
            if (solution.outcome().converged()) { // plain Newton may need more than its limit over so many orders
                assertArrayEquals(
                        expected.z(),
                        solution.z(),
                        1e-13 * Norm.largest(problem.x()) + Double.MIN_VALUE,
                        () -> solver + " disagrees: " + Arrays.toString(solution.z()));
            }
        }
    }

    /** One kind of extreme a row, each with every penalty. */
    static Stream<Arguments> extremes() {
        return Stream.of(
                arguments("zero group", new double[] {0, 0, 0}, new double[] {1, 2, 3}, 1, 1),
                arguments("zero group of both signs", new double[] {0, -0.0}, new double[] {1, 2}, 1, 1),
                arguments("no strength", new double[] {1, 2}, new double[] {1, 2}, 1, 0),
                arguments("no step", new double[] {1, 2}, new double[] {1, 2}, 0, 1),
                arguments("neither", new double[] {1, 2}, new double[] {1, 2}, 0, 0),
                arguments("group of one", new double[] {-3}, new double[] {2}, 1, 1),
                arguments("12 orders of magnitude", new double[] {1, 1}, new double[] {1e-6, 1e6}, 1, 1),
                arguments("12 orders, against x", new double[] {1e6, 1e-6}, new double[] {1e-6, 1e6}, 1, 1),
                arguments("300 orders of magnitude", new double[] {1, 1, 1}, new double[] {1e-150, 1, 1e150}, 1, 1),
                arguments("600 orders of magnitude", new double[] {1, 1, 1}, new double[] {1e-300, 1, 1e300}, 1, 1),
                arguments("600 orders, against x", new double[] {1e300, 1e-300}, new double[] {1e-300, 1e300}, 1, 1),
                arguments("subnormal metric", new double[] {1, 2}, new double[] {SMALLEST, 3e-310}, 1e-300, 1e-10),
                arguments("huge metric", new double[] {1, 2}, new double[] {LARGEST, 1e300}, 1, 1),
                arguments(
                        "huge metric on a zero weight",
                        new double[] {1e20, 0, 2e20},
                        new double[] {1, 1e300, 2},
                        1,
                        1e20),
                arguments("subnormal group", new double[] {SMALLEST, -3e-310}, new double[] {1, 2}, 1, 1e-311),
                arguments("subnormal group, strength 1", new double[] {1e-310, 2e-310}, new double[] {1, 2}, 1e-320, 1),
                arguments(
                        "subnormal group, strength 100",
                        new double[] {1e-310, 2e-310},
                        new double[] {1, 2},
                        1e-320,
                        100),
                arguments(
                        "subnormal everything",
                        new double[] {1e-320, 2e-320},
                        new double[] {1e-320, 2e-310},
                        1e-320,
                        1e-320),
                arguments("largest group", new double[] {LARGEST, -LARGEST}, new double[] {1, 2}, 1, 1e308),
                arguments("largest group, spherical", new double[] {LARGEST, -LARGEST}, new double[] {1, 1}, 1, 1e308),
                arguments("largest group, weak", new double[] {LARGEST, -LARGEST}, new double[] {1, 2}, 1, 1),
                arguments("largest group, weaker", new double[] {LARGEST, -LARGEST}, new double[] {1, 2}, 1, 1e-30),
                arguments("largest group, weakest", new double[] {LARGEST, -LARGEST}, new double[] {1, 2}, 1, SMALLEST),
                arguments(
                        "largest everything",
                        new double[] {LARGEST, LARGEST},
                        new double[] {LARGEST, 1e308},
                        LARGEST,
                        LARGEST),
                arguments("largest strength", new double[] {1, 2}, new double[] {1, 2}, LARGEST, LARGEST),
                arguments(
                        "largest step on a subnormal metric",
                        new double[] {1, 2},
                        new double[] {1e-310, 2e-310},
                        LARGEST,
                        1),
                arguments(
                        "smallest step on a huge metric",
                        new double[] {1, 2},
                        new double[] {1e300, 2e300},
                        SMALLEST,
                        1),
                arguments(
                        "no strength on both ends", new double[] {LARGEST, SMALLEST, 1}, new double[] {1, 2, 3}, 1, 0),
                arguments("no step on both ends", new double[] {LARGEST, SMALLEST, 1}, new double[] {1, 2, 3}, 0, 1),
                arguments("no strength, largest step", new double[] {1, 2}, new double[] {1e-300, 2e-300}, LARGEST, 0),
                arguments("group of both ends", new double[] {LARGEST, SMALLEST, 1}, new double[] {1, 2, 3}, 1, 1));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("extremes")
    void extremeNumbersGiveSaneResults(String name, double[] x, double[] d, double stepSize, double lambda) {
        for (Penalty penalty : penalties(lambda, 2)) {
            assertSane(new Problem(0, penalty, x, d, stepSize));
        }
        for (double beta : new double[] {SMALLEST, 1e-310, 1e-150, 1e150, LARGEST}) {
            assertSane(new Problem(0, new GroupMcp(lambda, beta, GroupWeight.NONE), x, d, stepSize));
            assertSane(new Problem(0, new GroupScad(lambda, beta, 0.5, GroupWeight.NONE), x, d, stepSize));
        }
    }

    private static List<Penalty> penalties(double lambda, double beta) {
        return List.of(
                new GroupLasso(lambda, GroupWeight.NONE),
                new GroupMcp(lambda, beta, GroupWeight.NONE),
                GroupScad.classical(lambda, 1 + beta, GroupWeight.NONE));
    }

    /** Every number anywhere in its range. */
    @Test
    void anyLegalNumbersGiveSaneResults() {
        for (long seed : Cases.seeds(5000)) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(1, 6);
            double[] x = DoubleStream.generate(() -> (random.nextBoolean() ? 1 : -1) * anywhere(random))
                    .limit(n)
                    .toArray();
            double[] d = DoubleStream.generate(() -> anywhere(random)).limit(n).toArray();
            double lambda = random.nextInt(20) == 0 ? 0 : anywhere(random);
            double stepSize = random.nextInt(20) == 0 ? 0 : anywhere(random);
            for (Penalty penalty : List.of(
                    new GroupLasso(lambda, GroupWeight.NONE),
                    new GroupMcp(lambda, anywhere(random), GroupWeight.NONE),
                    new GroupScad(lambda, anywhere(random), random.nextDouble(0.99), GroupWeight.NONE))) {
                Problem problem = new Problem(seed, penalty, x, d, stepSize);
                try {
                    assertSane(problem);
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError(
                            "replay with -Despalier.seed=%d: %s; %s".formatted(seed, e.getMessage(), problem), e);
                }
            }
        }
    }

    private static double anywhere(SplittableRandom random) {
        double exponent = random.nextDouble(-1074, 1024);
        return Math.clamp(Math.pow(2, exponent), SMALLEST, LARGEST);
    }

    /**
     * A change of units by powers of two, {@code x, λ} by 2^a; {@code d, α} by 2^b; {@code α, β} by 2^−c and λ by 2^c: the
     * solution is the same up to 2^a, so what is right for ordinary numbers is right for extreme ones.
     */
    @ParameterizedTest
    @EnumSource(names = {"LASSO", "CONVEX_MCP", "MCP"})
    void unitsDoNotMatter(Kind kind) {
        int[] exponents = {-900, -500, -199, 0, 199, 500, 900};
        Cases.check(kind, 100, problem -> {
            Solution plain = problem.solve(Solver.DEFAULT);
            for (int a : exponents) {
                for (int b : exponents) {
                    for (int c : new int[] {-40, 0, 40}) {
                        Problem scaled = new Problem(
                                problem.seed(),
                                scaled(problem.penalty(), a + c, -c),
                                scaled(problem.x(), a),
                                scaled(problem.d(), b),
                                Math.scalb(problem.stepSize(), b - c));
                        Solution solution = scaled.solve(Solver.DEFAULT);
                        String message = "a = %d, b = %d, c = %d".formatted(a, b, c);
                        assertEquals(
                                plain.outcome().branch(), solution.outcome().branch(), message);
                        assertArrayEquals(plain.z(), scaled(solution.z(), -a), 1e-13 * Norm.of(problem.x()), message);
                    }
                }
            }
        });
    }

    private static Penalty scaled(Penalty penalty, int exponentOfLambda, int exponentOfBeta) {
        return penalty instanceof GroupMcp mcp
                ? new GroupMcp(
                        Math.scalb(mcp.lambda(), exponentOfLambda),
                        Math.scalb(mcp.beta(), exponentOfBeta),
                        mcp.weight())
                : new GroupLasso(Math.scalb(((GroupLasso) penalty).lambda(), exponentOfLambda), GroupWeight.NONE);
    }

    private static double[] scaled(double[] values, int exponent) {
        return Arrays.stream(values).map(value -> Math.scalb(value, exponent)).toArray();
    }

    @Test
    void aGroupOfAMillion() {
        SplittableRandom random = new SplittableRandom(1);
        int n = 1_000_000;
        double[] x = Cases.normal(random, n);
        double[] d = Cases.metric(random, n, 7);
        double[] u = Cases.times(d, x);
        double stepSize = 1e-3;
        for (double ratio : new double[] {1e-3, 0.3, 0.999999, 1.000001}) {
            double lambda = Norm.of(u) * ratio / stepSize;
            for (Penalty penalty :
                    List.of(new GroupLasso(lambda / Math.sqrt(n)), new GroupMcp(lambda / Math.sqrt(n), 10))) {
                Problem problem = new Problem(1, penalty, x, d, stepSize);
                Solution solution = problem.solve(Solver.DEFAULT);
                ProxPropertiesTest.assertShrunkTowardsZero(x, solution.z());
                assertTrue(solution.outcome().converged());
                double[] gradient = new double[n];
                Arrays.setAll(gradient, i -> d[i] * (solution.z()[i] - x[i]) / stepSize);
                assertTrue(penalty.stationarityDistance(solution.z(), gradient) <= 1e-12 * Norm.of(u) / stepSize);
            }
        }
    }
}
