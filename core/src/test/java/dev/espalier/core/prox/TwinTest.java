package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every fast result against the slow twin, for penalties convex and not, and one that no solver knows of. */
class TwinTest {
    private static final int COUNT = 1000;

    @ParameterizedTest
    @EnumSource
    void everyRootSolverFindsTheGlobalMinimiser(Kind kind) {
        Map<Branch, Integer> seen = new EnumMap<>(Branch.class);
        Cases.check(kind, COUNT, problem -> {
            double[] twin = NaiveProx.apply(problem.profile(), problem.x(), problem.d(), problem.stepSize());
            for (Solver solver : Cases.ROOT_SOLVERS) {
                Solution solution = problem.solve(solver);
                assertTrue(solution.outcome().converged(), () -> "not converged: " + solver);
                assertSameMinimiser(problem, twin, solution.z(), solver);
                assertBranchTellsWhatHappened(problem, solution);
                seen.merge(solution.outcome().branch(), 1, Integer::sum);
            }
        });
        if (!Cases.replaying()) { // so that the test cannot become empty unnoticed
            for (Branch branch : Branch.values()) {
                boolean possible = branch != Branch.UNTOUCHED || (kind != Kind.LASSO && kind != Kind.LASSO_AND_MCP);
                assertEquals(possible, seen.getOrDefault(branch, 0) > COUNT / 20, kind + " " + seen);
            }
        }
    }

    private static void assertSameMinimiser(Problem problem, double[] twin, double[] z, Solver solver) {
        double distance = Cases.distance(z, twin) / Norm.of(problem.x());
        double ours = problem.objective(z);
        double twins = problem.objective(twin);
        assertTrue(ours <= twins * (1 + 1e-12), () -> "objective %s of %s, twin's %s".formatted(ours, solver, twins));
        // Two different points may be equally good; one and the same must agree to the last digits.
        boolean tie = distance > 1e-4 && ours >= twins * (1 - 1e-12);
        assertTrue(
                tie || distance <= 1e-14,
                () -> "%s is %.2g ‖x‖ away from the twin: %s, twin %s"
                        .formatted(solver, distance, Arrays.toString(z), Arrays.toString(twin)));
    }

    private static void assertBranchTellsWhatHappened(Problem problem, Solution solution) {
        Outcome outcome = solution.outcome();
        double norm = Norm.of(solution.z());
        assertEquals(norm, outcome.theta(), 1e-12 * Norm.of(problem.x()), "theta");
        switch (outcome.branch()) {
            case ZEROED -> assertEquals(0, norm);
            case SHRUNK ->
                assertAll(
                        () -> assertTrue(norm > 0, "shrunk to zero"),
                        () -> assertTrue(norm < Norm.of(problem.x()), "shrunk to x"),
                        () -> assertTrue(outcome.residual() < 1e-12, () -> "residual " + outcome.residual()));
            case UNTOUCHED -> assertArrayEquals(problem.x(), solution.z());
        }
    }
}
