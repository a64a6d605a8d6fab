package dev.espalier.core.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LearningRateTest {

    static Stream<Arguments> rates() {
        LearningRate constant = LearningRate.constant(0.5);
        LearningRate steps = new LearningRate.StepDecay(1, 0.1, 10);
        LearningRate milestones = new LearningRate.MultiStep(2, 0.5, List.of(3L, 7L));
        LearningRate linear = new LearningRate.LinearToZero(4, 8);
        LearningRate cosine = new LearningRate.Cosine(3, 1, 10);
        return Stream.of(
                Arguments.of(constant, 0, 0.5),
                Arguments.of(constant, Long.MAX_VALUE, 0.5),
                Arguments.of(LearningRate.constant(0), 5, 0),
                Arguments.of(steps, 0, 1),
                Arguments.of(steps, 9, 1),
                Arguments.of(steps, 10, 0.1),
                Arguments.of(steps, 29, 0.01),
                Arguments.of(milestones, 0, 2),
                Arguments.of(milestones, 2, 2),
                Arguments.of(milestones, 3, 1),
                Arguments.of(milestones, 6, 1),
                Arguments.of(milestones, 7, 0.5),
                Arguments.of(milestones, 1000, 0.5),
                Arguments.of(new LearningRate.MultiStep(2, 0.5, List.of()), 1000, 2),
                Arguments.of(linear, 0, 4),
                Arguments.of(linear, 2, 3),
                Arguments.of(linear, 7, 0.5),
                Arguments.of(linear, 8, 0),
                Arguments.of(linear, 80, 0),
                Arguments.of(cosine, 0, 3),
                Arguments.of(cosine, 5, 2),
                Arguments.of(cosine, 10, 1),
                Arguments.of(cosine, 99, 1),
                Arguments.of(cosine, 2, 2 + Math.cos(Math.PI / 5)),
                Arguments.of(constant.warmedUp(4), 0, 0.125),
                Arguments.of(constant.warmedUp(4), 2, 0.375),
                Arguments.of(constant.warmedUp(4), 3, 0.5),
                Arguments.of(constant.warmedUp(4), 4, 0.5),
                Arguments.of(linear.warmedUp(4), 1, 3.5 / 2), // the schedule itself runs from step 0
                Arguments.of(linear.warmedUp(4), 6, 1),
                Arguments.of(constant.warmedUp(1), 0, 0.5),
                Arguments.of(linear.then(6, cosine), 0, 4),
                Arguments.of(linear.then(6, cosine), 5, 1.5),
                Arguments.of(linear.then(6, cosine), 6, 3), // the next one from its own step 0
                Arguments.of(linear.then(6, cosine), 11, 2),
                Arguments.of(linear.then(6, cosine), 1000, 1),
                Arguments.of(constant.then(2, steps.then(10, linear)), 1, 0.5),
                Arguments.of(constant.then(2, steps.then(10, linear)), 11, 1),
                Arguments.of(constant.then(2, steps.then(10, linear)), 14, 3),
                Arguments.of(constant.then(2, steps).then(12, linear), 14, 3));
    }

    @ParameterizedTest
    @MethodSource("rates")
    void everyScheduleAtItsKeySteps(LearningRate schedule, long step, double rate) {
        assertEquals(rate, schedule.at(step), 1e-15 * Math.max(1, rate));
    }

    @Test
    void badNumbersAreRefusedByName() {
        assertRefused("rate", () -> LearningRate.constant(-1));
        assertRefused("rate", () -> LearningRate.constant(Double.NaN));
        assertRefused("initial", () -> new LearningRate.StepDecay(-1, 0.1, 1));
        assertRefused("factor", () -> new LearningRate.StepDecay(1, 0, 1));
        assertRefused("every", () -> new LearningRate.StepDecay(1, 0.1, 0));
        assertRefused("initial", () -> new LearningRate.MultiStep(Double.POSITIVE_INFINITY, 0.1, List.of()));
        assertRefused("factor", () -> new LearningRate.MultiStep(1, Double.NaN, List.of()));
        assertRefused("milestones", () -> new LearningRate.MultiStep(1, 0.1, List.of(5L, 3L)));
        assertRefused("milestones", () -> new LearningRate.MultiStep(1, 0.1, List.of(5L, 5L)));
        assertRefused("initial", () -> new LearningRate.LinearToZero(-1, 1));
        assertRefused("steps", () -> new LearningRate.LinearToZero(1, 0));
        assertRefused("initial", () -> new LearningRate.Cosine(-1, 0, 1));
        assertRefused("last", () -> new LearningRate.Cosine(1, -1, 1));
        assertRefused("steps", () -> new LearningRate.Cosine(1, 0, 0));
        assertRefused("steps", () -> LearningRate.constant(1).warmedUp(0));
        assertRefused("steps", () -> LearningRate.constant(1).then(0, LearningRate.constant(1)));
    }

    @Test
    void milestonesAreCopied() {
        List<Long> milestones = new ArrayList<>(List.of(3L));
        LearningRate schedule = new LearningRate.MultiStep(1, 0.5, milestones);
        milestones.set(0, 0L);
        assertEquals(1, schedule.at(2));
    }

    private static void assertRefused(String name, Executable executable) {
        String message =
                assertThrows(IllegalArgumentException.class, executable).toString();
        assertTrue(message.contains(name), message);
    }
}
