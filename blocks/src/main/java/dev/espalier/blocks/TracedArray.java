package dev.espalier.blocks;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Elu;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.LeakyRelu;
import dev.espalier.graph.op.Elementwise.Selu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What can be done to an array of a {@link Trace}: every public method is one of {@link NDArray} or {@link NDArrayEx}, of the
 * same name with the same parameters, and writes down what DJL's would compute.
 */
@SuppressWarnings("unused") // called by their names
final class TracedArray {
    /** As DJL and PyTorch have it. */
    private static final Selu SELU = new Selu(1.6732632423543772, 1.0507009873554805);

    private final Trace trace;
    private final Value value;

    TracedArray(Trace trace, Value value) {
        this.trace = trace;
        this.value = value;
    }

    @Override
    public String toString() {
        return value.toString();
    }

    // What blocks ask before they compute, and what concerns memory alone.

    public Shape getShape() {
        return new Shape(
                value.shape().dimensions().stream().mapToLong(trace::length).toArray());
    }

    public DataType getDataType() {
        return DataType.valueOf(trace.data(value).name());
    }

    public Device getDevice() {
        return Device.cpu();
    }

    public String getName() {
        return value.name();
    }

    public NDArray duplicate() {
        return trace.array(value);
    }

    public void attach(NDManager manager) {}

    public void tempAttach(NDManager manager) {}

    public void detach() {}

    public void close() {}

    // Functions of one number.

    public NDArray relu() {
        return unary(Unary.Function.RELU);
    }

    public NDArray sigmoid() {
        return unary(Unary.Function.SIGMOID);
    }

    public NDArray tanh() {
        return unary(Unary.Function.TANH);
    }

    public NDArray softPlus() {
        return unary(Unary.Function.SOFTPLUS);
    }

    public NDArray softSign() {
        return unary(Unary.Function.SOFTSIGN);
    }

    public NDArray abs() {
        return unary(Unary.Function.ABS);
    }

    public NDArray exp() {
        return unary(Unary.Function.EXP);
    }

    public NDArray log() {
        return unary(Unary.Function.LOG);
    }

    public NDArray log2() {
        return log().div(Math.log(2));
    }

    public NDArray sqrt() {
        return unary(Unary.Function.SQRT);
    }

    public NDArray neg() {
        return unary(Unary.Function.NEGATIVE);
    }

    private NDArray unary(Unary.Function function) {
        return elementwise(new Unary(function));
    }

    public NDArray gelu() {
        return elementwise(new Gelu(false));
    }

    public NDArray selu() {
        return elementwise(SELU);
    }

    public NDArray elu(float scale) {
        return elementwise(new Elu(number(scale)));
    }

    public NDArray leakyRelu(float slope) {
        return elementwise(new LeakyRelu(number(slope)));
    }

    public NDArray minimum(Number most) {
        return clip(Double.NEGATIVE_INFINITY, most);
    }

    public NDArray maximum(Number least) {
        return clip(least, Double.POSITIVE_INFINITY);
    }

    public NDArray clip(Number least, Number most) {
        return elementwise(new Clip(number(least), number(most)));
    }

    private NDArray elementwise(Elementwise function) {
        return array(function, floats());
    }

    public NDArray softmax(int axis) {
        return array(new Softmax(axis, false), floats());
    }

    public NDArray logSoftmax(int axis) {
        return array(new Softmax(axis, true), floats());
    }

    // Functions of two.

    public NDArray add(Number other) {
        return binary(Binary.Function.ADD, scalar(other));
    }

    public NDArray add(NDArray other) {
        return binary(Binary.Function.ADD, trace.value(other));
    }

    public NDArray sub(Number other) {
        return binary(Binary.Function.SUBTRACT, scalar(other));
    }

    public NDArray sub(NDArray other) {
        return binary(Binary.Function.SUBTRACT, trace.value(other));
    }

    public NDArray mul(Number other) {
        return binary(Binary.Function.MULTIPLY, scalar(other));
    }

    public NDArray mul(NDArray other) {
        return binary(Binary.Function.MULTIPLY, trace.value(other));
    }

    public NDArray div(Number other) {
        return binary(Binary.Function.DIVIDE, scalar(other));
    }

    public NDArray div(NDArray other) {
        return binary(Binary.Function.DIVIDE, trace.value(other));
    }

    public NDArray pow(Number exponent) {
        return binary(Binary.Function.POWER, scalar(exponent));
    }

    public NDArray square() {
        return binary(Binary.Function.MULTIPLY, value);
    }

    private NDArray binary(Binary.Function function, Value other) {
        return array(new Binary(function), floats(), other);
    }

    // The same numbers in another shape, and numbers that are summed up.

    public NDArray reshape(Shape target) {
        long[] lengths = target.getShape().clone();
        boolean keepsBatch = lengths.length > 0 && trace.isBatch(lengths[0]);
        if (lengths.length == 2 && (keepsBatch || lengths[0] == -1) && isSample(lengths[1])) {
            return array(new Flatten(1), value);
        }
        if (keepsBatch) {
            lengths[0] = 0; // the input's
        }
        return array(Reshape.DEFAULT, value, trace.constant("shape", Tensor.of(lengths, lengths.length)));
    }

    private boolean isSample(long length) {
        Dimension sample = value.shape().size().dividedBy(value.shape().get(0));
        return length == -1 || sample.is(length);
    }

    public NDArray squeeze(int[] axes) {
        return array(new Squeeze(list(axes)), value);
    }

    public NDArray expandDims(int axis) {
        return array(new Unsqueeze(List.of((long) axis)), value);
    }

    public NDArray transpose(int... axes) {
        return array(new Transpose(list(axes)), value);
    }

    public NDArray concat(NDList others, int axis) {
        List<Value> all = new ArrayList<>(List.of(value));
        others.forEach(other -> all.add(trace.value(other)));
        return array(new Concat(axis), all.toArray(Value[]::new));
    }

    public NDArray mean(int[] axes, boolean keep) {
        return reduce(Reduce.Function.MEAN, axes, keep);
    }

    public NDArray sum(int[] axes, boolean keep) {
        return reduce(Reduce.Function.SUM, axes, keep);
    }

    public NDArray max(int[] axes, boolean keep) {
        return reduce(Reduce.Function.MAX, axes, keep);
    }

    public NDArray min(int[] axes, boolean keep) {
        return reduce(Reduce.Function.MIN, axes, keep);
    }

    private NDArray reduce(Reduce.Function function, int[] axes, boolean keep) {
        return array(new Reduce(function, list(axes), keep), floats());
    }

    public NDArray maxPool(Shape kernel, Shape stride, Shape padding, boolean roundUp) {
        return pool(Pool.Function.MAX, kernel, stride, padding, roundUp, false);
    }

    public NDArray avgPool(Shape kernel, Shape stride, Shape padding, boolean roundUp, boolean countPadding) {
        require(
                countPadding || LongStream.of(padding.getShape()).allMatch(length -> length == 0),
                "its means leave the padding out, which DJL's PyTorch engine counts all the same: set countIncludePad to"
                        + " true, which computes what it computes now");
        return pool(Pool.Function.AVERAGE, kernel, stride, padding, roundUp, countPadding);
    }

    private NDArray pool(
            Pool.Function function, Shape kernel, Shape stride, Shape padding, boolean roundUp, boolean countPadding) {
        Windows windows = windows(stride, padding, Collections.nCopies(kernel.dimension(), 1L));
        return array(new Pool(function, list(kernel), windows, roundUp, countPadding), value);
    }

    public NDArray globalMaxPool() {
        return globalPool(Pool.Function.MAX);
    }

    public NDArray globalAvgPool() {
        return globalPool(Pool.Function.AVERAGE);
    }

    /** DJL's drops the axes that it sums up. */
    private NDArray globalPool(Pool.Function function) {
        return array(new Flatten(1), trace.add(new GlobalPool(function), value));
    }

    // Layers. These are told their input a second time.

    public NDList linear(NDArray input, NDArray weight, @Nullable NDArray bias) {
        Value from = trace.value(input);
        if (from.shape().rank() == 2) {
            return layer(weight, Gemm.LINEAR, from, trace.value(weight), optional(bias));
        }
        Value product = trace.layer(weight, new MatMul(), from, trace.transposed(weight));
        Value shift = optional(bias);
        return new NDList(
                trace.array(shift == null ? product : trace.add(new Binary(Binary.Function.ADD), product, shift)));
    }

    public NDList convolution(
            NDArray input,
            NDArray weight,
            @Nullable NDArray bias,
            Shape stride,
            Shape padding,
            Shape dilation,
            int groups) {
        return layer(
                weight,
                new Conv(windows(stride, padding, list(dilation)), groups),
                trace.value(input),
                trace.value(weight),
                optional(bias));
    }

    public NDList batchNorm(
            NDArray input,
            NDArray mean,
            NDArray variance,
            NDArray scale,
            NDArray shift,
            int axis,
            float momentum,
            float epsilon,
            boolean training) {
        require(!training, "it normalises by the batch's own mean also when it is not trained");
        require(axis == 1, "its axis is " + axis + ": channels must be along axis 1");
        return layer(
                scale,
                new BatchNorm(number(epsilon), number(momentum)),
                trace.value(input),
                trace.value(scale),
                trace.value(shift),
                trace.value(mean),
                trace.value(variance));
    }

    public NDList layerNorm(NDArray input, Shape normalised, NDArray scale, NDArray shift, float epsilon) {
        return layer(
                scale,
                new LayerNorm(-normalised.dimension(), number(epsilon)),
                trace.value(input),
                trace.value(scale),
                trace.value(shift));
    }

    public NDList dropout(NDArray input, float rate, boolean training) {
        require(!training, "it drops numbers also when it is not trained");
        return new NDList(array(new Dropout(number(rate)), trace.value(input)));
    }

    public NDList embedding(NDArray input, NDArray table, SparseFormat format) {
        Value indices = trace.value(input);
        require(
                trace.data(indices).isInteger(),
                "it looks up what is stored as " + trace.data(indices)
                        + ": give the type of the input, BlockGraph.of(block, DataType.INT64, shape)");
        return layer(table, new Gather(0), trace.value(table), indices);
    }

    private NDList layer(NDArray weight, Operator operator, @Nullable Value... from) {
        return new NDList(trace.array(trace.layer(weight, operator, from)));
    }

    private @Nullable Value optional(@Nullable NDArray array) {
        return array == null ? null : trace.value(array);
    }

    private NDArray array(Operator operator, Value... from) {
        return trace.array(trace.add(operator, from));
    }

    /** This array, if it has fractions: DJL makes some of whole numbers, a graph does not. */
    private Value floats() {
        require(trace.data(value).isFloat(), "it computes with what is stored as " + trace.data(value));
        return value;
    }

    private Value scalar(Number number) {
        return trace.constant("number", Tensor.scalar(trace.data(floats()), number.doubleValue()));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static Windows windows(Shape strides, Shape padding, List<Long> dilations) {
        List<Long> pads = list(padding);
        return new Windows(
                list(strides), Stream.of(pads, pads).flatMap(List::stream).toList(), dilations);
    }

    private static List<Long> list(Shape shape) {
        return LongStream.of(shape.getShape()).boxed().toList();
    }

    private static List<Long> list(int[] axes) {
        return IntStream.of(axes).asLongStream().boxed().toList();
    }

    /** DJL's numbers are single precision: 0.9f stands for 0.9, not for its neighbour among doubles. */
    private static double number(Number number) {
        return Double.parseDouble(number.toString());
    }
}
