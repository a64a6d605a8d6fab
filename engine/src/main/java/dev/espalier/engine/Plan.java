package dev.espalier.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.engine.Kernel.Feed;
import dev.espalier.graph.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A graph for inputs of given shapes, ready to be run: kernels in order, and a slot for each array.
 *
 * <p>References are counted, as a plan may be evicted while other threads run it: it begins with one, and closes its constants
 * with the last.
 */
final class Plan {
    private final PtNDManager constants;
    private final List<Step> steps;
    private final @Nullable PtNDArray[] template;
    private final Map<String, Integer> inputs;
    private final SequencedMap<String, Integer> outputs;
    private final AtomicInteger references = new AtomicInteger(1);

    /**
     * A plan.
     *
     * @param constants owns the arrays that only this plan has
     * @param steps what is done, in order
     * @param template what is in the slots before anything is done: initializers and constants
     * @param inputs the slots of the inputs
     * @param outputs the slots of the outputs, in order
     */
    Plan(
            PtNDManager constants,
            List<Step> steps,
            @Nullable PtNDArray[] template,
            Map<String, Integer> inputs,
            SequencedMap<String, Integer> outputs) {
        this.constants = constants;
        this.steps = List.copyOf(steps);
        this.template = template;
        this.inputs = Map.copyOf(inputs);
        this.outputs = outputs;
    }

    /**
     * One kernel with its place in a plan.
     *
     * @param node where it comes from
     * @param kernel what is done
     * @param inputs the slots that it reads; −1 for an input that is left out
     * @param outputs the slots that it fills
     * @param dying the slots that nobody reads any more
     */
    @SuppressWarnings("ArrayRecordComponent") // made once, never compared
    record Step(Node node, Kernel kernel, int[] inputs, int[] outputs, int[] dying) {

        /**
         * Arrays are closed as soon as nobody reads them any more, in training too: what backward passes need, libtorch
         * keeps itself.
         */
        void run(@Nullable PtNDArray[] slots, Mode mode, PtNDManager owner) {
            try (NDScope scope = new NDScope()) {
                scope.suppressNotUsedWarning();
                PtNDArray[] results = kernel.run(new Feed(slots, inputs, mode));
                for (int i = 0; i < results.length; i++) {
                    NDScope.unregister(results[i]);
                    slots[outputs[i]] = owned(results[i], owner);
                }
            } catch (RuntimeException problem) {
                throw new IllegalStateException("node " + node + " failed: " + problem.getMessage(), problem);
            }
            for (int slot : dying) {
                PtNDArray dead = slots[slot];
                if (dead != null) {
                    dead.close();
                    slots[slot] = null;
                }
            }
        }
    }

    /** A result belongs to the manager of the first operand, which may be a weight. */
    private static PtNDArray owned(PtNDArray array, PtNDManager owner) {
        if (array.getManager() != owner) {
            array.attach(owner);
        }
        return array;
    }

    /**
     * Runs it.
     *
     * @param given the inputs by name, of the shapes and types that the plan is for
     * @param mode what it is run for
     * @param owner will own the outputs
     * @return the outputs by name, in order
     */
    SequencedMap<String, NDArray> run(Map<String, PtNDArray> given, Mode mode, PtNDManager owner) {
        @Nullable PtNDArray[] slots = template.clone();
        inputs.forEach((name, slot) -> slots[slot] = given.get(name));
        for (Step step : steps) {
            step.run(slots, mode, owner);
        }
        SequencedMap<String, NDArray> results = new LinkedHashMap<>();
        outputs.forEach((name, slot) -> {
            PtNDArray array = slots[slot];
            if (array == null) {
                throw new IllegalStateException("output " + name + " was not computed");
            }
            results.put(name, output(array, owner));
        });
        return results;
    }

    /** What came in, or belongs to the network, goes out under a handle of its own; and nothing goes out in bfloat16. */
    private static PtNDArray output(PtNDArray array, PtNDManager owner) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray result = Tensors.isBfloat16(array)
                    ? Tensors.cast(array, DataType.FLOAT32)
                    : array.getManager() == owner ? array : Tensors.alias(array);
            NDScope.unregister(result);
            return owned(result, owner);
        }
    }

    /** Adds a reference; only for a caller who knows that there is one. */
    Plan retain() {
        references.incrementAndGet();
        return this;
    }

    /** Gives a reference back. */
    void release() {
        if (references.decrementAndGet() == 0) {
            constants.close();
        }
    }
}
