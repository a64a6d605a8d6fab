package dev.espalier.core.kernel;

import dev.espalier.core.tensor.TensorView;

/**
 * Addresses of a stretch of logically consecutive weights with their gradients and moments. A stretch of a tensor that is
 * not contiguous is copied to a buffer and back; a moment that the rule does not have is scratch.
 */
final class Rows {
    private final long xBuffer;
    private final long gBuffer;
    private final long mBuffer;
    private final long vBuffer;

    private TensorView weights;
    private TensorView gradients;
    private Block.Moments moments = new Block.Moments(0, 0);
    private long first;
    private int count;

    Rows(long buffers, int capacity, TensorView placeholder) {
        long bytes = (long) capacity * Float.BYTES;
        xBuffer = buffers;
        gBuffer = buffers + bytes;
        mBuffer = buffers + 2 * bytes;
        vBuffer = buffers + 3 * bytes;
        weights = placeholder;
        gradients = placeholder;
    }

    void bind(TensorView tensor, TensorView gradient, Block.Moments tensorMoments) {
        weights = tensor;
        gradients = gradient;
        moments = tensorMoments;
    }

    /** Moves to the stretch that begins at a logical index. */
    void open(long index, int length) {
        openForReading(index, length);
        if (!weights.contiguous()) {
            copyIn(weights, xBuffer);
        }
    }

    /** Copies the weights to a place of the caller's, unless they lie in one piece. */
    void copyIn(long place) {
        if (!weights.contiguous()) {
            copyIn(weights, place);
        }
    }

    /** Moves to a stretch whose gradients and moments will only be read. */
    void openForReading(long index, int length) {
        openForWriting(index, length);
        if (!gradients.contiguous()) {
            copyIn(gradients, gBuffer);
        }
    }

    /** Moves to a stretch whose weights will only be written. */
    void openForWriting(long index, int length) {
        first = index;
        count = length;
    }

    private void copyIn(TensorView tensor, long buffer) {
        for (int i = 0; i < count; i++) {
            Memory.set(buffer + (long) i * Float.BYTES, (float) tensor.get(first + i));
        }
    }

    /** Copies weights back to where they belong, unless they lie there in one piece. */
    void writeBack(long place) {
        if (!weights.contiguous()) {
            for (int i = 0; i < count; i++) {
                weights.set(first + i, Memory.get(place + (long) i * Float.BYTES));
            }
        }
    }

    long x() {
        return weights.contiguous() ? weights.segment().address() + first * Float.BYTES : xBuffer;
    }

    long g() {
        return gradients.contiguous() ? gradients.segment().address() + first * Float.BYTES : gBuffer;
    }

    long m() {
        return moments.first() == 0 ? mBuffer : moments.first() + first * Float.BYTES;
    }

    long v() {
        return moments.second() == 0 ? vBuffer : moments.second() + first * Float.BYTES;
    }
}
