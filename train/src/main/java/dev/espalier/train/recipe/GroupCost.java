package dev.espalier.train.recipe;

/** What the strength of a group's penalty is weighed by: what goes when the group goes, beside the mean over all groups. */
public enum GroupCost {
    /** Nothing: all groups of a size have the same strength. */
    NONE,
    /** Floating point operations. */
    FLOPS,
    /** Trained weights. */
    PARAMETERS,
    /** Milliseconds in ONNX Runtime, by the run's price list. */
    LATENCY
}
