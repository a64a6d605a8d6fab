package dev.espalier.graph.model;

import dev.espalier.check.Check;

/**
 * What an image classifier is for.
 *
 * @param classes number of classes
 * @param channels number of channels of an image
 * @param size height and width of an image
 */
public record ImageOptions(int classes, int channels, int size) {

    /** Ten classes of 32×32 images in colour. */
    public static final ImageOptions CIFAR10 = new ImageOptions(10, 3, 32);

    /** A hundred classes of 32×32 images in colour. */
    public static final ImageOptions CIFAR100 = new ImageOptions(100, 3, 32);

    /** Checks the numbers. */
    public ImageOptions {
        Check.atLeast("classes", classes, 1);
        Check.atLeast("channels", channels, 1);
        Check.atLeast("size", size, 1);
    }
}
