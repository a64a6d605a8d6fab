package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A weight that is not a number before the step spoils its own group, says so, and nothing else. */
class NonFiniteWeightsTest {
    private static final long[] SHAPE = {3, 4};

    @Test
    void aGroupThatIsNotFiniteIsReportedAndTheOthersAreSteppedAsEver() {
        try (Arena arena = Arena.ofShared()) {
            TensorView good = weights(arena);
            TensorView bad = weights(arena);
            bad.set(1, Double.NaN);
            assertEquals(0, step(arena, good).unconverged());
            Summary summary = step(arena, bad);
            assertEquals(1, summary.unconverged());
            assertEquals(4, summary.groups());
            for (int i = 0; i < 12; i++) {
                if (i % 4 == 1) {
                    assertTrue(i > 1 || Double.isNaN(bad.get(i)), "the bad weight does not heal");
                } else {
                    assertEquals(good.get(i), bad.get(i), "weight " + i);
                }
            }
        }
    }

    /** Where vectors are at work, and norms are known from the step before: those of the bad group must be nobody else's. */
    @Test
    void whatIsNotFiniteStaysAlone() {
        long[] shape = {6, 70, 3};
        int size = 6 * 70 * 3;
        try (Arena arena = Arena.ofShared()) {
            TensorView good = weights(arena, shape);
            TensorView bad = weights(arena, shape);
            bad.set(1, Double.NaN);
            assertEquals(0, steps(arena, good, shape, 3).unconverged());
            assertEquals(1, steps(arena, bad, shape, 3).unconverged());
            for (int i = 0; i < size; i++) {
                if (i % (70 * 3) >= 3) {
                    assertEquals(good.get(i), bad.get(i), "weight " + i);
                }
            }
        }
    }

    private static TensorView weights(Arena arena) {
        return weights(arena, SHAPE);
    }

    private static Summary step(Arena arena, TensorView weights) {
        return steps(arena, weights, SHAPE, 1);
    }

    private static TensorView weights(Arena arena, long... shape) {
        int size = Math.toIntExact(Arrays.stream(shape).reduce(1, Math::multiplyExact));
        TensorView weights = TensorView.of(arena.allocate(4L * size, 64), ElementType.FLOAT32, shape);
        for (int i = 0; i < size; i++) {
            weights.set(i, 0.1 * (i % 12 + 1));
        }
        return weights;
    }

    /** Some steps, of which the last one is told of. */
    private static Summary steps(Arena arena, TensorView weights, long[] shape, int count) {
        int size = Math.toIntExact(Arrays.stream(shape).reduce(1, Math::multiplyExact));
        TensorView gradient = TensorView.of(arena.allocate(4L * size, 64), ElementType.FLOAT32, shape);
        for (int i = 0; i < size; i++) {
            gradient.set(i, i % 12 - 5.5);
        }
        ParameterSet set = ParameterSet.of(LearningRate.constant(0.01), Parameter.of("w", shape))
                .withRegularizer(new Regularizer(new GroupLasso(0.5), AxisGroups.along(1, shape)));
        try (Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), List.of(set), StepOptions.DEFAULT)) {
            for (int step = 1; step < count; step++) {
                optimizer.step(Map.of("w", weights), Map.of("w", gradient));
            }
            return optimizer.step(Map.of("w", weights), Map.of("w", gradient)).summary();
        }
    }
}
