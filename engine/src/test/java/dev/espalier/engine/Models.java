package dev.espalier.engine;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/** Small models for tests. */
final class Models {
    /** The mean of {@code −ln softmax(logits)[class]} of a model's first output, and how many classes are the likeliest. */
    static final Objective CLASSES = formula -> {
        Value logits = formula.model(formula.outputs().getFirst());
        Value classes = formula.target("class", DataType.INT64, logits.shape().get(0));
        SequencedMap<String, Value> terms = Objective.terms(Losses.crossEntropy(formula, logits, classes));
        terms.put("right", formula.sum(formula.equal(formula.argMax(logits), classes)));
        return terms;
    };

    /** All devices that there are. */
    static List<Device> devices() {
        Device gpu = Device.gpu(0);
        return gpu.whyNot().isEmpty() ? List.of(Device.CPU, gpu) : List.of(Device.CPU);
    }

    private static final Binary ADD = new Binary(Binary.Function.ADD);
    private static final Unary RELU = new Unary(Unary.Function.RELU);

    private final GraphBuilder graph;
    private final SplittableRandom random = new SplittableRandom(1);

    private Models(String name) {
        graph = new GraphBuilder(name);
    }

    private Value uniform(String name, double bound, long... shape) {
        return graph.parameter(name, Tensor.compute(DataType.FLOAT32, shape, i -> random.nextDouble(-bound, bound)));
    }

    private Value weight(String name, long inputs, long... shape) {
        return uniform(name, Math.sqrt(3.0 / inputs), shape);
    }

    private static Tensor filled(double value, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> value);
    }

    private Value linear(String name, Value x, long in, long out) {
        return graph.add(
                name,
                Gemm.LINEAR,
                x,
                weight(name + ".weight", in, out, in),
                graph.parameter(name + ".bias", filled(0, out)));
    }

    /** From {@code x [batch, width]} by way of one hidden layer of that width to {@code classes} logits. */
    static Graph perceptron(long width, long classes) {
        Models model = new Models("perceptron");
        Value x = model.graph.input("x", DataType.FLOAT32, "batch", width);
        Value hidden = model.graph.add("relu", RELU, model.linear("hidden", x, width, width));
        return model.graph.outputs(model.linear("logits", hidden, width, classes));
    }

    private Value convolution(String name, Value x, long in, long out) {
        Value signal = graph.add(
                name + ".conv",
                new Conv(Windows.square(1, 1), 1),
                x,
                weight(name + ".conv.weight", in * 9, out, in, 3, 3));
        signal = graph.add(
                name + ".norm",
                new BatchNorm(1e-5, 0.9),
                signal,
                graph.parameter(name + ".norm.weight", filled(1, out)),
                graph.parameter(name + ".norm.bias", filled(0, out)),
                graph.buffer(name + ".norm.mean", filled(0, out)),
                graph.buffer(name + ".norm.variance", filled(1, out)));
        return graph.add(name + ".relu", RELU, signal);
    }

    private Value halved(String name, Value x) {
        return graph.add(name, new Pool(Pool.Function.MAX, List.of(2L, 2L), Windows.square(2, 0), false, false), x);
    }

    /** From {@code image [batch, 1, 8, 8]} to logits of two classes, with dropout. */
    static Graph convolutional() {
        Models model = new Models("convolutional");
        Value signal = model.graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        signal = model.halved("pool1", model.convolution("layer1", signal, 1, 4));
        signal = model.halved("pool2", model.convolution("layer2", signal, 4, 8));
        signal = model.graph.add("flatten", new Flatten(1), signal);
        signal = model.graph.add("dropout", new Dropout(0.1), signal);
        return model.graph.outputs(model.linear("logits", signal, 32, 2));
    }

    private Value projection(String name, Value x, long in, long out) {
        Value product = graph.add(name + ".product", new MatMul(), x, weight(name + ".weight", in, in, out));
        return graph.add(name, ADD, graph.parameter(name + ".bias", filled(0, out)), product);
    }

    private Value norm(String name, Value x, long width) {
        return graph.add(
                name,
                new LayerNorm(-1, 1e-5),
                x,
                graph.parameter(name + ".weight", filled(1, width)),
                graph.parameter(name + ".bias", filled(0, width)));
    }

    /** From {@code tokens [batch, length]} of ten words to logits of two classes: one layer, two heads of four. */
    static Graph transformer() {
        Models model = new Models("transformer");
        GraphBuilder graph = model.graph;
        Value tokens = graph.input("tokens", DataType.INT64, "batch", "length");
        Value x = graph.add("embedding", new Gather(0), model.uniform("words", 1, 10, 8), tokens);
        // [batch, length] of the tokens, then 2 heads of 4: the shape as exporters write it down.
        Value heads = graph.add(
                "heads",
                new Concat(0),
                graph.add("shape", ShapeOf.ALL, tokens),
                graph.constant("split", Tensor.of(new long[] {2, 4})));
        Value query = model.heads("query", x, heads, List.of(0L, 2L, 1L, 3L));
        Value key = model.heads("key", x, heads, List.of(0L, 2L, 3L, 1L));
        Value value = model.heads("value", x, heads, List.of(0L, 2L, 1L, 3L));
        Value scores = graph.add("scores", new MatMul(), query, key);
        Value scaled = graph.add(
                "scaled",
                new Binary(Binary.Function.DIVIDE),
                scores,
                graph.constant("root", Tensor.scalar(DataType.FLOAT32, 2)));
        Value attended =
                graph.add("attended", new MatMul(), graph.add("softmax", new Softmax(-1, false), scaled), value);
        Value merged = graph.add(
                "merged",
                Reshape.DEFAULT,
                graph.add("turned", new Transpose(List.of(0L, 2L, 1L, 3L)), attended),
                graph.constant("width", Tensor.of(new long[] {0, 0, 8})));
        Value first = model.norm("norm1", graph.add("sum1", ADD, x, model.projection("output", merged, 8, 8)), 8);
        Value inner = graph.add("gelu", new Gelu(false), model.projection("inner", first, 8, 16));
        Value second = model.norm("norm2", graph.add("sum2", ADD, first, model.projection("outer", inner, 16, 8)), 8);
        Value pooled = graph.add("pooled", new Reduce(Reduce.Function.MEAN, List.of(1L), false), second);
        return graph.outputs(model.linear("logits", pooled, 8, 2));
    }

    private Value heads(String name, Value x, Value shape, List<Long> order) {
        Value split = graph.add(name + ".split", Reshape.DEFAULT, projection(name, x, 8, 8), shape);
        return graph.add(name + ".heads", new Transpose(order), split);
    }
}
