package dev.espalier.graph.eval;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Elements moved as they are: bytes are copied, in runs as long as possible. */
final class Moves {
    /** Elements of a row that are copied before the next row's turn, where the elements lie far apart. */
    private static final long BAND = 64;

    private Moves() {}

    /**
     * Where the elements along one axis of a result come from.
     *
     * @param length how many there are
     * @param source from a position of the result to one of the input, negative for an element that is filled in; null if
     *     the axis is taken as it is
     */
    record Along(long length, @Nullable LongUnaryOperator source) {
        static Along whole(long length) {
            return new Along(length, null);
        }

        long from(long position) {
            return source == null ? position : source.applyAsLong(position);
        }
    }

    /** {@code result[i, j, …] = input[source₀(i), source₁(j), …]}. */
    static Tensor pick(Tensor input, List<Along> axes, double fill) {
        long[] lengths = input.shape();
        int last = axes.size() - 1;
        while (last >= 0 && axes.get(last).source() == null) {
            last--;
        }
        if (last < 0) {
            return input;
        }
        long[] shape = axes.stream().mapToLong(Along::length).toArray();
        MemorySegment filler = Tensor.scalar(input.type(), fill).data();
        Picking picking = new Picking(
                input,
                axes,
                Indices.strides(lengths),
                Indices.strides(shape),
                last,
                filler,
                blank(input.type(), shape));
        if (Tensor.size(shape) > 0) {
            picking.copy(0, 0, 0);
        }
        return Tensor.of(input.type(), shape, picking.target);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Picking(
            Tensor input,
            List<Along> axes,
            long[] from,
            long[] to,
            int last,
            MemorySegment filler,
            MemorySegment target) {

        void copy(int axis, long source, long destination) {
            Along along = axes.get(axis);
            long position = 0;
            while (position < along.length()) {
                long first = along.from(position);
                long end = axis == last ? run(along, position, first) : position + 1;
                long behind = destination + position * to[axis];
                if (first < 0) {
                    fill(behind, (end - position) * to[axis]);
                } else if (axis == last) {
                    int bytes = input.type().bytes();
                    MemorySegment.copy(
                            input.data(),
                            (source + first * from[axis]) * bytes,
                            target,
                            behind * bytes,
                            (end - position) * from[axis] * bytes);
                } else {
                    copy(axis + 1, source + first * from[axis], behind);
                }
                position = end;
            }
        }

        /** The end of the positions from here on whose elements lie one behind the other. */
        private static long run(Along along, long start, long first) {
            long end = start + 1;
            while (first >= 0 && end < along.length() && along.from(end) == first + (end - start)) {
                end++;
            }
            return end;
        }

        private void fill(long start, long count) {
            for (long i = 0; i < count; i++) {
                MemorySegment.copy(filler, 0, target, (start + i) * filler.byteSize(), filler.byteSize());
            }
        }
    }

    private static MemorySegment blank(DataType type, long[] shape) {
        return Arena.ofAuto().allocate(Math.multiplyExact(Tensor.size(shape), type.bytes()), 64);
    }

    /** Tensors one behind the other along an axis. */
    static Tensor concat(List<Tensor> inputs, int axis, long[] shape) {
        DataType type = inputs.getFirst().type();
        MemorySegment target = blank(type, shape);
        long row = Indices.product(shape, axis, shape.length) * type.bytes();
        long rows = Indices.product(shape, 0, axis);
        long start = 0;
        for (Tensor input : inputs) {
            long piece = Indices.product(input.shape(), axis, shape.length) * type.bytes();
            for (long i = 0; i < rows; i++) {
                MemorySegment.copy(input.data(), i * piece, target, start + i * row, piece);
            }
            start += piece;
        }
        return Tensor.of(type, shape, target);
    }

    /** {@code result} has the input's axes in the order of the permutation. */
    static Tensor transpose(Tensor input, int... permutation) {
        long[] lengths = input.shape();
        long[] strides = Indices.strides(lengths);
        long[] shape =
                Arrays.stream(permutation).mapToLong(axis -> lengths[axis]).toArray();
        long[] steps =
                Arrays.stream(permutation).mapToLong(axis -> strides[axis]).toArray();
        int[] moving =
                Arrays.stream(permutation).filter(axis -> lengths[axis] != 1).toArray();
        if (Arrays.equals(moving, Arrays.stream(moving).sorted().toArray())) {
            return input.reshape(shape);
        }
        MemorySegment target = blank(input.type(), shape);
        if (input.size() > 0) {
            gather(input, 0, 0, shape, steps, target, 0);
        }
        return Tensor.of(input.type(), shape, target);
    }

    private static long gather(
            Tensor input, int axis, long source, long[] shape, long[] steps, MemorySegment target, long destination) {
        if (axis == shape.length - 2) {
            // In narrow bands, so that what is fetched along with one element is still at hand for the next row.
            long row = shape[axis + 1];
            long step = steps[axis + 1];
            long band = step == 1 ? row : BAND;
            for (long start = 0; start < row; start += band) {
                long count = Math.min(band, row - start);
                for (long i = 0; i < shape[axis]; i++) {
                    long from = source + i * steps[axis] + start * step;
                    copyStrided(input, from, step, target, destination + i * row + start, count);
                }
            }
            return destination + shape[axis] * row;
        }
        long end = destination;
        for (long i = 0; i < shape[axis]; i++) {
            end = gather(input, axis + 1, source + i * steps[axis], shape, steps, target, end);
        }
        return end;
    }

    private static void copyStrided(
            Tensor input, long start, long step, MemorySegment target, long destination, long count) {
        MemorySegment from = input.data();
        int bytes = input.type().bytes();
        if (step == 1) {
            MemorySegment.copy(from, start * bytes, target, destination * bytes, count * bytes);
            return;
        }
        switch (bytes) {
            case 1 -> {
                for (long i = 0; i < count; i++) {
                    target.set(
                            ValueLayout.JAVA_BYTE, destination + i, from.get(ValueLayout.JAVA_BYTE, start + i * step));
                }
            }
            case 2 -> {
                for (long i = 0; i < count; i++) {
                    short element = from.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * (start + i * step));
                    target.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * (destination + i), element);
                }
            }
            case 4 -> {
                for (long i = 0; i < count; i++) {
                    int element = from.get(ValueLayout.JAVA_INT_UNALIGNED, 4 * (start + i * step));
                    target.set(ValueLayout.JAVA_INT_UNALIGNED, 4 * (destination + i), element);
                }
            }
            default -> {
                for (long i = 0; i < count; i++) {
                    long element = from.get(ValueLayout.JAVA_LONG_UNALIGNED, 8 * (start + i * step));
                    target.set(ValueLayout.JAVA_LONG_UNALIGNED, 8 * (destination + i), element);
                }
            }
        }
    }
}
