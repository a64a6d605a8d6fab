package dev.espalier.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Elements chosen by their positions. */
final class IndexKernels {
    private IndexKernels() {}

    /**
     * A piece of an axis.
     *
     * @param axis which
     * @param length the axis' length
     * @param start the first position
     * @param step from one position to the next
     * @param count how many
     */
    private record Cut(int axis, long length, long start, long step, long count) {

        PtNDArray of(PtNDArray x) {
            if (step > 0) {
                return cut(x, start, step);
            }
            // libtorch cannot go backwards: turn the axis round, and go forwards.
            return cut(JniUtils.flip(x, new long[] {axis}), length - 1 - start, -step);
        }

        private PtNDArray cut(PtNDArray x, long from, long by) {
            long end = count == 0 ? from : from + (count - 1) * by + 1;
            return JniUtils.slice(x, axis, from, end, by);
        }
    }

    static Kernel slice(Site site) {
        List<Slice.Piece> pieces = Slice.pieces(site.graph().operands(site.node()));
        if (pieces == null) {
            throw new GraphException("the bounds of node " + site.node()
                    + " depend on the contents of inputs: they must be known beforehand");
        }
        long[] input = site.inputShape(0);
        List<Cut> cuts = pieces.stream()
                .map(piece -> new Cut(
                        piece.axis(),
                        input[piece.axis()],
                        piece.start().value(),
                        piece.step(),
                        piece.length().value()))
                .toList();
        return Kernel.of(x -> {
            PtNDArray result = Tensors.alias(x);
            for (Cut cut : cuts) {
                result = cut.of(result);
            }
            return result;
        });
    }

    static Kernel gather(long along, Site site) {
        long[] input = site.inputShape(0);
        int axis = Shape.axis(along, input.length);
        long[] output = site.outputShape();
        Tensor constant = site.constant(1);
        if (constant != null && constant.size() == 1) {
            long index = fromFront(constant.getLong(0), input[axis]);
            return Kernel.of(x -> JniUtils.reshape(JniUtils.slice(x, axis, index, index + 1, 1), output));
        }
        if (constant != null) {
            PtNDArray indices = site.upload(positions(constant, input[axis]));
            return Kernel.of(x -> pick(x, indices, axis, input, output));
        }
        return Kernel.ofTwo((x, indices) -> pick(x, fromFront(indices, input[axis]), axis, input, output));
    }

    private static Tensor positions(Tensor indices, long length) {
        return Tensor.computeLongs(
                dev.espalier.graph.type.DataType.INT64, indices.shape(), i -> fromFront(indices.getLong(i), length));
    }

    private static long fromFront(long index, long length) {
        return index < 0 ? index + length : index;
    }

    /** Negative positions count from the end, for ONNX but not for libtorch. */
    private static PtNDArray fromFront(PtNDArray indices, long length) {
        PtNDArray positions = indices.toType(DataType.INT64, false);
        PtNDArray negative = JniUtils.lt(positions, Tensors.scalar(positions, 0));
        return JniUtils.where(negative, Tensors.plus(positions, (double) length), positions);
    }

    /** By way of a table of rows, as libtorch's embedding has the fastest gradient. */
    static PtNDArray pick(PtNDArray x, PtNDArray indices, int axis, long[] input, long[] output) {
        long length = input[axis];
        long rest = Tensor.size(input) / Math.max(length, 1);
        if (axis == 0) {
            PtNDArray table = input.length == 2 ? x : JniUtils.reshape(x, new long[] {length, rest});
            return JniUtils.reshape(JniUtils.embedding(indices, table, false), output);
        }
        // The axis goes to the front, and the axes of the indices go from there to where it was.
        int rank = input.length;
        PtNDArray front = JniUtils.permute(x, moved(rank, axis, 1, 0));
        PtNDArray picked = JniUtils.embedding(indices, JniUtils.reshape(front, new long[] {length, rest}), false);
        int width = output.length - rank + 1;
        long[] shape = new long[output.length];
        System.arraycopy(output, axis, shape, 0, width);
        System.arraycopy(output, 0, shape, width, axis);
        System.arraycopy(output, axis + width, shape, axis + width, rank - axis - 1);
        return JniUtils.permute(JniUtils.reshape(picked, shape), moved(output.length, 0, width, axis));
    }

    /** The permutation that takes some neighbouring axes out and puts them elsewhere among the others. */
    private static long[] moved(int rank, int from, int width, int to) {
        List<Long> axes = new ArrayList<>(LongStream.range(0, rank).boxed().toList());
        List<Long> block = new ArrayList<>(axes.subList(from, from + width));
        axes.subList(from, from + width).clear();
        axes.addAll(to, block);
        return Kernels.longs(axes);
    }

    static Kernel gatherElements(long along, Site site) {
        long[] input = site.inputShape(0);
        int axis = Shape.axis(along, input.length);
        return Kernel.ofTwo((x, indices) -> JniUtils.gather(x, fromFront(indices, input[axis]), axis));
    }

    static Kernel scatter(ScatterElements scatter, Site site) {
        if (scatter.reduction() != ScatterElements.Reduction.NONE) {
            throw new GraphException("node " + site.node() + " has reduction " + scatter.reduction()
                    + ", which can be read, pruned and written, but not run for training; only NONE can");
        }
        long[] input = site.inputShape(0);
        int axis = Shape.axis(scatter.axis(), input.length);
        return Kernel.ofFeed(
                feed -> JniUtils.scatter(feed.get(0), fromFront(feed.get(1), input[axis]), feed.get(2), axis));
    }

    static Kernel topK(TopK top, Site site) {
        long[] output = site.outputShape();
        int axis = Shape.axis(top.axis(), output.length);
        return feed -> {
            PtNDArray best = JniUtils.slice(order(feed.get(0), axis, top.largest()), axis, 0, output[axis], 1);
            return new PtNDArray[] {JniUtils.gather(feed.get(0), best, axis), best};
        };
    }

    /**
     * Positions along an axis in the order of their elements, the first of equal ones first. libtorch has equal ones in any order: so
     * within each run of them the positions are sorted again, by {@code run · length + position}.
     */
    private static PtNDArray order(PtNDArray x, int axis, boolean descending) {
        PtNDArray order = JniUtils.argSort(x, axis, descending);
        long length = x.getShape().get(axis);
        if (length < 2) {
            return order;
        }
        PtNDArray sorted = JniUtils.gather(x, order, axis);
        PtNDArray differs = JniUtils.neq(
                        JniUtils.slice(sorted, axis, 1, length, 1), JniUtils.slice(sorted, axis, 0, length - 1, 1))
                .toType(DataType.INT64, false);
        PtNDArray first = Tensors.times(JniUtils.slice(order, axis, 0, 1, 1), 0);
        PtNDArray runs = Tensors.times(
                JniUtils.cumSum(JniUtils.cat(new PtNDArray[] {first, differs}, axis), axis), (double) length);
        return JniUtils.sub(JniUtils.sort(JniUtils.add(runs, order), axis, false), runs);
    }

    static Kernel pad(Pad pad, Site site) {
        long[] input = site.inputShape(0);
        int rank = input.length;
        long[] pads = Kernels.longs(pad.pads());
        long[] before = Arrays.copyOfRange(pads, 0, rank);
        long[] after = Arrays.copyOfRange(pads, rank, 2 * rank);
        if (pad.mode() == Pad.Mode.CONSTANT) {
            return filled(before, after, pad.value(), input, site.outputShape());
        }
        List<Kernel.OfOne> stages = new ArrayList<>();
        long[] shape = input.clone();
        for (int axis = 0; axis < rank; axis++) {
            if (before[axis] != 0 || after[axis] != 0) {
                stages.add(padded(pad.mode(), axis, before[axis], after[axis], shape, site));
                shape[axis] += before[axis] + after[axis];
            }
        }
        return Kernel.of(x -> {
            PtNDArray result = Tensors.alias(x);
            for (Kernel.OfOne stage : stages) {
                result = stage.run(result);
            }
            return result;
        });
    }

    /** An axis that is cropped to nothing is sliced away first, and nothing is left to do if the result is empty: libtorch pads neither. */
    private static Kernel filled(long[] before, long[] after, double value, long[] input, long[] output) {
        int[] emptied = IntStream.range(0, input.length)
                .filter(axis -> input[axis] + Math.min(before[axis], 0) + Math.min(after[axis], 0) <= 0)
                .toArray();
        if (emptied.length == 0) {
            return Kernel.of(x -> Tensors.pad(x, before, after, value));
        }
        for (int axis : emptied) {
            before[axis] = 0;
            after[axis] = output[axis];
        }
        boolean empty = Tensor.size(output) == 0;
        return Kernel.of(x -> {
            PtNDArray nothing = x;
            for (int axis : emptied) {
                nothing = JniUtils.slice(nothing, axis, 0, 0, 1);
            }
            return empty ? JniUtils.reshape(nothing, output) : Tensors.pad(nothing, before, after, value);
        });
    }

    private static Kernel.OfOne padded(Pad.Mode mode, int axis, long before, long after, long[] shape, Site site) {
        long[] input = shape.clone();
        long[] output = shape.clone();
        output[axis] += before + after;
        // What negative numbers cut off is gone before anything is added.
        long first = Math.max(-before, 0);
        long left = input[axis] - first - Math.max(-after, 0);
        PtNDArray indices = site.upload(Tensor.computeLongs(
                dev.espalier.graph.type.DataType.INT64,
                new long[] {output[axis]},
                i -> first + source(mode, i - Math.max(before, 0), left)));
        return x -> pick(x, indices, axis, input, output);
    }

    /** Which element of an axis stands at a position that may be outside. */
    private static long source(Pad.Mode mode, long position, long length) {
        return switch (mode) {
            case CONSTANT -> throw new IllegalStateException("a constant is no element");
            case EDGE -> Math.clamp(position, 0, length - 1);
            case WRAP -> Math.floorMod(position, length);
            case REFLECT -> {
                long period = Math.max(2 * (length - 1), 1);
                long within = Math.floorMod(position, period);
                yield within < length ? within : period - within;
            }
        };
    }

    static Kernel trilu(Trilu trilu, Site site) {
        long[] input = site.inputShape(0);
        long columns = input[input.length - 1];
        long[] matrix = {input[input.length - 2], columns};
        PtNDArray kept = site.upload(Tensor.computeLongs(dev.espalier.graph.type.DataType.BOOL, matrix, i -> {
            long above = i % columns - i / columns - trilu.diagonal();
            return (trilu.upper() ? above >= 0 : above <= 0) ? 1 : 0;
        }));
        return Kernel.of(x -> JniUtils.where(kept, x, Tensors.scalar(x, 0)));
    }

    static Kernel cumulativeSum(CumSum sum, Site site) {
        int rank = site.inputShape(0).length;
        int axis = Shape.axis(sum.axis(), rank);
        long[] turned = sum.reverse() ? new long[] {axis} : null;
        long length = site.inputShape(0)[axis];
        long[] before = new long[rank];
        long[] after = new long[rank];
        before[axis] = 1;
        after[axis] = -1;
        boolean shifted = sum.exclusive() && length > 0;
        return Kernel.of(x -> {
            PtNDArray forward = flipped(x, turned);
            return flipped(JniUtils.cumSum(shifted ? Tensors.pad(forward, before, after, 0) : forward, axis), turned);
        });
    }

    private static PtNDArray flipped(PtNDArray x, long @Nullable [] axes) {
        return axes == null ? x : JniUtils.flip(x, axes);
    }
}
