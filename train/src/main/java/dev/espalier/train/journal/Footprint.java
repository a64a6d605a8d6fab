package dev.espalier.train.journal;

/**
 * What a model's file is and costs.
 *
 * @param bytes how large it is
 * @param parameters how many trained weights it has
 * @param flops floating point operations for one sample; NaN if they cannot be counted
 * @param milliseconds how long ONNX Runtime takes for one sample, on one thread
 * @param threadedMilliseconds how long on several threads
 */
public record Footprint(long bytes, long parameters, double flops, double milliseconds, double threadedMilliseconds) {}
