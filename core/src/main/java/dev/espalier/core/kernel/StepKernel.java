package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Does the arithmetic of steps on a whole model, somewhere: on the processor ({@link LaneChoice}) or on another device. It
 * owns what must be kept near the arithmetic, the moments and the groups' norms; weights and gradients are lent to it for the
 * time of a step.
 */
public interface StepKernel extends AutoCloseable {
    /** Gradients above this would overflow float32 when squared and summed up. */
    float LARGEST_GRADIENT = 1e15f;

    /** Makes kernels of a kind. */
    @FunctionalInterface
    interface Factory {
        /**
         * Makes a kernel for a model.
         *
         * @param rule how a gradient becomes a direction and a metric
         * @param sets all that is stepped
         * @param threads number of threads of the processor that it may use
         * @return the kernel, with moments and norms of zero
         */
        StepKernel create(UpdateRule rule, List<SetPlan> sets, int threads);
    }

    /**
     * Tensors that are treated alike.
     *
     * @param names their names
     * @param sizes how many weights each has
     * @param regularizer the penalty and its groups; null for none
     * @param proximal true if the weighted proximal operator ends the step; false if the penalty's subgradient is added to
     *     the gradient
     * @param metricFloor ρ: no entry of the metric is below ρ times the mean over its tensor; 0 for none
     */
    record SetPlan(
            List<String> names,
            List<Long> sizes,
            @Nullable Regularizer regularizer,
            boolean proximal,
            double metricFloor) {
        /** Copies the lists. */
        public SetPlan {
            names = List.copyOf(names);
            sizes = List.copyOf(sizes);
        }

        /**
         * Without a floor of the metric.
         *
         * @param names their names
         * @param sizes how many weights each has
         * @param regularizer the penalty and its groups; null for none
         * @param proximal whether the weighted proximal operator ends the step
         */
        public SetPlan(List<String> names, List<Long> sizes, @Nullable Regularizer regularizer, boolean proximal) {
            this(names, sizes, regularizer, proximal, 0);
        }

        /**
         * Whether the metric has to have seen a gradient before the penalty acts.
         *
         * @param rule the update rule's numbers
         * @return true where there is a proximal operator, and gradients make the metric
         */
        public boolean waitsForGradients(Coefficients rule) {
            return proximal && regularizer != null && rule.addSecond() > 0;
        }

        /**
         * A name for reports and state.
         *
         * @return the tensors' names, joined by plus signs
         */
        public String name() {
            return String.join(" + ", names);
        }

        /**
         * How many norms are kept from step to step.
         *
         * @return one for every group, or for every part of one that nests; none where a closed form serves
         */
        public int norms() {
            return Block.norms(regularizer);
        }
    }

    /**
     * One step of a set.
     *
     * @param weights a view of each tensor's weights, written in place
     * @param gradients a view of each tensor's gradient
     * @param stepSize α
     * @param weightDecay decoupled weight decay
     */
    record SetStep(List<TensorView> weights, List<TensorView> gradients, double stepSize, double weightDecay) {}

    /**
     * A gradient that no step can be made with.
     *
     * @param name the tensor's name
     * @param magnitude its largest magnitude, not finite or too large
     */
    record BadGradient(String name, float magnitude) {}

    /**
     * What a step did to a set.
     *
     * @param summary what it did to the groups; empty without a penalty
     * @param penalty the penalty's value afterwards
     */
    record SetResult(Summary summary, double penalty) {

        /**
         * Of a set whose groups no operator has touched.
         *
         * @param regularizer its penalty and groups
         * @param weights its weights, in host memory
         * @return the result
         */
        public static SetResult untouched(Regularizer regularizer, List<TensorView> weights) {
            int left = regularizer.nonZeroGroups(weights);
            int zero = regularizer.groups().count() - left;
            Summary summary = new Summary(zero, 0, left, 0, 0, 0, regularizer.zeroWithin(weights));
            return new SetResult(summary, regularizer.value(weights));
        }
    }

    /**
     * What a step did.
     *
     * @param bad why it did nothing at all; null if it did
     * @param sets a result for every set; empty if it did nothing
     * @param late whether weights were changed after the step was said to be {@link UnderWay under way and settled}
     */
    record Result(@Nullable BadGradient bad, List<SetResult> sets, boolean late) {
        /** Copies the list. */
        public Result {
            sets = List.copyOf(sets);
        }

        /**
         * Of a step that was done.
         *
         * @param sets a result for every set
         * @return the result
         */
        public static Result of(List<SetResult> sets) {
            return new Result(null, sets, false);
        }

        /**
         * The same of a step that changed weights late.
         *
         * @param sets a result for every set
         * @param late whether it did
         * @return the result
         */
        public static Result of(List<SetResult> sets, boolean late) {
            return new Result(null, sets, late);
        }

        /**
         * Of a step that changed nothing.
         *
         * @param bad why
         * @return the result
         */
        public static Result refused(BadGradient bad) {
            return new Result(bad, List.of(), false);
        }
    }

    /**
     * What the kernel runs on, for reports.
     *
     * @return a few words
     */
    String name();

    /**
     * Requires a tensor to be of a kind that the kernel works on.
     *
     * @param what what the caller calls such tensors
     * @param of which of them it is
     * @param tensor the tensor
     * @param written whether the step writes to it
     */
    void requireUsable(String what, String of, TensorView tensor, boolean written);

    /**
     * The moments ({@code first/…}, {@code second/…}) and the groups' norms ({@code theta/…}) by name, in host memory. What is
     * written to them until the next step counts in it.
     *
     * @return the memory, in a fixed order; good until the next step
     */
    SequencedMap<String, MemorySegment> state();

    /**
     * Lays other penalties on the groups of the penalised sets, from the next step on; on all of them or, if one is refused,
     * on none.
     *
     * @param penalties the penalty of each group of a set, in the order of the plans; null where a set has no groups
     */
    void changePenalties(List<@Nullable Penalty> penalties);

    /**
     * Does a step, or nothing at all if a gradient is bad.
     *
     * @param steps what is stepped, in the order of the plans; usable
     * @param rule the update rule's numbers
     * @param smallStep relative step at which root finding may end
     * @return what was done
     */
    Result step(List<SetStep> steps, Coefficients rule, double smallStep);

    /**
     * The same, and something else on the processor while another device is at it.
     *
     * @param steps what is stepped, in the order of the plans; usable
     * @param rule the update rule's numbers
     * @param smallStep relative step at which root finding may end
     * @param underWay is told once, before the step's end is waited for; on the processor, after it
     * @return what was done
     */
    default Result step(List<SetStep> steps, Coefficients rule, double smallStep, UnderWay underWay) {
        Result result = step(steps, rule, smallStep);
        underWay.tell(true);
        return result;
    }

    /** Is told when all that a device does of a step is queued there, or done. */
    @FunctionalInterface
    interface UnderWay {
        /**
         * Has something done meanwhile.
         *
         * @param settled whether what is queued on the device from now on finds the weights that the step leaves, unless it is
         *     {@link Result#late late}, and may change the gradients
         */
        void tell(boolean settled);
    }

    /** Frees all that the kernel holds. */
    @Override
    void close();
}
