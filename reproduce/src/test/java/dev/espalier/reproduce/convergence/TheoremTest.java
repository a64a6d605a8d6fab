package dev.espalier.reproduce.convergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.ToleranceSchedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The constants of the bound, against numbers worked out by hand, and what a descent records for them. */
final class TheoremTest {
    @Test
    void theConstantsOfAPlainDescent() {
        Theorem theorem = Theorem.plain(1, 0.25);
        assertEquals(3 * (2 + 16 + 3 + 4), theorem.c());
        assertEquals(4 * (12 + 3 + 37.5), theorem.c1());
        assertEquals(300, theorem.c2());
        assertEquals(0, theorem.c3());
        assertEquals((210 * 0.5 + 300 * 2) / 10, theorem.bound(10, 0.5, 2), 1e-12);
        assertEquals(1200, theorem.steps(0.5, 1));
        assertEquals(840, theorem.batchSize(0.5, 1));
    }

    @Test
    void momentumAndErrorsCost() {
        Theorem theorem = new Theorem(1, 3, 1, 0.25, 0.25, 0.5, 0.5, 3, 2, 0.1);
        double ofMomentum = 4 * (150 + 12) * 0.5 * 2 * 3 / 0.5 + 96 * 0.25 * 9 / 0.75;
        double ofErrors = 0.1 * (2 * 75 * (4 + 75) + 2 * 16);
        assertEquals(ofMomentum + ofErrors, theorem.c3(), 1e-9);
    }

    @Test
    void aStepThatIsTooLongIsRefused() {
        IllegalArgumentException problem = assertThrows(IllegalArgumentException.class, () -> Theorem.plain(2, 0.25));
        assertTrue(String.valueOf(problem.getMessage()).contains("δ/2L = 0.25"), problem.getMessage());
    }

    @Test
    void aDescentRecordsWhatTheTheoremSpeaksOf() {
        Problem problem = new Problem(Problem.Loss.LEAST_SQUARES, new Problem.Size(50, 4, 2, 5), 1);
        GroupLasso penalty = new GroupLasso(0.3 * problem.largestLambda());
        Descent descent = new Descent(new UpdateRule.RmsProp(0.99, 1e-2), 0.025)
                .withBatchSize(4)
                .withTolerance(new ToleranceSchedule(0.1, 1));
        Trace trace = descent.run(problem, penalty, 200, 1);
        assertEquals(200, trace.steps().size());
        assertTrue(trace.metricBound() >= 0.1 && trace.metricBound() < 0.2, "δ = " + trace.metricBound());
        assertTrue(trace.stepBound() > 0 && trace.stepBound() <= 0.025 / trace.metricBound());
        assertTrue(trace.squaredErrors() > 0);
        assertTrue(trace.penaltySmoothness() > 0);
        assertTrue(trace.steps().stream().allMatch(step -> step.squaredNoise() > 0));
        assertEquals(trace, descent.run(problem, penalty, 200, 1), "a descent is a function of its seed");
    }

    @Test
    void aRuleWithAMomentumOfItsOwnIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Descent(new UpdateRule.Adam(), 0.1));
    }

    @Test
    void theSlopeOfALineIsFound() {
        assertEquals(-2, Slope.of(List.of(0.0, 1.0, 3.0), List.of(5.0, 3.0, -1.0)), 1e-12);
    }
}
