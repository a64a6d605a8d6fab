package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.SplittableRandom;

/** Seeded models of many shapes, with whole groups of weights at zero. */
final class RandomModels {
    private final SplittableRandom random;
    private final GraphBuilder graph = new GraphBuilder("random");
    private final boolean smooth;
    private int count;

    RandomModels(long seed) {
        this(seed, false);
    }

    /** Smooth models have only functions that change wherever their input does. */
    RandomModels(long seed, boolean smooth) {
        random = new SplittableRandom(seed);
        this.smooth = smooth;
    }

    /** An image goes through layers of every kind; a linear layer ends it. */
    Graph imageModel() {
        Value x = graph.input("image", DataType.FLOAT32, "batch", 3, 6, 6);
        x = convolution(x, 4 + random.nextInt(5), 3, 1);
        int layers = 2 + random.nextInt(5);
        for (int i = 0; i < layers; i++) {
            x = switch (random.nextInt(smooth ? 9 : 14)) {
                case 0 -> relu(convolution(x, 3 + random.nextInt(6), 3, 1));
                case 1 -> relu(norm(convolution(x, 3 + random.nextInt(6), 1, 0)));
                case 2 -> residual(x);
                case 3 -> branches(x);
                case 4 -> relu(depthwise(x));
                case 5 -> split(x);
                case 6 -> excite(x);
                case 7 -> paddedShortcut(x);
                case 8 -> slice(x);
                case 9 -> relu(grouped(x));
                case 10 -> shuffle(x);
                case 11 -> relu(transposed(x));
                default -> pool(x);
            };
        }
        Value flat = random.nextBoolean()
                ? graph.add(name("flatten"), new Flatten(1), x)
                : graph.add(
                        name("flatten"),
                        new Flatten(1),
                        graph.add(name("mean"), new GlobalPool(Pool.Function.AVERAGE), x));
        return graph.outputs(linear(flat, 4));
    }

    /** Tokens go through an encoder. */
    Graph tokenModel() {
        int heads = 1 + random.nextInt(3);
        int size = (smooth ? 4 : 2) + random.nextInt(3);
        Value x = graph.input("tokens", DataType.FLOAT32, "batch", "length", 5);
        x = dense(x, heads * size);
        for (int i = 0; i < 1 + random.nextInt(2); i++) {
            x = layerNorm(add(x, attention(x, heads, size)));
            Value hidden = relu(dense(x, 6 + random.nextInt(6)));
            x = layerNorm(add(x, dense(hidden, heads * size)));
        }
        return graph.outputs(dense(x, 2));
    }

    /** The same with shapes that are computed, as exporters with dynamic axes write them. */
    Graph dynamicModel() {
        int heads = 1 + random.nextInt(3);
        int size = 2 + random.nextInt(3);
        Value x = graph.input("tokens", DataType.FLOAT32, "batch", "length", 5);
        x = dense(x, heads * size);
        for (int i = 0; i < 1 + random.nextInt(2); i++) {
            x = layerNorm(add(x, dynamicAttention(x, heads, size)));
            x = layerNorm(add(x, dense(measured(relu(dense(x, 6 + random.nextInt(6)))), heads * size)));
        }
        return graph.outputs(dense(x, 2));
    }

    private Value dynamicAttention(Value x, int heads, int size) {
        Value query = measured(dynamicHeads(x, heads, size, List.of(0L, 2L, 1L, 3L)));
        Value key = measured(dynamicHeads(x, heads, size, List.of(0L, 2L, 3L, 1L)));
        Value value = measured(dynamicHeads(x, heads, size, List.of(0L, 2L, 1L, 3L)));
        Value weights = graph.add(
                name("weights"), new Softmax(-1, false), measured(graph.add(name("scores"), new MatMul(), query, key)));
        Value context = graph.add(name("context"), new MatMul(), weights, value);
        Value back = measured(graph.add(name("back"), new Transpose(List.of(0L, 2L, 1L, 3L)), context));
        Value width = graph.constant(name("width"), Tensor.of(new long[] {(long) heads * size}));
        Value shape = graph.add(name("join"), new Concat(0), length(back, 0), length(back, 1), width);
        return dense(graph.add(name("merge"), Reshape.DEFAULT, back, shape), heads * size);
    }

    private Value dynamicHeads(Value x, int heads, int size, List<Long> order) {
        Value product = measured(dense(x, heads * size));
        Value parts = graph.constant(name("parts"), Tensor.of(new long[] {heads, size}));
        Value shape = graph.add(name("join"), new Concat(0), length(product, 0), length(product, 1), parts);
        return graph.add(
                name("order"), new Transpose(order), graph.add(name("heads"), Reshape.DEFAULT, product, shape));
    }

    private Value length(Value x, long axis) {
        Value shape = graph.add(name("shape"), ShapeOf.ALL, x);
        return graph.add(
                name("length"), new Gather(0), shape, graph.constant(name("axis"), Tensor.of(new long[] {axis})));
    }

    /** Something that depends on the shape of a tensor, along its channels or not, or on a number for each place. */
    private Value measured(Value x) {
        return switch (random.nextInt(7)) {
            case 0 -> over(x, graph.add(name("size"), new Size(), x));
            case 1 -> over(x, length(x, x.shape().rank() - 1L));
            case 2 -> {
                Value shape = graph.add(name("shape"), ShapeOf.ALL, x);
                Value half = graph.constant(name("half"), Tensor.of(new float[] {0.5f}));
                yield times(x, graph.add(name("halves"), new Expand(), half, shape));
            }
            case 3 -> {
                Value shape = graph.add(name("shape"), new ShapeOf(-2, Long.MAX_VALUE), x);
                yield add(x, graph.add(name("zeros"), new ConstantOfShape(Tensor.of(new float[] {0.25f})), shape));
            }
            case 4 -> x.shape().get(-1).isKnown() ? times(x, parameter("factor", channels(x, -1))) : x;
            default -> x;
        };
    }

    private Value over(Value x, Value number) {
        Value cast = graph.add(name("cast"), new Elementwise.Cast(DataType.FLOAT32), number);
        return times(x, graph.add(name("root"), new Unary(Unary.Function.SQRT), cast));
    }

    private Value times(Value x, Value y) {
        return graph.add(name("times"), new Binary(Binary.Function.MULTIPLY), x, y);
    }

    private Value attention(Value x, int heads, int size) {
        Value query = split(dense(x, heads * size), heads, size, List.of(0L, 2L, 1L, 3L));
        Value key = split(dense(x, heads * size), heads, size, List.of(0L, 2L, 3L, 1L));
        Value value = split(dense(x, heads * size), heads, size, List.of(0L, 2L, 1L, 3L));
        Value scores = graph.add(name("scores"), new MatMul(), query, key);
        Value weights = graph.add(name("weights"), new Softmax(-1, false), scores);
        Value context = graph.add(name("context"), new MatMul(), weights, value);
        Value back = graph.add(name("back"), new Transpose(List.of(0L, 2L, 1L, 3L)), context);
        Value shape = graph.constant(name("shape"), Tensor.of(new long[] {0, 0, (long) heads * size}));
        return dense(graph.add(name("merge"), Reshape.DEFAULT, back, shape), heads * size);
    }

    private Value split(Value x, int heads, int size, List<Long> order) {
        Value shape = graph.constant(name("shape"), Tensor.of(new long[] {0, 0, heads, size}));
        return graph.add(name("order"), new Transpose(order), graph.add(name("heads"), Reshape.DEFAULT, x, shape));
    }

    private Value layerNorm(Value x) {
        int size = channels(x, -1);
        return graph.add(name("norm"), new LayerNorm(-1, 1e-5), x, parameter("scale", size), parameter("shift", size));
    }

    private Value dense(Value x, int out) {
        int in = channels(x, -1);
        Value product = graph.add(name("dense"), new MatMul(), x, weights("weight", 0, in, out));
        return random.nextBoolean() ? add(product, bias(out)) : product;
    }

    private Value linear(Value x, int out) {
        return graph.add(name("linear"), Gemm.LINEAR, x, weights("weight", 1, out, channels(x, 1)), bias(out));
    }

    private Value convolution(Value x, int out, int kernel, int pad) {
        String name = name("conv");
        Value weight = weights("weight", 1, out, channels(x, 1), kernel, kernel);
        Conv conv = new Conv(Windows.square(1, pad), 1);
        return random.nextBoolean() ? graph.add(name, conv, x, weight, bias(out)) : graph.add(name, conv, x, weight);
    }

    private Value depthwise(Value x) {
        int channels = channels(x, 1);
        if (smooth) {
            // A filter of zeros still has an input, which then nothing depends on.
            Tensor filters = fill(new long[] {channels, 1, 3, 3}, this::normal);
            Value weight = graph.parameter(name("weight"), filters);
            return graph.add(name("depthwise"), new Conv(Windows.square(1, 1), channels), x, weight, bias(channels));
        }
        return graph.add(
                name("depthwise"),
                new Conv(Windows.square(1, 1), channels),
                x,
                weights("weight", 0, channels, 1, 3, 3),
                bias(channels));
    }

    private Value residual(Value x) {
        int channels = channels(x, 1);
        Value branch = relu(norm(convolution(x, 2 + random.nextInt(4), 3, 1)));
        return add(x, norm(convolution(branch, channels, 3, 1)));
    }

    private Value branches(Value x) {
        Value left = relu(convolution(x, 2 + random.nextInt(3), 1, 0));
        Value right = relu(convolution(x, 2 + random.nextInt(3), 3, 1));
        return graph.add(name("concat"), new Concat(1), left, right);
    }

    private Value split(Value x) {
        int channels = channels(x, 1);
        if (channels < 2) {
            return x;
        }
        int first = 1 + random.nextInt(channels - 1);
        String name = name("split");
        List<Value> parts = graph.addAll(new dev.espalier.graph.Node(
                name,
                new Split(1, List.of((long) first, (long) channels - first)),
                List.of(x.name()),
                List.of(name + ".0", name + ".1")));
        return graph.add(name("concat"), new Concat(1), relu(parts.get(1)), parts.get(0));
    }

    /** Squeeze and excite: every channel is scaled by what all channels say. */
    private Value excite(Value x) {
        Value mean = graph.add(name("mean"), new GlobalPool(Pool.Function.AVERAGE), x);
        Value hidden = relu(convolution(mean, 2 + random.nextInt(3), 1, 0));
        Value scale = graph.add(
                name("sigmoid"), new Unary(Unary.Function.SIGMOID), convolution(hidden, channels(x, 1), 1, 0));
        return graph.add(name("scale"), new Binary(Binary.Function.MULTIPLY), x, scale);
    }

    /** A shortcut into more channels: those that it lacks are zeros. */
    private Value paddedShortcut(Value x) {
        int channels = channels(x, 1);
        int before = random.nextInt(3);
        int after = 1 + random.nextInt(2);
        Value shortcut = graph.add(
                name("pad"),
                new Pad(Pad.Mode.CONSTANT, List.of(0L, (long) before, 0L, 0L, 0L, (long) after, 0L, 0L), 0),
                x);
        return add(shortcut, norm(convolution(x, before + channels + after, 3, 1)));
    }

    /** The middle of the channels. */
    private Value slice(Value x) {
        int channels = channels(x, 1);
        if (channels < 3) {
            return x;
        }
        int start = random.nextInt(channels - 2);
        int end = start + 2 + random.nextInt(channels - start - 1);
        return graph.add(
                name("slice"),
                new Slice(),
                x,
                graph.constant(name("starts"), Tensor.of(new long[] {start})),
                graph.constant(name("ends"), Tensor.of(new long[] {end})),
                graph.constant(name("axes"), Tensor.of(new long[] {1})));
    }

    private Value grouped(Value x) {
        int channels = channels(x, 1);
        int groups = channels % 3 == 0 ? 3 : channels % 2 == 0 ? 2 : 1;
        int out = groups * (1 + random.nextInt(3));
        return graph.add(
                name("grouped"),
                new Conv(Windows.square(1, 1), groups),
                x,
                weights("weight", 1, out, channels / groups, 3, 3),
                bias(out));
    }

    private Value transposed(Value x) {
        int channels = channels(x, 1);
        int groups = random.nextBoolean() ? 1 : random.nextBoolean() ? channels : channels % 2 == 0 ? 2 : 1;
        int out = 1 + random.nextInt(3);
        return graph.add(
                name("transposed"),
                new ConvTranspose(Windows.square(1, 1), List.of(0L, 0L), groups),
                x,
                weights("weight", 0, channels, out, 3, 3),
                bias(groups * out));
    }

    /** The channels of two halves by turns. */
    private Value shuffle(Value x) {
        int channels = channels(x, 1);
        if (channels % 2 == 1) {
            return x;
        }
        long size = channels(x, 2);
        Value apart = graph.constant(name("shape"), Tensor.of(new long[] {0, 2, channels / 2, size, size}));
        Value together = graph.constant(name("shape"), Tensor.of(new long[] {0, channels, size, size}));
        Value halves = graph.add(name("halves"), Reshape.DEFAULT, x, apart);
        Value turned = graph.add(name("turn"), new Transpose(List.of(0L, 2L, 1L, 3L, 4L)), halves);
        return graph.add(name("shuffle"), Reshape.DEFAULT, turned, together);
    }

    private Value pool(Value x) {
        return graph.add(
                name("pool"),
                new Pool(
                        smooth ? Pool.Function.AVERAGE : Pool.Function.MAX,
                        List.of(2L, 2L),
                        Windows.square(1, 1),
                        false,
                        false),
                x);
    }

    private Value norm(Value x) {
        int channels = channels(x, 1);
        return graph.add(
                name("norm"),
                new BatchNorm(1e-5, 0.9),
                x,
                parameter("scale", channels),
                parameter("shift", channels),
                parameter("mean", channels),
                graph.buffer(name("variance"), fill(new long[] {channels}, () -> 0.5 + random.nextDouble())));
    }

    private Value relu(Value x) {
        return graph.add(name("relu"), new Unary(smooth ? Unary.Function.TANH : Unary.Function.RELU), x);
    }

    private Value add(Value x, Value y) {
        return graph.add(name("add"), new Binary(Binary.Function.ADD), x, y);
    }

    private Value bias(int size) {
        // Sometimes zero, so that channels without weights carry zeros even across padding.
        boolean zero = random.nextInt(3) == 0;
        return graph.parameter(name("bias"), fill(new long[] {size}, () -> zero ? 0 : normal()));
    }

    private Value parameter(String what, int size) {
        return graph.parameter(name(what), fill(new long[] {size}, this::normal));
    }

    /** Weights with about a third of the groups along an axis at zero, and sometimes whole filters too. */
    private Value weights(String what, int axis, int... lengths) {
        long[] shape = new long[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            shape[i] = lengths[i];
        }
        boolean[] zero = new boolean[lengths[axis]];
        double share = random.nextInt(25) == 0 ? 1 : random.nextDouble() * 0.6;
        for (int i = 0; i < zero.length; i++) {
            zero[i] = random.nextDouble() < share;
        }
        int other = 1 - axis;
        boolean[] zeroFilter = new boolean[lengths[other]];
        if (random.nextInt(3) == 0) {
            zeroFilter[random.nextInt(zeroFilter.length)] = true;
        }
        int inner = 1;
        for (int i = 2; i < lengths.length; i++) {
            inner *= lengths[i];
        }
        int columns = lengths[1];
        int perPlace = inner;
        return graph.parameter(name(what), Tensor.compute(DataType.FLOAT32, shape, i -> {
            int row = (int) (i / perPlace / columns);
            int column = (int) (i / perPlace % columns);
            double value = normal();
            boolean gone = axis == 0 ? zero[row] || zeroFilter[column] : zero[column] || zeroFilter[row];
            return gone ? 0 : value;
        }));
    }

    private Tensor fill(long[] shape, java.util.function.DoubleSupplier source) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> source.getAsDouble());
    }

    private double normal() {
        return (random.nextDouble() + random.nextDouble() + random.nextDouble() - 1.5) * 1.2;
    }

    Tensor input(long... shape) {
        return fill(shape, this::normal);
    }

    private static int channels(Value x, int axis) {
        return (int) x.shape().get(axis).value();
    }

    private String name(String what) {
        return what + count++;
    }
}
