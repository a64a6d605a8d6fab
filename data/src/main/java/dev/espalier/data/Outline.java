package dev.espalier.data;

/** What is known of the inputs before a file is opened: enough to tell a model that does not fit, at once. */
public sealed interface Outline {
    /**
     * One image.
     *
     * @param channels 1 for grey, 3 for colour
     * @param height in pixels
     * @param width in pixels
     */
    record Image(int channels, int height, int width) implements Outline {}

    /** One vector of numbers; how many is known later. */
    record Vector() implements Outline {}

    /** Sequences of token ids. */
    record Tokens() implements Outline {}

    /** Nothing. */
    record Unknown() implements Outline {}
}
