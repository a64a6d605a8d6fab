package dev.espalier.train.journal;

/**
 * A model that is wider than was requested, and faster than the one of the requested size: {@code faster.onnx}.
 *
 * @param parameters number of weights that are left
 * @param flops floating point operations for one sample
 * @param milliseconds how long ONNX Runtime takes for one sample, on one thread
 * @param smallerMilliseconds how long with {@code pruned.onnx}, by turns with this
 */
public record Faster(long parameters, long flops, double milliseconds, double smallerMilliseconds) {}
