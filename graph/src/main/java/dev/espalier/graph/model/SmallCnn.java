package dev.espalier.graph.model;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import java.util.List;

/**
 * A few 3×3 convolutions, the mean of each channel, and one linear layer. A rectifier follows each convolution, and every
 * second one halves the image by max pooling, as long as there is something to halve.
 *
 * <p>Its tensors are {@code features.N.conv.weight} for N from 0, with {@code features.N.norm.…} or, without batch
 * normalisation, {@code features.N.conv.bias}; {@code classifier.weight} and {@code classifier.bias}.
 */
// The mean of each channel, not all its pixels: so an input of the classifier is a channel, and one group of its
// weights
// that becomes zero takes a filter of the last convolution with it. Behind a flattened map a filter would have to wait
// for
// a group of each pixel.
public final class SmallCnn {
    private SmallCnn() {}

    /**
     * The network, with convolutions that start by {@link Initialization.Scheme#HE}.
     *
     * @param options classes and images
     * @param channels output channels of each convolution
     * @param batchNorm whether a batch normalisation follows each convolution; if not, convolutions have biases
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(ImageOptions options, List<Integer> channels, boolean batchNorm, Weights weights) {
        return build(options, channels, batchNorm, Initialization.Scheme.HE, weights);
    }

    /**
     * The network.
     *
     * @param options classes and images
     * @param channels output channels of each convolution
     * @param batchNorm whether a batch normalisation follows each convolution; if not, convolutions have biases
     * @param scheme how convolutions start
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(
            ImageOptions options,
            List<Integer> channels,
            boolean batchNorm,
            Initialization.Scheme scheme,
            Weights weights) {
        Check.atLeast("number of convolutions", channels.size(), 1);
        GraphBuilder graph = new GraphBuilder("small-cnn");
        Layers layers = new Layers(graph, weights, scheme);
        Value signal = options.input(graph);
        for (int i = 0; i < channels.size(); i++) {
            String name = "features." + i;
            int filters = channels.get(i);
            Check.atLeast("channels of convolution " + i, filters, 1);
            signal = batchNorm
                    ? layers.batchNorm(name + ".norm", layers.convolution(name + ".conv", signal, filters, 3, 1))
                    : layers.biasedConvolution(name + ".conv", signal, filters, 3, 1);
            signal = layers.relu(name + ".relu", signal);
            if (i % 2 == 1 && canBeHalved(signal)) {
                signal = layers.maxPool(name + ".pool", signal, 2);
            }
        }
        signal = layers.flatten("flatten", layers.globalAverage("pool", signal));
        return graph.outputs(layers.linear("classifier", signal, options.classes(), "logits"));
    }

    private static boolean canBeHalved(Value images) {
        return images.shape().get(2).value() > 1 && images.shape().get(3).value() > 1;
    }
}
