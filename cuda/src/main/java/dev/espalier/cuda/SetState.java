package dev.espalier.cuda;

import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.prox.Regularizer;
import org.jspecify.annotations.Nullable;

/** What is stepped together: how, and where what is kept of it lies. */
final class SetState {
    final SetPlan plan;

    /** Its number among all sets. */
    final int place;

    final Kind kind;

    /** The number of its first tensor among all tensors. */
    final int firstTensor;

    /** Where its norms begin, in floats. */
    final long theta;

    /** Its penalty, which may change between steps, and its groups; null if it has none. */
    @Nullable
    Regularizer regularizer;

    SetState(SetPlan plan, int place, Kind kind, int firstTensor, long theta) {
        this.plan = plan;
        this.place = place;
        this.kind = kind;
        this.firstTensor = firstTensor;
        this.theta = theta;
        regularizer = plan.regularizer();
    }

    boolean onGpu() {
        return kind != Kind.ON_THE_HOST;
    }
}
