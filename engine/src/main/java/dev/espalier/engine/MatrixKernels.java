package dev.espalier.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Gemm;
import org.jspecify.annotations.Nullable;

/** Products of matrices with something added. */
final class MatrixKernels {
    private static final int MATRIX = 2;

    private MatrixKernels() {}

    static Kernel gemm(Gemm gemm, Site site) {
        return isLinear(gemm, site) ? linear(gemm.transposeB()) : Kernel.ofFeed(feed -> general(gemm, feed));
    }

    /** Whether libtorch's linear layer does it in one go. */
    private static boolean isLinear(Gemm gemm, Site site) {
        boolean bias = site.node().has(2);
        boolean plainBias = bias
                && gemm.beta() == 1
                && site.inputShape(2).length == 1
                && site.inputShape(2)[0] == site.outputShape()[1];
        return gemm.alpha() == 1 && !gemm.transposeA() && (!bias || plainBias);
    }

    /**
     * A linear layer. Inputs: x, weights and, optionally, a bias. As a product of two matrices, whatever the shape of x: only that has its bias
     * added by the product's own kernel.
     *
     * @param outputsFirst true for weights {@code [out, in]}, false for {@code [in, out]}
     */
    static Kernel linear(boolean outputsFirst) {
        return Kernel.ofFeed(feed -> {
            PtNDArray x = feed.get(0);
            PtNDArray weight = feed.get(1);
            PtNDArray bias = feed.optional(2);
            long[] shape = x.getShape().getShape().clone();
            int last = shape.length - 1;
            boolean matrix = shape.length == MATRIX;
            PtNDArray rows = matrix ? x : JniUtils.reshape(x, new long[] {x.size() / shape[last], shape[last]});
            PtNDArray product = JniUtils.linear(rows, outputsFirst ? weight : JniUtils.transpose(weight, 0, 1), bias);
            shape[last] = product.getShape().get(1);
            return matrix ? product : JniUtils.reshape(product, shape);
        });
    }

    private static PtNDArray general(Gemm gemm, Kernel.Feed feed) {
        PtNDArray left = gemm.transposeA() ? JniUtils.transpose(feed.get(0), 0, 1) : feed.get(0);
        PtNDArray right = gemm.transposeB() ? JniUtils.transpose(feed.get(1), 0, 1) : feed.get(1);
        PtNDArray product = scaled(JniUtils.matmul(left, right), gemm.alpha());
        @Nullable PtNDArray bias = feed.optional(2);
        return bias == null ? product : JniUtils.add(product, scaled(bias, gemm.beta()));
    }

    /** Integers become floats, or the factor would be cut off to an integer. */
    private static PtNDArray scaled(PtNDArray array, double factor) {
        if (factor == 1) {
            return array;
        }
        boolean integers = array.getDataType().isInteger();
        return Tensors.times(integers ? array.toType(DataType.FLOAT64, false) : array, factor);
    }
}
