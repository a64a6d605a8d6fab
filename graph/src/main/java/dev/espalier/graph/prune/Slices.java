package dev.espalier.graph.prune;

import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Cuts tensors down along an axis. */
final class Slices {
    private Slices() {}

    /** What is left of a tensor whose channels are along any number of axes. */
    static Tensor take(Tensor tensor, Kept left) {
        List<Integer> axes = left.channels().axes();
        if (axes.size() == 1) {
            return take(tensor, axes.getFirst(), left.left());
        }
        long[] from = tensor.shape();
        long[] to = tensor.shape();
        for (int i = 0; i < axes.size(); i++) {
            to[axes.get(i)] = left.lengths().get(i);
        }
        Channels positions = new Channels(axes, left.lengths());
        return Tensor.compute(tensor.type(), to, index -> {
            long[] places = places(index, to);
            int[] position = axes.stream().mapToInt(axis -> (int) places[axis]).toArray();
            int[] source = left.channels().places(left.left()[positions.channel(position)]);
            for (int i = 0; i < source.length; i++) {
                places[axes.get(i)] = source[i];
            }
            return tensor.getDouble(index(places, from));
        });
    }

    private static long[] places(long index, long[] shape) {
        long[] places = new long[shape.length];
        long rest = index;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            places[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        return places;
    }

    private static long index(long[] places, long[] shape) {
        long index = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            index = index * shape[axis] + places[axis];
        }
        return index;
    }

    /** Some rows of a tensor, and of each of them other places along the second axis; the tensor itself if that is all of it. */
    static Tensor take(Tensor tensor, int[] rows, int[][] columns) {
        long[] shape = tensor.shape();
        int[] all = IntStream.range(0, (int) shape[1]).toArray();
        if (Arrays.stream(columns).allMatch(some -> Arrays.equals(some, all))) {
            return take(tensor, 0, rows);
        }
        long inner = tensor.size() / shape[0] / shape[1];
        long width = columns[0].length;
        long[] smaller = shape.clone();
        smaller[0] = rows.length;
        smaller[1] = width;
        return Tensor.compute(tensor.type(), smaller, index -> {
            int row = (int) (index / inner / width);
            int column = columns[row][(int) (index / inner % width)];
            return tensor.getDouble((rows[row] * shape[1] + column) * inner + index % inner);
        });
    }

    /**
     * The given places along an axis, in the given order; the tensor itself if that is all of it. They are copied when somebody
     * asks for them: who only counts what would be left never does.
     */
    static Tensor take(Tensor tensor, int axis, int[] places) {
        long[] shape = tensor.shape();
        if (Arrays.equals(places, IntStream.range(0, (int) shape[axis]).toArray())) {
            return tensor;
        }
        shape[axis] = places.length;
        return Tensor.later(tensor.type(), shape, () -> copy(tensor, axis, places));
    }

    private static MemorySegment copy(Tensor tensor, int axis, int[] places) {
        long[] shape = tensor.shape();
        long outer = 1;
        for (int i = 0; i < axis; i++) {
            outer *= shape[i];
        }
        long inner = tensor.type().bytes();
        for (int i = axis + 1; i < shape.length; i++) {
            inner *= shape[i];
        }
        long row = shape[axis] * inner;
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(outer * places.length * inner, 1), 64);
        MemorySegment target = memory.asSlice(0, outer * places.length * inner);
        for (long i = 0; i < outer; i++) {
            for (int place = 0; place < places.length; place++) {
                MemorySegment.copy(
                        tensor.data(),
                        i * row + places[place] * inner,
                        target,
                        (i * places.length + place) * inner,
                        inner);
            }
        }
        return target;
    }
}
