package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Images made larger and smaller, one axis after the other: elements are picked, or multiplied with the matrix of their weights.
 * libtorch has its own interpolation, but not with all of ONNX's ways to tell where a position lies.
 */
final class ResizeKernels {
    private ResizeKernels() {}

    static Kernel of(Resize resize, Site site) {
        long[] shape = site.inputShape(0);
        long[] output = site.outputShape();
        Shape before = Shape.ofLengths(shape);
        Shape after = Shape.ofLengths(output);
        List<Kernel.OfOne> stages = new ArrayList<>();
        for (int axis = 0; axis < shape.length; axis++) {
            if (!resize.keeps(axis, before, after)) {
                Sampling.Taps[] taps = resize.taps(axis, before, after);
                stages.add(
                        resize.sampling().mode() == Sampling.Mode.NEAREST
                                ? picked(axis, taps, shape, site)
                                : mixed(axis, taps, shape, site));
                shape[axis] = output[axis];
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

    private static Kernel.OfOne picked(int axis, Sampling.Taps[] taps, long[] shape, Site site) {
        long[] input = shape.clone();
        long[] output = shape.clone();
        output[axis] = taps.length;
        PtNDArray indices = site.upload(Tensor.computeLongs(
                DataType.INT64, new long[] {taps.length}, i -> taps[(int) i].positions()[0]));
        return x -> IndexKernels.pick(x, indices, axis, input, output);
    }

    private static Kernel.OfOne mixed(int axis, Sampling.Taps[] taps, long[] shape, Site site) {
        int length = Math.toIntExact(shape[axis]);
        int last = shape.length - 1;
        double[] weights = new double[length * taps.length];
        for (int to = 0; to < taps.length; to++) {
            for (int tap = 0; tap < taps[to].weights().length; tap++) {
                weights[taps[to].positions()[tap] * taps.length + to] += taps[to].weights()[tap];
            }
        }
        PtNDArray matrix =
                site.upload(Tensor.compute(site.type(0), new long[] {length, taps.length}, i -> weights[(int) i]));
        return x -> axis == last
                ? JniUtils.matmul(x, matrix)
                : JniUtils.transpose(JniUtils.matmul(JniUtils.transpose(x, axis, last), matrix), axis, last);
    }
}
