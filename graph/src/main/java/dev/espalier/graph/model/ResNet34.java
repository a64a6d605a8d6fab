package dev.espalier.graph.model;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import java.util.List;

/**
 * ResNet-34 for small images: basic blocks, a stem of one 3×3 convolution without pooling, 21 million parameters.
 *
 * <p>Its tensors are {@code stem.conv.weight}, {@code stages.S.B.conv1.weight} and {@code conv2} for stages S from 0 to 3
 * and their blocks B, {@code stages.S.B.shortcut.conv.weight} where the shape changes, a {@code norm} beside every
 * {@code conv}, and {@code classifier.weight} and {@code classifier.bias}.
 */
public final class ResNet34 {
    private static final List<Integer> BLOCKS = List.of(3, 4, 6, 3);

    /** Channels of the first stage, as in the paper; each stage has twice as many as the one before. */
    public static final int WIDTH = 64;

    private ResNet34() {}

    /**
     * The network, with convolutions that start by {@link Initialization.Scheme#HE}.
     *
     * @param options classes and images
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(ImageOptions options, Weights weights) {
        return build(options, WIDTH, Initialization.Scheme.HE, weights);
    }

    /**
     * The network with more or fewer channels.
     *
     * @param options classes and images
     * @param width channels of the first stage; each stage has twice as many as the one before
     * @param scheme how convolutions start
     * @param weights what it starts from
     * @return from {@code image [batch, channels, height, width]} to {@code logits [batch, classes]}
     */
    public static Graph build(ImageOptions options, int width, Initialization.Scheme scheme, Weights weights) {
        Check.atLeast("width", width, 1);
        GraphBuilder graph = new GraphBuilder("resnet34");
        Layers layers = new Layers(graph, weights, scheme);
        Value image = options.input(graph);
        Value signal = layers.convolution("stem.conv", image, width, 3, 1);
        signal = layers.relu("stem.relu", layers.batchNorm("stem.norm", signal));
        for (int stage = 0; stage < BLOCKS.size(); stage++) {
            for (int block = 0; block < BLOCKS.get(stage); block++) {
                signal = block(
                        layers,
                        "stages." + stage + "." + block,
                        signal,
                        width << stage,
                        stage > 0 && block == 0 ? 2 : 1);
            }
        }
        signal = layers.flatten("flatten", layers.globalAverage("pool", signal));
        return graph.outputs(layers.linear("classifier", signal, options.classes(), "logits"));
    }

    private static Value block(Layers layers, String name, Value input, int width, int stride) {
        Value signal = layers.convolution(name + ".conv1", input, width, 3, stride);
        signal = layers.relu(name + ".relu1", layers.batchNorm(name + ".norm1", signal));
        signal = layers.convolution(name + ".conv2", signal, width, 3, 1);
        signal = layers.batchNorm(name + ".norm2", signal);
        Value shortcut = input;
        if (!input.shape().get(1).is(width)) {
            shortcut = layers.convolution(name + ".shortcut.conv", input, width, 1, stride);
            shortcut = layers.batchNorm(name + ".shortcut.norm", shortcut);
        }
        return layers.relu(name + ".relu2", layers.add(name + ".sum", signal, shortcut));
    }
}
