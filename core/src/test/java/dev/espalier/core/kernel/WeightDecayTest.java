package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Decoupled weight decay of any size takes its share, although a float cannot tell 1 from 1 − 5e-9. */
class WeightDecayTest {
    private static final int SIZE = 1003;
    private static final int STEPS = 2000;

    /** Where weights start, and three units in their last place: evenly spread over whole units, noise makes rounding fair. */
    private static final double START = 0.875;

    private static final double NOISE = 3 * 0x1p-24;

    static Stream<Arguments> decays() {
        return Stream.of(1e-9, 5e-9, 3e-8, 5e-8, 1e-7, 1e-6)
                .flatMap(decay -> Stream.of(Arguments.of(decay, false), Arguments.of(decay, true)));
    }

    /** Gradients that are noise take a weight either way, and by that let it feel what is less than a unit in its last place. */
    @ParameterizedTest
    @MethodSource("decays")
    void onAverageItIsWhatItShallBe(double decay, boolean penalised) {
        float[] scalar = decayed(decay, penalised, LaneChoice.SCALAR);
        assertArrayEquals(scalar, decayed(decay, penalised, LaneChoice.VECTOR));
        double mean = 0;
        for (float weight : scalar) {
            mean += weight / SIZE;
        }
        double expected = START * Math.pow(1 - decay, STEPS);
        double deviation = NOISE / Math.sqrt(3) * Math.sqrt((double) STEPS / SIZE);
        assertEquals(expected, mean, 5 * deviation);
        assertTrue(decay < 5e-9 || START - expected > 15 * deviation, "the test would not see it");
    }

    private static float[] decayed(double decay, boolean penalised, LaneChoice lanes) {
        double alpha = 0.01;
        Regularizer none = penalised ? new Regularizer(new GroupLasso(0), new AxisGroups(1, 17, 59)) : null;
        UpdateRule rule = new UpdateRule.Sgd();
        SetPlan plan = new SetPlan(List.of("w"), List.of((long) SIZE), none, true);
        try (Arena arena = Arena.ofConfined();
                StepKernel kernel = lanes.create(rule, List.of(plan), 1)) {
            TensorView x = TensorView.of(arena.allocate(4L * SIZE, 64), ElementType.FLOAT32, SIZE);
            TensorView g = TensorView.of(arena.allocate(4L * SIZE, 64), ElementType.FLOAT32, SIZE);
            SplittableRandom random = new SplittableRandom(4);
            for (int i = 0; i < SIZE; i++) {
                x.set(i, START);
            }
            for (int step = 1; step <= STEPS; step++) {
                for (int i = 0; i < SIZE; i++) {
                    g.set(i, random.nextDouble(-NOISE, NOISE) / alpha);
                }
                kernel.step(List.of(new SetStep(List.of(x), List.of(g), alpha, decay / alpha)), rule.at(step), 1e-3);
            }
            float[] weights = new float[SIZE];
            for (int i = 0; i < SIZE; i++) {
                weights[i] = (float) x.get(i);
            }
            return weights;
        }
    }
}
