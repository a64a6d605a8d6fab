package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import dev.espalier.core.root.Tolerance;
import java.util.Arrays;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The comparison solver: right where it has time enough, honest where it has not. */
class AdaProxTest {

    /** Metrics over one order of magnitude, which it can cope with. */
    private static Problem mild(long seed, boolean mcp) {
        SplittableRandom random = new SplittableRandom(seed);
        int n = random.nextInt(2, 30);
        double[] x = Cases.normal(random, n);
        double[] d = Cases.metric(random, n, 1);
        double stepSize = Cases.logUniform(random, 1e-3, 1e1);
        double lambda = Norm.of(Cases.times(d, x)) / stepSize * random.nextDouble(0.01, 1.2);
        double beta = stepSize / Arrays.stream(d).min().orElseThrow() * Cases.logUniform(random, 1.5, 10);
        Penalty penalty = mcp ? new GroupMcp(lambda, beta, GroupWeight.NONE) : new GroupLasso(lambda, GroupWeight.NONE);
        return new Problem(seed, penalty, x, d, stepSize);
    }

    @Test
    void agreesWithTheTwinOnConvexProblemsGivenTime() {
        Solver patient = new Solver.AdaProx(new Tolerance(1e-13, 20_000));
        for (long seed : Cases.seeds(500)) {
            Problem problem = mild(seed, seed % 2 == 0);
            double[] twin = NaiveProx.apply(problem.profile(), problem.x(), problem.d(), problem.stepSize());
            Solution solution = problem.solve(patient);
            String message = "seed %d, %s, %s".formatted(seed, solution.outcome(), problem);
            assertTrue(solution.outcome().converged(), message);
            assertTrue(Cases.distance(twin, solution.z()) <= 1e-9 * Norm.of(problem.x()), message);
            assertEquals(
                    problem.solve(Solver.DEFAULT).outcome().branch(),
                    solution.outcome().branch(),
                    message);
        }
    }

    @Test
    void saysSoWhenItReachesItsLimit() {
        IntSummaryStatistics iterations = new IntSummaryStatistics();
        int stopped = 0;
        int count = Cases.seeds(500).length;
        for (long seed : Cases.seeds(500)) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(10, 200);
            double[] x = Cases.normal(random, n);
            double[] d = Cases.metric(random, n, 7);
            double lambda = Norm.of(Cases.times(d, x)) * Cases.logUniform(random, 1e-6, 0.9);
            Problem problem = new Problem(seed, new GroupLasso(lambda, GroupWeight.NONE), x, d, 1);
            Outcome outcome = problem.solve(Solver.AdaProx.DEFAULT).outcome();
            iterations.accept(outcome.iterations());
            double exact = problem.solve(Solver.DEFAULT).outcome().theta();
            double error = Math.abs(outcome.theta() - exact) / exact;
            assertTrue(error <= 1e-9 || !outcome.converged(), () -> "seed " + seed + " is off by " + error);
            stopped += outcome.converged() ? 0 : 1;
        }
        assertTrue(stopped > 0.9 * count || Cases.replaying(), stopped + " of " + count + " reached the limit");
        System.out.printf(
                "AdaProx            %6.2f %5d, %d of %d at its limit%n",
                iterations.getAverage(), iterations.getMax(), stopped, count);
    }

    /** It may end in the wrong valley, but never outside of one, and never uphill from where it began. */
    @ParameterizedTest
    @EnumSource
    void neverRaisesTheObjective(Kind kind) {
        Cases.check(kind, 1000, problem -> {
            for (int limit : new int[] {1, 5, 100}) {
                Solution solution = problem.solve(new Solver.AdaProx(new Tolerance(1e-12, limit)));
                ProxPropertiesTest.assertShrunkTowardsZero(problem.x(), solution.z());
                double before = problem.objective(problem.x());
                double after = problem.objective(solution.z());
                assertTrue(after <= before * (1 + 1e-12), () -> "objective %s became %s".formatted(before, after));
                assertEquals(Norm.of(solution.z()), solution.outcome().theta(), 1e-12 * Norm.of(problem.x()));
            }
        });
    }

    @Test
    void aGroupBelowTheThresholdIsZeroed() {
        for (double[] d : List.of(new double[] {1, 2}, new double[] {1, 1})) {
            Problem problem = new Problem(0, new GroupLasso(9, GroupWeight.NONE), new double[] {3, 4}, d, 1);
            Outcome outcome = problem.solve(Solver.AdaProx.DEFAULT).outcome();
            assertEquals(Branch.ZEROED, outcome.branch());
            assertEquals(0, outcome.theta());
            assertTrue(outcome.converged());
        }
        assertFalse(new Problem(0, new GroupLasso(9, GroupWeight.NONE), new double[] {3, 4}, new double[] {1, 2}, 1)
                .solve(new Solver.AdaProx(new Tolerance(1e-12, 1)))
                .outcome()
                .converged());
    }
}
