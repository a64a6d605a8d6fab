package dev.espalier.graph.model;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.type.DataType;
import java.util.List;

/**
 * A perceptron: hidden linear layers with rectifiers, and a linear output.
 *
 * <p>Its tensors are {@code hidden.N.weight} and {@code hidden.N.bias} for N from 0, and {@code classifier.weight} and
 * {@code classifier.bias}.
 */
public final class Mlp {
    private static final String NAME = "mlp";

    private Mlp() {}

    /**
     * The network for vectors.
     *
     * @param classes number of classes
     * @param length number of features of a vector
     * @param hidden width of each hidden layer
     * @param weights what it starts from
     * @return from {@code features [batch, length]} to {@code logits [batch, classes]}
     */
    public static Graph ofVectors(int classes, int length, List<Integer> hidden, Weights weights) {
        Check.atLeast("classes", classes, 1);
        Check.atLeast("length", length, 1);
        GraphBuilder graph = new GraphBuilder(NAME);
        Value features = graph.input("features", DataType.FLOAT32, "batch", length);
        return build(graph, features, classes, hidden, weights);
    }

    /**
     * The network for images, whose pixels it takes as a vector.
     *
     * @param options classes and images
     * @param hidden width of each hidden layer
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph ofImages(ImageOptions options, List<Integer> hidden, Weights weights) {
        GraphBuilder graph = new GraphBuilder(NAME);
        Value pixels = new Layers(graph, weights).flatten("flatten", options.input(graph));
        return build(graph, pixels, options.classes(), hidden, weights);
    }

    private static Graph build(GraphBuilder graph, Value features, int classes, List<Integer> hidden, Weights weights) {
        Layers layers = new Layers(graph, weights);
        Value signal = features;
        for (int i = 0; i < hidden.size(); i++) {
            Check.atLeast("width of hidden layer " + i, hidden.get(i), 1);
            String name = "hidden." + i;
            signal = layers.relu(name + ".relu", layers.linear(name, signal, hidden.get(i)));
        }
        return graph.outputs(layers.linear("classifier", signal, classes, "logits"));
    }
}
