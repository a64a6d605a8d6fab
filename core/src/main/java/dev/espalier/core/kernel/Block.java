package dev.espalier.core.kernel;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tensors that are stepped together, cut into jobs that are independent of each other. Weights and gradients are bound
 * anew for every step; moments and the groups' norms are kept by the owner.
 *
 * <p>A step runs the {@link #first} pass over all jobs; then, as long as {@link #solve} asks for it, another {@link #again};
 * then the {@link #last} pass over all jobs. In between, u waits in place of the weights; d is computed anew from the second
 * moment, or waits in memory that all blocks share.
 */
abstract sealed class Block permits PlainBlock, SingleBlock, GroupedBlock, ExactBlock {

    /**
     * Where the moments of a tensor are, contiguous in the tensor's row-major order.
     *
     * @param first address of the first moment; zero if the rule has none
     * @param second address of the second moment; zero if the rule has none
     */
    public record Moments(long first, long second) {}

    private List<TensorView> weights = List.of();
    private List<TensorView> gradients = List.of();
    private List<Update> updates = List.of();

    Block() {}

    /**
     * Tensors with or without a penalty.
     *
     * @param sizes number of weights of every tensor
     * @param moments where their moments are
     * @param regularizer the penalty and its groups; null for none
     * @param thetas the norms that {@link #norms} asks for, kept from step to step
     * @param memory memory that lives as long as the block
     * @return the block
     */
    public static Block of(
            List<Long> sizes,
            List<Moments> moments,
            @Nullable Regularizer regularizer,
            float[] thetas,
            SegmentAllocator memory) {
        if (regularizer == null) {
            return new PlainBlock(sizes, moments);
        }
        Penalty penalty = regularizer.penalty();
        return switch (regularizer.groups()) {
            case AxisGroups single
            when isSingle(regularizer) -> new SingleBlock(single.count(), moments.getFirst(), penalty);
            case AxisGroups single -> grouped(List.of(single), moments, regularizer, thetas);
            case JointGroups joint -> grouped(joint.parts(), moments, regularizer, thetas);
            case NestedGroups(JointGroups joint, NestedGroups.Inner.Parts _)
            when penalty instanceof NestedLasso lasso ->
                new GroupedBlock(joint.parts(), moments, new NestedSolver(joint, lasso, thetas));
            case NestedGroups _, IndexGroups _ -> new ExactBlock(regularizer, moments, thetas, memory);
        };
    }

    private static Block grouped(
            List<AxisGroups> parts, List<Moments> moments, Regularizer regularizer, float[] thetas) {
        return new GroupedBlock(parts, moments, new GroupSolver(regularizer, thetas));
    }

    /** See {@link StepKernel.SetPlan#norms}. */
    static int norms(@Nullable Regularizer regularizer) {
        if (regularizer == null || isSingle(regularizer)) {
            return 0;
        }
        return regularizer.groups() instanceof NestedGroups(JointGroups joint, NestedGroups.Inner.Parts _)
                ? joint.count() * joint.parts().size()
                : regularizer.groups().count();
    }

    /** Whether the groups are single weights that are all penalised alike. */
    private static boolean isSingle(Regularizer regularizer) {
        return regularizer.groups() instanceof AxisGroups axis
                && axis.size(0) == 1
                && regularizer.factors().isEmpty();
    }

    /**
     * Lends the block the memory of a step.
     *
     * @param stepWeights the weights, float32 in native memory
     * @param stepGradients the gradients, likewise
     * @param stepUpdates the update rule's numbers, for every tensor
     * @param stepSize α
     * @param smallStep relative step at which root finding may end
     */
    public void bind(
            List<TensorView> stepWeights,
            List<TensorView> stepGradients,
            List<Update> stepUpdates,
            double stepSize,
            double smallStep) {
        weights = stepWeights;
        gradients = stepGradients;
        updates = stepUpdates;
        prepare(stepSize, smallStep);
    }

    void prepare(double stepSize, double smallStep) {}

    /**
     * Lays another penalty on the same groups, from the next step on. Nothing else changes; a block without a penalty stays
     * without.
     *
     * @param penalty the penalty of each group
     */
    public void changePenalty(Penalty penalty) {}

    final List<TensorView> weights() {
        return weights;
    }

    final TensorView weights(int tensor) {
        return weights.get(tensor);
    }

    final TensorView gradients(int tensor) {
        return gradients.get(tensor);
    }

    final Update update(int tensor) {
        return updates.get(tensor);
    }

    /** Number of jobs. */
    abstract int jobs();

    /** Longest stretch of consecutive weights in a job. */
    abstract int columns();

    /** Room for d from the first pass to the last, in weights, where it is kept. */
    long scratch() {
        return 0;
    }

    /** The first pass over a job: updates the moments, and all else that needs no knowledge of other jobs. */
    abstract void first(int job, Worker worker);

    /** What follows from the passes so far. True if another is needed. */
    boolean solve() {
        return false;
    }

    /** Another pass over a job, for the groups that need it. */
    void again(int job, Worker worker) {}

    /** The last pass over a job: writes the weights. */
    void last(int job, Worker worker) {}

    /** The end of a step, after the last pass over all jobs. */
    void finish() {}

    /**
     * What the last step did to the groups.
     *
     * @return the summary; empty without a penalty
     */
    public Summary summary() {
        return Summary.EMPTY;
    }

    /**
     * The penalty's value after the last step.
     *
     * @return {@code h(x)}
     */
    public double penalty() {
        return 0;
    }
}
