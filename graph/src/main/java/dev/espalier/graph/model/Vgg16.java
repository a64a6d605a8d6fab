package dev.espalier.graph.model;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import java.util.List;
import java.util.Set;

/**
 * VGG-16 with batch normalisation and one linear layer: thirteen convolutions without bias, 14.7 million parameters.
 *
 * <p>Its tensors are {@code features.N.conv.weight} and {@code features.N.norm.…} for N from 0 to 12, and
 * {@code classifier.weight} and {@code classifier.bias}.
 */
public final class Vgg16 {
    private static final List<Integer> FILTERS = List.of(64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512);

    /** The convolutions, from 0, that a pooling halves the image behind. */
    private static final Set<Integer> POOLED = Set.of(1, 3, 6, 9, 12);

    /** The least height and width of an image that the poolings leave something of. */
    public static final int LEAST_SIZE = 1 << POOLED.size();

    private Vgg16() {}

    /**
     * The network, with convolutions that start by {@link Initialization.Scheme#HE}.
     *
     * @param options classes and images, at least 32×32
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(ImageOptions options, Weights weights) {
        return build(options, Initialization.Scheme.HE, weights);
    }

    /**
     * The network.
     *
     * @param options classes and images, at least 32×32
     * @param scheme how convolutions start
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(ImageOptions options, Initialization.Scheme scheme, Weights weights) {
        Check.atLeast("height of images for VGG-16", options.height(), LEAST_SIZE);
        Check.atLeast("width of images for VGG-16", options.width(), LEAST_SIZE);
        GraphBuilder graph = new GraphBuilder("vgg16");
        Layers layers = new Layers(graph, weights, scheme);
        Value signal = options.input(graph);
        for (int i = 0; i < FILTERS.size(); i++) {
            String name = "features." + i;
            signal = layers.convolution(name + ".conv", signal, FILTERS.get(i), 3, 1);
            signal = layers.relu(name + ".relu", layers.batchNorm(name + ".norm", signal));
            if (POOLED.contains(i)) {
                signal = layers.maxPool(name + ".pool", signal, 2);
            }
        }
        signal = layers.flatten("flatten", signal);
        return graph.outputs(layers.linear("classifier", signal, options.classes(), "logits"));
    }
}
