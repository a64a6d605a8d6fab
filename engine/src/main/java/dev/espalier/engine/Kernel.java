package dev.espalier.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDArray;
import org.jspecify.annotations.Nullable;

/**
 * What a node does to arrays, with all that is known beforehand worked out.
 *
 * <p>A kernel need not tidy up: whoever runs it closes all arrays that it made except the ones that it returns, and sees to
 * it that those belong to the pass, whatever manager they were made in. It never returns one of its inputs, only
 * {@linkplain Tensors#alias aliases}.
 */
@FunctionalInterface
interface Kernel {

    /**
     * Runs it.
     *
     * @param feed what it reads
     * @return its outputs
     */
    PtNDArray[] run(Feed feed);

    /** A kernel with one input and one output. */
    @FunctionalInterface
    interface OfOne {
        PtNDArray run(PtNDArray input);
    }

    /** A kernel with two inputs and one output. */
    @FunctionalInterface
    interface OfTwo {
        PtNDArray run(PtNDArray left, PtNDArray right);
    }

    /** A kernel with one output. */
    @FunctionalInterface
    interface OfFeed {
        PtNDArray run(Feed feed);
    }

    static Kernel of(OfOne function) {
        return feed -> new PtNDArray[] {function.run(feed.get(0))};
    }

    static Kernel ofTwo(OfTwo function) {
        return feed -> new PtNDArray[] {function.run(feed.get(0), feed.get(1))};
    }

    static Kernel ofFeed(OfFeed function) {
        return feed -> new PtNDArray[] {function.run(feed)};
    }

    /**
     * What a kernel reads.
     *
     * @param slots all arrays of a pass
     * @param inputs where its inputs are among them; −1 for one that is left out
     * @param mode what the network is run for
     */
    @SuppressWarnings("ArrayRecordComponent") // made for each node of each pass, never compared
    record Feed(@Nullable PtNDArray[] slots, int[] inputs, Mode mode) {

        int count() {
            return inputs.length;
        }

        PtNDArray get(int index) {
            PtNDArray array = optional(index);
            if (array == null) {
                throw new IllegalStateException("input " + index + " is missing");
            }
            return array;
        }

        @Nullable
        PtNDArray optional(int index) {
            return index < inputs.length && inputs[index] >= 0 ? slots[inputs[index]] : null;
        }

        PtNDArray[] all() {
            PtNDArray[] arrays = new PtNDArray[count()];
            for (int i = 0; i < arrays.length; i++) {
                arrays[i] = get(i);
            }
            return arrays;
        }

        /** The same in single precision at least, if products have left something in bfloat16. */
        Feed exact() {
            @Nullable PtNDArray[] arrays = new @Nullable PtNDArray[count()];
            int[] places = new int[count()];
            for (int i = 0; i < arrays.length; i++) {
                PtNDArray array = optional(i);
                places[i] = array == null ? -1 : i;
                arrays[i] = array != null && Tensors.isBfloat16(array) ? Tensors.cast(array, DataType.FLOAT32) : array;
            }
            return new Feed(arrays, places, mode);
        }

        boolean training() {
            return mode.trains();
        }

        boolean drops() {
            return mode == Mode.TRAINING;
        }
    }
}
