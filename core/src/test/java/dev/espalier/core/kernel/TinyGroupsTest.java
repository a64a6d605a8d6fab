package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers so small that float32 has none for their norm: a step ends, and does what it should. */
class TinyGroupsTest {
    private static final double METRIC = 1e30;

    /** Without a gradient in the metric, so that the penalty does not wait for one. */
    private static final Coefficients NUMBERS = new Coefficients(0, 1, 1, 1, 0, 1, 0, METRIC);

    /** Of the last two the first part ends below the smallest number, and the other does not. */
    @ParameterizedTest
    @CsvSource({
        "1e-38, 1e-38, 0",
        "1e-42, 1e-42, 0",
        "1e-44, 1e-44, 1",
        "3e-45, 3e-45, 1e-30",
        "1.4e-45, 2e-40, 1e-42",
        "1.4e-45, 4e-42, 1e-36"
    })
    void aStepOnGroupsWithinGroupsEnds(float weight, float other, float start) {
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            JointGroups joint = new JointGroups(List.of(new AxisGroups(2, 3, 1), new AxisGroups(1, 3, 2)));
            NestedLasso penalty = new NestedLasso(1.5 * METRIC * weight, 0.8, GroupWeight.NONE);
            List<Long> sizes = joint.tensorSizes();
            SetPlan plan =
                    new SetPlan(List.of("a", "b"), sizes, new Regularizer(penalty, NestedGroups.ofParts(joint)), true);
            UpdateRule rule = new UpdateRule.AdaGrad();
            try (Arena arena = Arena.ofShared();
                    StepKernel kernel = LaneChoice.BEST.create(rule, List.of(plan), 1)) {
                kernel.state().forEach((name, memory) -> {
                    for (int i = 0; name.startsWith("theta/") && i < memory.byteSize() / Float.BYTES; i++) {
                        memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, start);
                    }
                });
                List<TensorView> weights =
                        List.of(tensor(arena, sizes.get(0), weight), tensor(arena, sizes.get(1), other));
                List<TensorView> gradients = List.of(tensor(arena, sizes.get(0), 0), tensor(arena, sizes.get(1), 0));
                kernel.step(List.of(new SetStep(weights, gradients, 1, 0)), NUMBERS, 1e-3);
                for (TensorView tensor : weights) {
                    for (int i = 0; i < tensor.size(); i++) {
                        assertEquals(0, tensor.get(i), Math.max(weight, other));
                    }
                }
            }
        });
    }

    /** Weights without gradients, far beyond the knee: to leave them costs the least, though u squared is nothing in float32. */
    @Test
    void aGroupFarBeyondTheKneeIsLeftAlone() {
        SetPlan plan = new SetPlan(
                List.of("a"),
                List.of(8L),
                new Regularizer(new GroupMcp(5000, 1e-10, GroupWeight.NONE), new AxisGroups(4, 2, 1)),
                true);
        Coefficients dead = new Coefficients(0, 1, 1, 1, 0, 1, 0, 1e-38);
        try (Arena arena = Arena.ofShared();
                StepKernel kernel = LaneChoice.BEST.create(new UpdateRule.AdaGrad(), List.of(plan), 1)) {
            TensorView weights = tensor(arena, 8, 1e18f);
            kernel.step(List.of(new SetStep(List.of(weights), List.of(tensor(arena, 8, 0)), 1, 0)), dead, 1e-3);
            for (int i = 0; i < weights.size(); i++) {
                assertEquals(1e18, weights.get(i), 1e12);
            }
        }
    }

    private static TensorView tensor(Arena arena, long size, float value) {
        TensorView tensor = TensorView.of(arena.allocate(size * Float.BYTES, 64), ElementType.FLOAT32, size);
        for (int i = 0; i < size; i++) {
            tensor.set(i, value);
        }
        return tensor;
    }
}
