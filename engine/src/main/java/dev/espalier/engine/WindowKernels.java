package dev.espalier.engine;

import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Windows that slide over images: convolutions and pools. */
final class WindowKernels {
    /** Batch and channels, which windows do not slide over. */
    private static final int FIXED_AXES = 2;

    private WindowKernels() {}

    static Kernel convolution(Conv conv) {
        Windows windows = conv.windows();
        int axes = windows.axes();
        long[] pads = Kernels.longs(windows.pads());
        long[] before = Arrays.copyOfRange(pads, 0, axes);
        long[] after = Arrays.copyOfRange(pads, axes, 2 * axes);
        Shape stride = Tensors.shape(Kernels.longs(windows.strides()));
        Shape dilation = Tensors.shape(Kernels.longs(windows.dilations()));
        int groups = Math.toIntExact(conv.groups());
        if (Arrays.equals(before, after)) {
            Shape padding = Tensors.shape(before);
            return Kernel.ofFeed(feed -> JniUtils.convolution(
                    feed.get(0), weights(feed, groups), feed.optional(2), stride, padding, dilation, groups));
        }
        Shape none = Tensors.shape(new long[axes]);
        return Kernel.ofFeed(feed -> JniUtils.convolution(
                Tensors.pad(feed.get(0), before, after, 0),
                weights(feed, groups),
                feed.optional(2),
                stride,
                none,
                dilation,
                groups));
    }

    /** Weights in the order that images have on a GPU: libtorch would put them so twice, in the forward pass and in the backward pass. */
    private static PtNDArray weights(Kernel.Feed feed, int groups) {
        PtNDArray weights = feed.get(1);
        boolean images = weights.getShape().dimension() == FIXED_AXES + 2;
        return images && groups == 1 && weights.getDevice().isGpu() ? Tensors.channelsLast(weights) : weights;
    }

    /**
     * A convolution of the input with zeros between its elements, with the weights turned round: DJL does not offer libtorch's own.
     * The input has as many zeros on its sides as let the window reach each of its elements with each of the weights.
     */
    static Kernel transposed(ConvTranspose conv, Site site) {
        Windows windows = conv.windows();
        int axes = windows.axes();
        long[] input = site.inputShape(0);
        long[] weight = site.inputShape(1);
        long[] stretched = input.clone();
        long[] sides = new long[2 * axes];
        long[] turned = new long[axes];
        for (int axis = 0; axis < axes; axis++) {
            long reach = windows.dilations().get(axis) * (weight[axis + FIXED_AXES] - 1);
            sides[axis] = reach - windows.pads().get(axis);
            sides[axis + axes] =
                    reach - windows.pads().get(axis + axes) + conv.added().get(axis);
            stretched[axis + FIXED_AXES] *= windows.strides().get(axis);
            turned[axis] = (long) axis + FIXED_AXES;
            // Behind the last element there are no zeros between it and the next.
            sides[axis + axes] -= windows.strides().get(axis) - 1;
        }
        long[] before = Arrays.copyOfRange(sides, 0, axes);
        long[] after = Arrays.copyOfRange(sides, axes, 2 * axes);
        Shape ones = Tensors.shape(LongStream.generate(() -> 1).limit(axes).toArray());
        Shape none = Tensors.shape(new long[axes]);
        Shape dilation = Tensors.shape(Kernels.longs(windows.dilations()));
        int groups = Math.toIntExact(conv.groups());
        return Kernel.ofFeed(feed -> JniUtils.convolution(
                Tensors.pad(stretched(feed.get(0), windows, input, stretched), before, after, 0),
                filters(JniUtils.flip(feed.get(1), turned), groups, weight),
                feed.optional(2),
                ones,
                none,
                dilation,
                groups));
    }

    /** Each element followed by zeros, up to the next. */
    private static PtNDArray stretched(PtNDArray x, Windows windows, long[] input, long[] stretched) {
        if (Arrays.equals(input, stretched)) {
            return x;
        }
        int axes = windows.axes();
        long[] apart = new long[FIXED_AXES + 2 * axes];
        long[] none = new long[2 * axes];
        long[] zeros = new long[2 * axes];
        System.arraycopy(input, 0, apart, 0, FIXED_AXES);
        for (int axis = 0; axis < axes; axis++) {
            apart[FIXED_AXES + 2 * axis] = input[FIXED_AXES + axis];
            apart[FIXED_AXES + 2 * axis + 1] = 1;
            zeros[2 * axis + 1] = windows.strides().get(axis) - 1;
        }
        return JniUtils.reshape(Tensors.pad(JniUtils.reshape(x, apart), none, zeros, 0), stretched);
    }

    /** From {@code [in, out / groups, …]} to {@code [out, in / groups, …]}. */
    private static PtNDArray filters(PtNDArray weight, int groups, long[] shape) {
        if (groups == 1) {
            return JniUtils.transpose(weight, 0, 1);
        }
        long[] parts = new long[shape.length + 1];
        parts[0] = groups;
        parts[1] = shape[0] / groups;
        System.arraycopy(shape, 1, parts, 2, shape.length - 1);
        long[] filters = shape.clone();
        filters[0] = shape[1] * groups;
        filters[1] = shape[0] / groups;
        return JniUtils.reshape(JniUtils.transpose(JniUtils.reshape(weight, parts), 1, 2), filters);
    }

    static Kernel globalPool(GlobalPool pool, Site site) {
        int axes = site.inputShape(0).length - FIXED_AXES;
        if (axes == 0) {
            return Kernel.of(Tensors::alias);
        }
        long[] ones = LongStream.generate(() -> 1).limit(axes).toArray();
        Shape shape = Tensors.shape(ones);
        return Kernel.of(
                switch (pool.function()) {
                    case MAX -> x -> JniUtils.adaptiveMaxPool(x, shape);
                    case AVERAGE -> x -> JniUtils.adaptiveAvgPool(x, shape);
                });
    }

    static Kernel pool(Pool pool, Site site) {
        Plane plane = Plane.of(pool, site);
        PtNDArray correction = pool.function() == Pool.Function.AVERAGE ? plane.correction(pool, site) : null;
        boolean dilated = pool.windows().dilations().stream().anyMatch(dilation -> dilation != 1);
        boolean padded = plane.needsPadding();
        // libtorch pads integers with no infinity, and pools them not everywhere. ONNX has pools of one byte: floats
        // hold those exactly.
        boolean integers = site.type(0).isInteger();
        return Kernel.of(x -> {
            PtNDArray numbers = integers ? x.toType(ai.djl.ndarray.types.DataType.FLOAT32, false) : x;
            PtNDArray input = padded ? plane.pad(numbers, pool.function()) : numbers;
            PtNDArray pooled = dilated ? plane.dilated(input, pool.function()) : plane.pooled(input, pool.function());
            return correction == null ? pooled : JniUtils.mul(pooled, correction);
        });
    }

    /**
     * Where the windows of a pool lie, axis by axis.
     *
     * <p>Padding that libtorch's pools would not do (asymmetric, more than half a window, of less than a window, a last window that
     * hangs over the end) is done beforehand, so that they only ever see the plain case.
     */
    @SuppressWarnings("ArrayRecordComponent") // made once a kernel, never compared
    private record Plane(
            long[] kernel, long[] stride, long[] dilation, long[] before, long[] after, long[] length, long[] output) {

        static Plane of(Pool pool, Site site) {
            Windows windows = pool.windows();
            int axes = windows.axes();
            long[] pads = Kernels.longs(windows.pads());
            long[] input = site.inputShape(0);
            long[] output = site.outputShape();
            return new Plane(
                    Kernels.longs(pool.kernel()),
                    Kernels.longs(windows.strides()),
                    Kernels.longs(windows.dilations()),
                    Arrays.copyOfRange(pads, 0, axes),
                    Arrays.copyOfRange(pads, axes, 2 * axes),
                    Arrays.copyOfRange(input, FIXED_AXES, input.length),
                    Arrays.copyOfRange(output, FIXED_AXES, output.length));
        }

        /** How far the last window reaches behind the end. */
        private long overhang(int axis) {
            long window = dilation[axis] * (kernel[axis] - 1) + 1;
            return Math.max((output[axis] - 1) * stride[axis] + window - before[axis] - length[axis], 0);
        }

        boolean needsPadding() {
            for (int axis = 0; axis < kernel.length; axis++) {
                boolean plain = before[axis] == after[axis]
                        && before[axis] <= kernel[axis] / 2
                        && (before[axis] == 0 || length[axis] >= kernel[axis]);
                if (!plain || dilation[axis] != 1 || overhang(axis) > after[axis]) {
                    return true;
                }
            }
            return false;
        }

        PtNDArray pad(PtNDArray x, Pool.Function function) {
            long[] behind = new long[kernel.length];
            Arrays.setAll(behind, this::overhang);
            return Tensors.pad(x, before, behind, function == Pool.Function.MAX ? Double.NEGATIVE_INFINITY : 0);
        }

        PtNDArray pooled(PtNDArray x, Pool.Function function) {
            Shape window = Tensors.shape(kernel);
            Shape steps = Tensors.shape(stride);
            Shape padding = Tensors.shape(needsPadding() ? new long[kernel.length] : before);
            return switch (function) {
                case MAX -> JniUtils.maxPool(x, window, steps, padding, false);
                case AVERAGE -> JniUtils.avgPool(x, window, steps, padding, false, true);
            };
        }

        /** The windows' first elements, their second elements and so on, combined: libtorch's pools have no dilation. */
        PtNDArray dilated(PtNDArray x, Pool.Function function) {
            long elements = Tensor.size(kernel);
            PtNDArray result = element(x, 0);
            for (long i = 1; i < elements; i++) {
                result = switch (function) {
                    case MAX -> JniUtils.max(result, element(x, i));
                    case AVERAGE -> JniUtils.add(result, element(x, i));
                };
            }
            return function == Pool.Function.AVERAGE ? Tensors.times(result, 1.0 / elements) : result;
        }

        private PtNDArray element(PtNDArray x, long index) {
            PtNDArray result = x;
            long rest = index;
            for (int axis = kernel.length - 1; axis >= 0; axis--) {
                long start = rest % kernel[axis] * dilation[axis];
                rest /= kernel[axis];
                long end = start + (output[axis] - 1) * stride[axis] + 1;
                result = JniUtils.slice(result, axis + FIXED_AXES, start, end, stride[axis]);
            }
            return result;
        }

        /** What the mean over whole windows has to be multiplied with where only a part of one counts. */
        @Nullable
        PtNDArray correction(Pool pool, Site site) {
            long[] shape = new long[kernel.length + FIXED_AXES];
            Arrays.fill(shape, 0, FIXED_AXES, 1);
            System.arraycopy(output, 0, shape, FIXED_AXES, output.length);
            DataType type = site.type(0);
            Tensor factors = Tensor.compute(type, shape, i -> factor(i, pool.countPadding()));
            boolean none = LongStream.range(0, factors.size()).allMatch(i -> factors.getDouble(i) == 1);
            return none ? null : site.upload(factors);
        }

        private double factor(long index, boolean countPadding) {
            double factor = 1;
            long rest = index;
            for (int axis = kernel.length - 1; axis >= 0; axis--) {
                long first = rest % output[axis] * stride[axis] - before[axis];
                rest /= output[axis];
                factor *= (double) kernel[axis] / counted(axis, first, countPadding);
            }
            return factor;
        }

        private long counted(int axis, long first, boolean countPadding) {
            long from = countPadding ? -before[axis] : 0;
            long to = length[axis] + (countPadding ? after[axis] : 0);
            return LongStream.range(0, kernel[axis])
                    .map(i -> first + i * dilation[axis])
                    .filter(position -> position >= from && position < to)
                    .count();
        }
    }
}
