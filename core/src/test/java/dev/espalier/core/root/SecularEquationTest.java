package dev.espalier.core.root;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Cases;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import dev.espalier.core.prox.Solver;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The equation's values, derivatives and bounds. */
class SecularEquationTest {
    private static final int COUNT = 3000;

    private static SecularEquation equation(Problem problem) {
        Piece piece = problem.profile().pieces().getFirst();
        return new SecularEquation(
                problem.u(), problem.d(), problem.stepSize() * piece.bend(), problem.stepSize() * piece.height());
    }

    /** By hand: u = (3, 4), d = (1, 2), l = 2, at θ = 2: denominators 4 and 6, with shares 1/2 and 2/3 of θ. */
    @Test
    void valuesByHand() {
        SecularEquation equation = new SecularEquation(new double[] {3, 4}, new double[] {1, 2}, 0, 2);
        equation.evaluate(2);
        assertEquals(9 / 16.0 + 16 / 36.0, equation.t(), 1e-15);
        assertEquals(9 / 16.0 / 2 + 16 / 36.0 * 2 / 3, equation.s(), 1e-15);
        assertEquals(9 / 16.0 / 4 + 16 / 36.0 * 4 / 9, equation.r(), 1e-15);
        assertEquals(9 / 16.0 / 8 + 16 / 36.0 * 8 / 27, equation.c(), 1e-15);
        double[] z = new double[2];
        equation.solution(2, z);
        assertEquals(3 / 2.0, z[0]);
        assertEquals(4 / 3.0, z[1], 1e-15);
        assertTrue(equation.startsAboveOne());
        assertFalse(new SecularEquation(new double[] {3, 4}, new double[] {1, 2}, 0, 5).startsAboveOne());
    }

    @ParameterizedTest
    @EnumSource
    void theDerivativesAreThoseOfTheValue(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            SecularEquation equation = equation(problem);
            double end = Math.min(problem.profile().end(0), Norm.of(problem.x()));
            double theta = end * problem.random().nextDouble(0.2, 0.8);
            double step = 1e-4 * theta;
            equation.evaluate(theta - step);
            double before = equation.t();
            equation.evaluate(theta + step);
            double after = equation.t();
            equation.evaluate(theta);
            double scale = equation.t() + equation.r();
            assertEquals((before - after) / (4 * step) * theta, equation.s(), 1e-6 * scale, "s = −θt'/2");
            double second = (before - 2 * equation.t() + after) / (step * step);
            assertEquals(second * theta * theta / 6, equation.r(), 1e-6 * scale, "r = θ²t''/6");
        });
    }

    /** Propositions 2 and 4 of the paper and the Cauchy–Schwarz bound, also where the problem is not convex. */
    @ParameterizedTest
    @EnumSource
    void theRootLiesBetweenItsBounds(Kind kind) {
        int[] tight = {0};
        Cases.check(kind, COUNT, problem -> {
            Solution solution = problem.solve(new Solver.ByRoot(new Bisection(), Tolerance.EXACT));
            double theta = solution.outcome().theta();
            if (solution.outcome().branch() != Branch.SHRUNK
                    || theta > problem.profile().end(0)) {
                return;
            }
            SecularEquation equation = equation(problem);
            double lower = equation.lowerBound();
            double upper = equation.upperBound();
            double rounding = 1e-12 * Norm.of(problem.x()); // d − κ may cancel
            assertTrue(lower >= 0 && lower <= theta + rounding, () -> "lower bound %s of %s".formatted(lower, theta));
            assertTrue(upper >= theta - rounding, () -> "upper bound %s of %s".formatted(upper, theta));
            double largest = Arrays.stream(problem.d()).max().orElseThrow();
            double bend =
                    problem.stepSize() * problem.profile().pieces().getFirst().bend();
            assertTrue(
                    lower >= (Norm.of(problem.u()) - problem.threshold()) / (largest - bend) * (1 - 1e-12),
                    () -> "lower bound %s is weaker than the paper's".formatted(lower));
            tight[0] += lower > theta / 2 ? 1 : 0;
        });
        assertTrue(tight[0] > 0 || Cases.replaying(), "the bounds are never tight");
    }
}
