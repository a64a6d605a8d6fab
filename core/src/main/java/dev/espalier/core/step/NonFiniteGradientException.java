package dev.espalier.core.step;

/** A gradient was not finite, or too large to square in float32. Nothing has been changed. */
public final class NonFiniteGradientException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NonFiniteGradientException(String parameter, long step, float largest) {
        super(
                ("the gradient of %s has a largest magnitude of %s in step %d: it must be at most 1e15; lower the learning"
                                + " rate, clip the gradient, or skip such steps with NonFinite.SKIP")
                        .formatted(parameter, largest, step));
    }
}
