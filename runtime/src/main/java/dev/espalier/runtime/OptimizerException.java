package dev.espalier.runtime;

import java.io.Serial;

/** ONNX Runtime runs a model as it is, but not once it has optimized it. */
public final class OptimizerException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    OptimizerException(IllegalStateException refused) {
        super(
                "ONNX Runtime runs the smaller model as it is, but not when it optimizes it, as it does unless it is told not to. That is a"
                        + " mistake of its own, and other widths may lead around it: try prune --round-to 4, or prune --keep NAME for"
                        + " one of the layers that it names. " + refused.getMessage(),
                refused);
    }
}
