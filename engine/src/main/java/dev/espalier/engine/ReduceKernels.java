package dev.espalier.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Reduce;
import java.util.Arrays;

/** One number in place of many. */
final class ReduceKernels {
    private ReduceKernels() {}

    /** A reduction of one axis, which stays with a length of one. */
    @FunctionalInterface
    private interface OfAxis {
        PtNDArray run(PtNDArray x, long axis, boolean keep);
    }

    static Kernel of(Reduce reduce, Site site) {
        long[] input = site.inputShape(0);
        long[] output = site.outputShape();
        long[] axes = reduce.resolvedAxes(input.length).stream()
                .mapToLong(Integer::longValue)
                .toArray();
        boolean keep = reduce.keep();
        return Kernel.of(
                switch (reduce.function()) {
                    case MEAN ->
                        mean(axes, keep, count(input, axes), site.type(0).isFloat());
                    case SUM -> x -> sum(x, axes, keep);
                    case MAX -> x -> JniUtils.reshape(fold(x, axes, JniUtils::max), output);
                    case MIN -> x -> JniUtils.reshape(fold(x, axes, JniUtils::min), output);
                    case PRODUCT -> x -> JniUtils.reshape(fold(x, axes, JniUtils::prod), output);
                    case L1 -> x -> sum(JniUtils.abs(x), axes, keep);
                    case L2 -> norm(axes, keep, site.type(0).isFloat());
                    case SUM_OF_SQUARES -> x -> sum(JniUtils.square(x), axes, keep);
                    case LOG_SUM_EXP ->
                        site.type(0).isFloat()
                                ? x -> JniUtils.reshape(logSumExp(x, axes), output)
                                : x -> JniUtils.reshape(integerLogSumExp(x, axes), output);
                });
    }

    private static double count(long[] shape, long[] axes) {
        double count = 1;
        for (long axis : axes) {
            count *= shape[(int) axis];
        }
        return count;
    }

    private static Kernel.OfOne mean(long[] axes, boolean keep, double count, boolean fractions) {
        if (!fractions) {
            return x -> {
                PtNDArray sum = sum(x, axes, keep);
                return ArithmeticKernels.divideTowardsZero(sum, Tensors.scalar(sum, count));
            };
        }
        return axes.length == 1
                ? x -> JniUtils.mean(x, axes[0], keep)
                : x -> Tensors.times(sum(x, axes, keep), 1 / count);
    }

    /** libtorch's own norm, where it can: it has a gradient where all is zero, and a square root does not. */
    private static Kernel.OfOne norm(long[] axes, boolean keep, boolean fractions) {
        int[] dimensions = Arrays.stream(axes).mapToInt(Math::toIntExact).toArray();
        return fractions && dimensions.length > 0
                ? x -> JniUtils.norm(x, 2, dimensions, keep)
                : x -> JniUtils.sqrt(sum(JniUtils.square(x), axes, keep));
    }

    /** For libtorch no axes means all axes, but only a single number has none to reduce. */
    private static PtNDArray sum(PtNDArray x, long[] axes, boolean keep) {
        return axes.length == 0 ? Tensors.alias(x) : JniUtils.sum(x, axes, keep);
    }

    private static PtNDArray fold(PtNDArray x, long[] axes, OfAxis function) {
        PtNDArray result = x;
        for (long axis : axes) {
            result = function.run(result, axis, true);
        }
        return result;
    }

    /** {@code m + ln n} for n elements that are m, the largest: in integers, as ONNX Runtime does it, the others' exponentials are 0. */
    private static PtNDArray integerLogSumExp(PtNDArray x, long[] axes) {
        PtNDArray largest = fold(x, axes, JniUtils::max);
        PtNDArray count = sum(JniUtils.eq(x, largest).toType(DataType.FLOAT64, false), axes, true);
        return JniUtils.add(JniUtils.log(count), largest.toType(DataType.FLOAT64, false));
    }

    /** {@code m + ln Σ e^(x−m)}, where m is the largest: so nothing overflows. */
    private static PtNDArray logSumExp(PtNDArray x, long[] axes) {
        PtNDArray largest = JniUtils.detachGradient(fold(x, axes, JniUtils::max));
        PtNDArray finite = JniUtils.where(JniUtils.isInf(largest), Tensors.scalar(x, 0), largest);
        PtNDArray exponentials = JniUtils.exp(JniUtils.sub(x, finite));
        return JniUtils.add(JniUtils.log(sum(exponentials, axes, true)), finite);
    }
}
