package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Normalisations. */
final class NormKernels {
    private NormKernels() {}

    /**
     * Statistics that are no buffers are not the network's to change: in training they are left as they are. One whose scale and
     * shift are frozen is frozen as a whole: it goes on as it was trained, by its statistics, which stay.
     */
    static Kernel batch(BatchNorm norm, Site site) {
        boolean followed = site.isBuffer(3) && site.isBuffer(4);
        boolean learns = site.isParameter(1) || site.isParameter(2);
        // What stays of the old statistics for ONNX is what comes in of the new ones for libtorch.
        double momentum = 1 - norm.momentum();
        return Kernel.ofFeed(feed -> {
            boolean frozen =
                    learns && !feed.get(1).hasGradient() && !feed.get(2).hasGradient();
            boolean training = feed.training() && !frozen;
            boolean copied = training && !followed;
            PtNDArray mean = copied ? JniUtils.clone(feed.get(3)) : feed.get(3);
            PtNDArray variance = copied ? JniUtils.clone(feed.get(4)) : feed.get(4);
            // In this order, whatever DJL calls its parameters.
            return JniUtils.batchNorm(
                    feed.get(0), mean, variance, feed.get(1), feed.get(2), training, momentum, norm.epsilon());
        });
    }

    static Kernel layer(LayerNorm norm, Site site) {
        long[] input = site.inputShape(0);
        long[] normalized = Arrays.copyOfRange(input, Shape.axis(norm.axis(), input.length), input.length);
        ai.djl.ndarray.types.Shape shape = Tensors.shape(normalized);
        boolean shifted = site.node().has(2);
        PtNDArray zeros = site.upload(Tensor.compute(site.type(0), normalized, i -> 0));
        if (Arrays.equals(site.inputShape(1), normalized)
                && (!shifted || Arrays.equals(site.inputShape(2), normalized))) {
            return Kernel.ofFeed(feed ->
                    JniUtils.layerNorm(feed.get(0), shape, feed.get(1), shifted ? feed.get(2) : zeros, norm.epsilon()));
        }
        PtNDArray ones = site.upload(Tensor.compute(site.type(0), normalized, i -> 1));
        return Kernel.ofFeed(feed -> {
            PtNDArray plain = JniUtils.layerNorm(feed.get(0), shape, ones, zeros, norm.epsilon());
            PtNDArray scaled = JniUtils.mul(plain, feed.get(1));
            @Nullable PtNDArray shift = feed.optional(2);
            return shift == null ? scaled : JniUtils.add(scaled, shift);
        });
    }
}
