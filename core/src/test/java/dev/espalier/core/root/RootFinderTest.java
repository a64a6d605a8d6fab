package dev.espalier.core.root;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Cases;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import dev.espalier.core.prox.Solver;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a root finder costs, and what it must not do: stop in silence, or be led astray by a guess. */
class RootFinderTest {
    private static final int COUNT = 2000;

    static List<RootFinder> finders() {
        return List.of(new ReciprocalNewton(), new NewtonRaphson(), new Bisection());
    }

    /** The metrics of the paper's comparison: ℓ1/ℓ2 above the threshold, d log-uniform over seven orders of magnitude. */
    private static Problem spread(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int n = (int) Cases.logUniform(random, 2, 501);
        double[] x = Cases.normal(random, n);
        double[] d = Cases.metric(random, n, 7);
        double lambda = Norm.of(Cases.times(d, x)) * Cases.logUniform(random, 1e-6, 1);
        return new Problem(seed, new GroupLasso(lambda, GroupWeight.NONE), x, d, 1);
    }

    @Test
    void iterationCounts() {
        StringBuilder table = new StringBuilder("%-18s %6s %5s %5s%n".formatted("l1/l2", "mean", "max", "warm"));
        for (RootFinder finder : finders()) {
            Solver solver = new Solver.ByRoot(finder, Tolerance.EXACT);
            IntSummaryStatistics cold = new IntSummaryStatistics();
            IntSummaryStatistics warm = new IntSummaryStatistics();
            for (long seed : Cases.seeds(COUNT)) {
                Problem problem = spread(seed);
                Solution solution = problem.solve(solver);
                assertTrue(solution.outcome().converged(), () -> "seed " + seed + " " + solver);
                cold.accept(solution.outcome().iterations());
                warm.accept(problem.solve(solver, solution.outcome().theta() * (1 + 1e-3))
                        .outcome()
                        .iterations());
            }
            table.append("%-18s %6.2f %5d %5.2f%n"
                    .formatted(finder.getClass().getSimpleName(), cold.getAverage(), cold.getMax(), warm.getAverage()));
            if (finder instanceof ReciprocalNewton && !Cases.replaying()) {
                assertTrue(cold.getAverage() <= 3.5 && cold.getMax() <= 10, table::toString);
                assertTrue(warm.getAverage() <= 2.1, table::toString);
            }
        }
        System.out.println(table);
    }

    @ParameterizedTest
    @EnumSource
    void aGuessChangesTheCostButNotTheResult(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            double norm = Norm.of(problem.x());
            for (RootFinder finder : finders()) {
                Solver solver = new Solver.ByRoot(finder, Tolerance.EXACT);
                Solution cold = problem.solve(solver);
                SplittableRandom random = problem.random();
                double theta = cold.outcome().theta();
                double[] guesses = {
                    theta,
                    theta * (1 + 1e-3),
                    theta * (1 - 1e-6),
                    0,
                    -1,
                    Double.MIN_VALUE,
                    norm,
                    2 * norm,
                    1e300,
                    Double.POSITIVE_INFINITY,
                    norm * random.nextDouble(),
                    norm * Cases.logUniform(random, 1e-9, 1),
                };
                for (double guess : guesses) {
                    assertSame(problem, cold, solver, guess);
                }
            }
        });
    }

    private static void assertSame(Problem problem, Solution cold, Solver solver, double guess) {
        Solution warm = problem.solve(solver, guess);
        assertTrue(warm.outcome().converged(), () -> "not converged: " + solver);
        double distance = Cases.distance(warm.z(), cold.z()) / Norm.of(problem.x());
        assertTrue(
                distance <= 1e-14,
                () -> "%s from %s is %.2g ‖x‖ away: %s, not %s"
                        .formatted(solver, guess, distance, warm.outcome(), cold.outcome()));
    }

    /** Between the two roots {@code t} is below one and then rises: the guesses there point away from the minimiser. */
    @ParameterizedTest
    @MethodSource("finders")
    void aGuessBeyondTheValleyOfTwoRootsIsNotFollowed(RootFinder finder) {
        Solver solver = new Solver.ByRoot(finder, Tolerance.EXACT);
        int[] valleys = {0};
        Cases.check(Kind.MCP, COUNT, problem -> {
            Solution cold = problem.solve(solver);
            double knee = problem.profile().end(0);
            if (cold.outcome().branch() != Branch.SHRUNK || Norm.of(problem.x()) <= knee) {
                return;
            }
            valleys[0]++;
            SecularEquation equation = equation(problem);
            double theta = cold.outcome().theta();
            for (int i = 1; i <= 50; i++) {
                assertSame(problem, cold, solver, theta + (knee - theta) * i / 51);
            }
            assertSame(problem, cold, solver, risingRoot(equation, theta, knee));
        });
        assertTrue(valleys[0] > 10 || Cases.replaying(), "too few cases with two roots: " + valleys[0]);
    }

    /** The larger of the two roots: a maximiser. */
    private static double risingRoot(SecularEquation equation, double theta, double knee) {
        double low = theta;
        double high = knee;
        while (Math.nextUp(low) < high) {
            double middle = low + (high - low) / 2;
            equation.evaluate(middle);
            if (equation.t() > 1 && equation.s() < 0) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return high;
    }

    private static SecularEquation equation(Problem problem) {
        var piece = problem.profile().pieces().getFirst();
        return new SecularEquation(
                problem.u(), problem.d(), problem.stepSize() * piece.bend(), problem.stepSize() * piece.height());
    }

    @ParameterizedTest
    @MethodSource("finders")
    void theLimitIsReportedNeverHidden(RootFinder finder) {
        Solver hasty = new Solver.ByRoot(finder, new Tolerance(1e-16, 2));
        int[] stopped = {0};
        for (Kind kind : Kind.values()) {
            Cases.check(kind, COUNT, problem -> {
                Solution exact = problem.solve(Solver.DEFAULT);
                Solution solution = problem.solve(hasty);
                assertTrue(solution.outcome().iterations() <= 4, () -> "limit ignored: " + solution.outcome());
                if (solution.outcome().converged()) {
                    double distance = Cases.distance(exact.z(), solution.z()) / Norm.of(problem.x());
                    assertTrue(
                            distance <= 1e-12,
                            () -> "%.2g ‖x‖ away and not a word of it: %s, not %s"
                                    .formatted(distance, solution.outcome(), exact.outcome()));
                } else {
                    stopped[0]++;
                    assertTrue(solution.outcome().iterations() >= 2, () -> "stopped early: " + solution.outcome());
                }
            });
        }
        assertTrue(stopped[0] > 0 || Cases.replaying(), "no case reached the limit");
    }

    @ParameterizedTest
    @MethodSource("finders")
    void aLooserToleranceIsKeptAndSavesEvaluations(RootFinder finder) {
        for (double relative : new double[] {1e-2, 1e-4, 1e-8}) {
            Solver loose = new Solver.ByRoot(finder, new Tolerance(relative, 200));
            Solver exact = new Solver.ByRoot(finder, Tolerance.EXACT);
            long saved = 0;
            for (long seed : Cases.seeds(COUNT)) {
                Problem problem = spread(seed);
                Solution expected = problem.solve(exact);
                Solution actual = problem.solve(loose);
                double theta = expected.outcome().theta();
                assertEquals(theta, actual.outcome().theta(), relative * theta, () -> "seed " + seed + " " + loose);
                saved += expected.outcome().iterations() - actual.outcome().iterations();
            }
            assertTrue(saved > 0 || Cases.replaying(), "nothing saved");
        }
    }

    @ParameterizedTest
    @MethodSource("finders")
    void noRootIsSaidToBeNone(RootFinder finder) {
        // t = 4/(1 − θ/4)² never falls to one; t = 9/(θ + 1)² does at 2.
        SecularEquation rising = new SecularEquation(new double[] {2}, new double[] {0.25}, 0.5, 1);
        assertFalse(finder.find(rising, 0.5, 3, Double.NaN, Tolerance.EXACT).exists());
        SecularEquation falling = new SecularEquation(new double[] {3}, new double[] {1}, 0, 1);
        Root root = finder.find(falling, 0.5, 3, Double.NaN, Tolerance.EXACT);
        assertTrue(root.exists() && root.converged());
        assertEquals(2, root.theta(), 1e-15);
        assertFalse(finder.find(falling, 0.5, 1.5, Double.NaN, Tolerance.EXACT).exists());
    }
}
