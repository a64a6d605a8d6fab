package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** A step allocates next to nothing, however large the model is. */
class AllocationTest {
    private static final int GROUPS = 50;
    private static final LearningRate RATE = LearningRate.constant(0.01);

    @Test
    void allocationDoesNotGrowWithTheModel() {
        requireFlat(rows -> List.of(
                ParameterSet.of(RATE, new Parameter("plain", (long) rows * GROUPS)),
                ParameterSet.of(RATE, new Parameter("grouped", (long) rows * GROUPS))
                        .withRegularizer(new Regularizer(new GroupLasso(0.1), new AxisGroups(rows, GROUPS, 1)))));
    }

    /** The exact operator would allocate: this also says that a step does without. */
    @Test
    void norDoesThatOfGroupsThatNest() {
        requireFlat(rows -> {
            AxisGroups part = new AxisGroups(rows / 2, GROUPS, 1);
            long size = part.tensorSizes().getFirst();
            return List.of(ParameterSet.of(RATE, new Parameter("first", size), new Parameter("second", size))
                    .withRegularizer(new Regularizer(
                            new NestedLasso(0.1, 0.5), NestedGroups.ofParts(new JointGroups(List.of(part, part))))));
        });
    }

    private static void requireFlat(IntFunction<List<ParameterSet>> sets) {
        long small = allocated(sets.apply(100));
        long large = allocated(sets.apply(10_000));
        assertTrue(large < 64 << 10, () -> large + " bytes a step");
        assertTrue(Math.abs(small - large) < 4 << 10, () -> small + " and " + large + " bytes a step");
    }

    /** Bytes that one step allocates, at best. */
    private static long allocated(List<ParameterSet> sets) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().threadId();
        // One lane: vectors live on the heap until they are compiled.
        try (TestModel model = new TestModel(sets);
                Optimizer optimizer = new Optimizer(
                        new UpdateRule.Adam(), sets, StepOptions.DEFAULT.withThreads(1), LaneChoice.SCALAR)) {
            TestModel.fill(model.weights(), new SplittableRandom(1), 1);
            TestModel.fill(model.gradients(), new SplittableRandom(2), 1);
            long least = Long.MAX_VALUE;
            for (int step = 0; step < 12; step++) {
                long before = threads.getThreadAllocatedBytes(self);
                optimizer.step(model.weights(), model.gradients());
                least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
            }
            return least;
        }
    }
}
