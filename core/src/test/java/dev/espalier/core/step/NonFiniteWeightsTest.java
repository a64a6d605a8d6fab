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

    private static TensorView weights(Arena arena) {
        TensorView weights = TensorView.of(arena.allocate(48, 64), ElementType.FLOAT32, SHAPE);
        for (int i = 0; i < 12; i++) {
            weights.set(i, 0.1 * (i + 1));
        }
        return weights;
    }

    private static Summary step(Arena arena, TensorView weights) {
        TensorView gradient = TensorView.of(arena.allocate(48, 64), ElementType.FLOAT32, SHAPE);
        for (int i = 0; i < 12; i++) {
            gradient.set(i, i - 5.5);
        }
        ParameterSet set = ParameterSet.of(LearningRate.constant(0.01), Parameter.of("w", SHAPE))
                .withRegularizer(new Regularizer(new GroupLasso(0.5), AxisGroups.along(1, SHAPE)));
        try (Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), List.of(set), StepOptions.DEFAULT)) {
            return optimizer.step(Map.of("w", weights), Map.of("w", gradient)).summary();
        }
    }
}
