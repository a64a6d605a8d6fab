package dev.espalier.train.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Holds the weighted values to the formulas of the paper's program, written down. */
class ValueWeightTest {
    private static final double LAMBDA = 0.3;
    private static final double BETA = 2;

    @Test
    void sizeLeavesThePenaltyAsItIs() {
        Penalty penalty = new GroupLasso(LAMBDA);
        assertSame(penalty, ValueWeight.SIZE.of(penalty, 7));
    }

    @Test
    void valuesAreThoseOfTheProgram() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 1000; round++) {
            int groups = random.nextInt(1, 40);
            ValueWeight choice = random.nextBoolean() ? ValueWeight.GROUPS : ValueWeight.INVERSE_GROUPS;
            double root = Math.sqrt(groups);
            double weight = choice == ValueWeight.GROUPS ? root : 1 / root;
            double[] x = new double[random.nextInt(1, 9)];
            double square = 0;
            for (int i = 0; i < x.length; i++) {
                x[i] = random.nextDouble(-1, 1);
                square += x[i] * x[i];
            }
            double norm = weight * Math.sqrt(square);
            double mcp = norm <= BETA * LAMBDA ? LAMBDA * norm - norm * norm / (2 * BETA) : BETA * LAMBDA * LAMBDA / 2;
            assertValue(LAMBDA * norm, choice.of(new GroupLasso(LAMBDA), groups), x);
            assertValue(mcp, choice.of(new GroupMcp(LAMBDA, BETA), groups), x);
        }
    }

    /** The value, and that the subgradient is its derivative. */
    private static void assertValue(double expected, Penalty penalty, double[] x) {
        assertEquals(expected, penalty.value(x), 1e-12);
        double[] subgradient = penalty.subgradient(x);
        for (int i = 0; i < x.length; i++) {
            double[] above = x.clone();
            double[] below = x.clone();
            double step = 1e-6;
            above[i] += step;
            below[i] -= step;
            assertEquals((penalty.value(above) - penalty.value(below)) / (2 * step), subgradient[i], 1e-4);
        }
    }
}
