package dev.espalier.core.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the convergence theorem asks of the tolerances. The illegal ones are in the table of bad input. */
class ToleranceScheduleTest {

    @ParameterizedTest
    @CsvSource({
        "1e-2, 1,   0,    1e-2",
        "1e-2, 1,   9,    1e-3",
        "1e-2, 2,   9,    1e-4",
        "1e-2, 0.6, 1023, 1.5625e-4", // 2^-6 of it
        "1e-2, 0,   999,  1e-2",
        "1e-2, 2,   1000000000000000000, 1e-16",
        "1e-30, 0,  0,    1e-16",
    })
    void values(double initial, double power, long step, double expected) {
        assertEquals(expected, new ToleranceSchedule(initial, power).at(step), 1e-15 * expected);
    }

    @Test
    void theFloorIsThePrecisionOfDouble() {
        assertEquals(1e-16, ToleranceSchedule.FLOOR);
        assertEquals(ToleranceSchedule.FLOOR, ToleranceSchedule.EXACT.at(0));
        assertEquals(ToleranceSchedule.FLOOR, new ToleranceSchedule(1, 1000).at(Long.MAX_VALUE));
    }

    /** {@code Σ (1 + t)^(−2p) ≤ 1 + 1/(2p − 1)}, however long the training. */
    @ParameterizedTest
    @ValueSource(doubles = {0.51, 0.6, 1, 2})
    void squaresHaveABoundedSum(double power) {
        ToleranceSchedule schedule = new ToleranceSchedule(1e-2, power);
        assertTrue(schedule.squareSummable());
        double sum = 0;
        for (long step = 0; step < 200_000; step++) {
            double tolerance = schedule.at(step);
            assertTrue(step == 0 || tolerance <= schedule.at(step - 1), "must not grow");
            sum += tolerance * tolerance;
        }
        assertTrue(sum <= 1e-4 * (1 + 1 / (2 * power - 1)), "sum " + sum);
    }

    @Test
    void aConstantToleranceIsNotCovered() {
        assertFalse(new ToleranceSchedule(1e-3, 0).squareSummable());
        assertTrue(ToleranceSchedule.EXACT.squareSummable());
        assertTrue(new ToleranceSchedule(1e-20, 0).squareSummable());
    }
}
