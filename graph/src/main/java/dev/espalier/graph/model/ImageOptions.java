package dev.espalier.graph.model;

import dev.espalier.core.check.Check;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.type.DataType;

/**
 * What an image classifier is for.
 *
 * @param classes number of classes
 * @param channels number of channels of an image
 * @param height height of an image
 * @param width width of an image
 */
public record ImageOptions(int classes, int channels, int height, int width) {

    /** Ten classes of 32×32 images in colour. */
    public static final ImageOptions CIFAR10 = new ImageOptions(10, 3, 32);

    /** A hundred classes of 32×32 images in colour. */
    public static final ImageOptions CIFAR100 = new ImageOptions(100, 3, 32);

    /** Checks the numbers. */
    public ImageOptions {
        Check.atLeast("classes", classes, 1);
        Check.atLeast("channels", channels, 1);
        Check.atLeast("height", height, 1);
        Check.atLeast("width", width, 1);
    }

    /**
     * Square images.
     *
     * @param classes number of classes
     * @param channels number of channels of an image
     * @param size height and width of an image
     */
    public ImageOptions(int classes, int channels, int size) {
        this(classes, channels, size, size);
    }

    /** The input that every classifier of images has. */
    Value input(GraphBuilder graph) {
        return graph.input("image", DataType.FLOAT32, "batch", channels, height, width);
    }
}
