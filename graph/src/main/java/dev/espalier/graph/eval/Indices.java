package dev.espalier.graph.eval;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/** Positions of elements in row-major order. */
final class Indices {
    private Indices() {}

    /** How far apart neighbours along each axis are. */
    static long[] strides(long[] shape) {
        long[] strides = new long[shape.length];
        long stride = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            stride *= shape[axis];
        }
        return strides;
    }

    /** The product of the lengths from one axis up to another. */
    static long product(long[] shape, int from, int to) {
        return Arrays.stream(shape, from, to).reduce(1, Math::multiplyExact);
    }

    /** From the position of an element of a shape to that of the element which is repeated there. */
    static LongUnaryOperator broadcast(long[] from, long[] to) {
        long[] strides = new long[to.length];
        int missing = to.length - from.length;
        long[] own = strides(from);
        boolean stretched = false;
        for (int axis = 0; axis < to.length; axis++) {
            boolean repeats = axis < missing || from[axis - missing] == 1;
            strides[axis] = repeats ? 0 : own[axis - missing];
            stretched |= repeats && to[axis] != 1;
        }
        return stretched ? strided(to, strides) : index -> index;
    }

    /** From the position of an element of a shape to {@code Σ coordinate · stride}. */
    static LongUnaryOperator strided(long[] shape, long[] strides) {
        // Neighbouring axes that can be walked as one are: most broadcasts come down to one or two divisions.
        long[] lengths = new long[shape.length];
        long[] steps = new long[shape.length];
        int count = 0;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            if (count > 0 && strides[axis] == steps[count - 1] * lengths[count - 1]) {
                lengths[count - 1] *= shape[axis];
            } else if (shape[axis] != 1) {
                lengths[count] = shape[axis];
                steps[count++] = strides[axis];
            }
        }
        int last = count - 1;
        return last < 0
                ? index -> 0
                : index -> {
                    long rest = index;
                    long position = 0;
                    for (int i = 0; i < last; i++) {
                        position += rest % lengths[i] * steps[i];
                        rest /= lengths[i];
                    }
                    return position + rest * steps[last];
                };
    }
}
