package dev.espalier.engine;

import ai.djl.ndarray.NDScope;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.tensor.TensorView;

/**
 * An axis of a tensor in row-major order: the tensor is seen as {@code [outer, count, inner]}.
 *
 * @param outer how many elements the axes before have together
 * @param count how many the axis has
 * @param inner how many the axes behind have together
 */
public record Axis(long outer, long count, long inner) {

    /** Row by row, as the memory lies. */
    double[] products(TensorView x, TensorView g) {
        double[] sums = new double[(int) count];
        long index = 0;
        for (long row = 0; row < outer; row++) {
            for (int place = 0; place < count; place++) {
                double sum = 0;
                for (long i = 0; i < inner; i++) {
                    sum += x.get(index) * g.get(index);
                    index++;
                }
                sums[place] += sum;
            }
        }
        return sums;
    }

    /** The same where the arrays are, to be closed; the order in which is added up is the device's. */
    PtNDArray products(PtNDArray x, PtNDArray g) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray sums = JniUtils.sum(JniUtils.mul(seen(x), seen(g)), new long[] {0, 2}, false);
            NDScope.unregister(sums);
            return sums;
        }
    }

    private PtNDArray seen(PtNDArray array) {
        return JniUtils.reshape(
                array.toType(ai.djl.ndarray.types.DataType.FLOAT64, false), new long[] {outer, count, inner});
    }
}
