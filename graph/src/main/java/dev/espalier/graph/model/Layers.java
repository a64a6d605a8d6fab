package dev.espalier.graph.model;

import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import java.util.List;

/**
 * A vocabulary of layers: each adds its nodes to a graph, and its tensors under PyTorch's names ({@code NAME.weight},
 * {@code NAME.bias}, …).
 *
 * <pre>{@code
 * GraphBuilder graph = new GraphBuilder("tiny");
 * Layers layers = new Layers(graph, Weights.seeded(1));
 * Value image = graph.input("image", DataType.FLOAT32, "batch", 3, 32, 32);
 * Value hidden = layers.relu("relu", layers.convolution("conv", image, 16, 3, 1));
 * Graph model = graph.outputs(layers.linear("classifier", layers.flatten("flat", hidden), 10));
 * }</pre>
 */
public final class Layers {
    private static final double BATCH_NORM_EPSILON = 1e-5;
    private static final double BATCH_NORM_MOMENTUM = 0.9;

    /** As BERT's authors have it. */
    private static final Initialization TRANSFORMER = new Initialization.Normal(0.02);

    private final GraphBuilder graph;
    private final Weights weights;
    private final Initialization.Scheme scheme;

    /**
     * Layers for a graph, whose convolutions start by {@link Initialization.Scheme#HE}.
     *
     * @param graph where they are added
     * @param weights what their tensors start from
     */
    public Layers(GraphBuilder graph, Weights weights) {
        this(graph, weights, Initialization.Scheme.HE);
    }

    /**
     * Layers for a graph.
     *
     * @param graph where they are added
     * @param weights what their tensors start from
     * @param scheme how convolutions start
     */
    public Layers(GraphBuilder graph, Weights weights, Initialization.Scheme scheme) {
        this.graph = graph;
        this.weights = weights;
        this.scheme = scheme;
    }

    /**
     * A convolution of images without bias, padded so that a stride of one keeps their size. By
     * {@link Initialization.Scheme#HE} its weights start as Kaiming's, by the number of outputs that one input goes into,
     * as is usual for images.
     *
     * @param name its name
     * @param input images {@code [batch, channels, height, width]}
     * @param filters number of channels that come out
     * @param kernel height and width of its window; odd
     * @param stride steps of the window
     * @return images {@code [batch, filters, …]}
     */
    public Value convolution(String name, Value input, long filters, long kernel, long stride) {
        Initialization start = switch (scheme) {
            case HE -> Initialization.kaiming(filters * kernel * kernel);
            case TORCH -> Initialization.torch(fanIn(input, kernel));
        };
        return convolution(name, stride, input, filter(name, input, filters, kernel, start));
    }

    /**
     * The same with a bias, for a convolution that no norm follows. By {@link Initialization.Scheme#HE} its weights start as
     * Kaiming's by the number of inputs of one output, which keeps the size of a signal where no norm does that; its biases
     * start at zero.
     *
     * @param name its name
     * @param input images {@code [batch, channels, height, width]}
     * @param filters number of channels that come out
     * @param kernel height and width of its window; odd
     * @param stride steps of the window
     * @return images {@code [batch, filters, …]}
     */
    public Value biasedConvolution(String name, Value input, long filters, long kernel, long stride) {
        long fan = fanIn(input, kernel);
        boolean he = scheme == Initialization.Scheme.HE;
        Initialization start = he ? Initialization.kaiming(fan) : Initialization.torch(fan);
        Value weight = filter(name, input, filters, kernel, start);
        Value bias = parameter(name + ".bias", he ? Initialization.ZEROS : start, filters);
        return convolution(name, stride, input, weight, bias);
    }

    private static long fanIn(Value input, long kernel) {
        return length(input, 1) * kernel * kernel;
    }

    private Value filter(String name, Value input, long filters, long kernel, Initialization initialization) {
        if (kernel % 2 == 0) {
            throw new IllegalArgumentException("kernel = " + kernel + " of " + name + " must be odd");
        }
        return parameter(name + ".weight", initialization, filters, length(input, 1), kernel, kernel);
    }

    private Value convolution(String name, long stride, Value... from) {
        long kernel = length(from[1], -1);
        return graph.add(name, new Conv(Windows.square(stride, kernel / 2), 1), from);
    }

    /**
     * Batch normalisation.
     *
     * @param name its name
     * @param input a tensor with channels along its second axis
     * @return a tensor of the same shape
     */
    public Value batchNorm(String name, Value input) {
        long channels = length(input, 1);
        return graph.add(
                name,
                new BatchNorm(BATCH_NORM_EPSILON, BATCH_NORM_MOMENTUM),
                input,
                parameter(name + ".weight", Initialization.ONES, channels),
                parameter(name + ".bias", Initialization.ZEROS, channels),
                buffer(name + ".running_mean", Initialization.ZEROS, channels),
                buffer(name + ".running_var", Initialization.ONES, channels));
    }

    /**
     * A linear layer of a matrix, with weights {@code [outputs, inputs]}. Weights and biases start uniform in
     * {@code ±1/√inputs}, as PyTorch's do.
     *
     * @param name its name
     * @param input a matrix {@code [batch, inputs]}
     * @param outputs number of columns that come out
     * @return a matrix {@code [batch, outputs]}
     */
    public Value linear(String name, Value input, long outputs) {
        return linear(name, input, outputs, name);
    }

    /**
     * The same with a name of its own for what comes out, as the output of a model has.
     *
     * @param name its name
     * @param input a matrix {@code [batch, inputs]}
     * @param outputs number of columns that come out
     * @param output the name of the tensor that comes out
     * @return a matrix {@code [batch, outputs]}
     */
    public Value linear(String name, Value input, long outputs, String output) {
        long inputs = length(input, 1);
        Initialization uniform = Initialization.torch(inputs);
        Value weight = parameter(name + ".weight", uniform, outputs, inputs);
        Value bias = parameter(name + ".bias", uniform, outputs);
        List<String> from = List.of(input.name(), weight.name(), bias.name());
        return graph.addAll(new Node(name, Gemm.LINEAR, from, List.of(output))).getFirst();
    }

    /**
     * A linear layer along the last axis of a tensor of any rank, with weights {@code [inputs, outputs]}: the product is a
     * node {@code NAME.product}, its sum with the bias the node {@code NAME}. Weights start normal, biases zero, as
     * BERT's do.
     *
     * @param name its name
     * @param input a tensor {@code […, inputs]}
     * @param outputs the last length that comes out
     * @return a tensor {@code […, outputs]}
     */
    public Value dense(String name, Value input, long outputs) {
        long inputs = length(input, -1);
        Value weight =
                graph.parameter(name + ".weight", weights.matrix(name + ".weight", TRANSFORMER, inputs, outputs));
        Value product = graph.add(name + ".product", new MatMul(), input, weight);
        return add(name, product, parameter(name + ".bias", Initialization.ZEROS, outputs));
    }

    /**
     * Layer normalisation along the last axis.
     *
     * @param name its name
     * @param input a tensor
     * @param epsilon keeps the root away from zero
     * @return a tensor of the same shape
     */
    public Value layerNorm(String name, Value input, double epsilon) {
        long width = length(input, -1);
        return graph.add(
                name,
                new LayerNorm(-1, epsilon),
                input,
                parameter(name + ".weight", Initialization.ONES, width),
                parameter(name + ".bias", Initialization.ZEROS, width));
    }

    /**
     * Rows of a table that is trained.
     *
     * @param name its name
     * @param indices which rows, whole numbers of any shape
     * @param count number of rows of the table
     * @param width length of a row
     * @return a tensor of the shape of the indices, with one more axis of a row's length
     */
    public Value embedding(String name, Value indices, long count, long width) {
        return graph.add(name, new Gather(0), parameter(name + ".weight", TRANSFORMER, count, width), indices);
    }

    /**
     * Dropout; no node at all for a ratio of zero.
     *
     * @param name its name
     * @param input a tensor
     * @param ratio the share of elements that are zero in training
     * @return a tensor of the same shape
     */
    public Value dropout(String name, Value input, double ratio) {
        return ratio == 0 ? input : graph.add(name, new Dropout(ratio), input);
    }

    /**
     * {@code max(0, x)}.
     *
     * @param name its name
     * @param input a tensor
     * @return a tensor of the same shape
     */
    public Value relu(String name, Value input) {
        return graph.add(name, new Unary(Unary.Function.RELU), input);
    }

    /**
     * {@code x · Φ(x)}, exactly.
     *
     * @param name its name
     * @param input a tensor
     * @return a tensor of the same shape
     */
    public Value gelu(String name, Value input) {
        return graph.add(name, new Gelu(false), input);
    }

    /**
     * Hyperbolic tangent.
     *
     * @param name its name
     * @param input a tensor
     * @return a tensor of the same shape
     */
    public Value tanh(String name, Value input) {
        return graph.add(name, new Unary(Unary.Function.TANH), input);
    }

    /**
     * The sum of two tensors.
     *
     * @param name its name
     * @param left one
     * @param right the other, broadcast
     * @return their sum
     */
    public Value add(String name, Value left, Value right) {
        return graph.add(name, new Binary(Binary.Function.ADD), left, right);
    }

    /**
     * The largest element of each square of an image, squares side by side.
     *
     * @param name its name
     * @param input images
     * @param size height and width of a square
     * @return smaller images
     */
    public Value maxPool(String name, Value input, long size) {
        return graph.add(
                name, new Pool(Pool.Function.MAX, List.of(size, size), Windows.square(size, 0), false, false), input);
    }

    /**
     * The mean of each channel.
     *
     * @param name its name
     * @param input images
     * @return images of one pixel
     */
    public Value globalAverage(String name, Value input) {
        return graph.add(name, new GlobalPool(Pool.Function.AVERAGE), input);
    }

    /**
     * Everything behind the first axis in one.
     *
     * @param name its name
     * @param input a tensor
     * @return a matrix
     */
    public Value flatten(String name, Value input) {
        return graph.add(name, new Flatten(1), input);
    }

    private Value parameter(String name, Initialization initialization, long... shape) {
        return graph.parameter(name, weights.tensor(name, initialization, shape));
    }

    private Value buffer(String name, Initialization initialization, long... shape) {
        return graph.buffer(name, weights.tensor(name, initialization, shape));
    }

    private static long length(Value input, int axis) {
        return input.shape().get(axis).value();
    }
}
