package dev.espalier.core.group;

import dev.espalier.core.check.Check;
import dev.espalier.core.tensor.TensorView;
import java.util.BitSet;

/**
 * Weights of a tensor that are to be zero: some places along an axis, with all that is there. Single weights are places along
 * {@link AxisGroups#single}.
 *
 * @param axis how the tensor is seen
 * @param places which of {@link AxisGroups#count}
 */
public record ZeroPlaces(AxisGroups axis, BitSet places) {

    /** Takes a copy. */
    public ZeroPlaces {
        Check.atMost("the last place and one", places.length(), axis.count());
        places = (BitSet) places.clone();
    }

    /** {@return a copy of the places} */
    @Override
    public BitSet places() {
        return (BitSet) places.clone();
    }

    /** {@return what a tensor is multiplied with, place by place, to be zero there and the same elsewhere: zeros and ones} */
    public float[] factors() {
        float[] factors = new float[axis.count()];
        for (int place = 0; place < factors.length; place++) {
            factors[place] = places.get(place) ? 0 : 1;
        }
        return factors;
    }

    /**
     * Sets them to zero: row by row, as the memory lies, and neighbours in one go.
     *
     * @param tensor written in place
     */
    public void clear(TensorView tensor) {
        long columns = (long) axis.count() * axis.inner();
        for (long row = 0; row < axis.outer(); row++) {
            for (int from = places.nextSetBit(0); from >= 0; ) {
                int to = places.nextClearBit(from);
                clear(tensor, row * columns + (long) from * axis.inner(), (long) (to - from) * axis.inner());
                from = places.nextSetBit(to);
            }
        }
    }

    private static void clear(TensorView tensor, long from, long length) {
        if (tensor.contiguous()) {
            long bytes = tensor.type().bytes();
            tensor.segment().asSlice(from * bytes, length * bytes).fill((byte) 0);
        } else {
            for (long index = from; index < from + length; index++) {
                tensor.set(index, 0);
            }
        }
    }
}
