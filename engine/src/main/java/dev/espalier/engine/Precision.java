package dev.espalier.engine;

/** How exactly products and convolutions are computed. Weights, gradients and all else are single precision, whatever it is. */
public enum Precision {
    /** In single precision. */
    FLOAT32,
    /** On GPUs with factors rounded to eleven bits of mantissa, summed up in single precision; elsewhere as {@link #FLOAT32}. */
    TF32,
    /** With factors and results rounded to eight bits of mantissa, which also takes half the memory. */
    BF16
}
