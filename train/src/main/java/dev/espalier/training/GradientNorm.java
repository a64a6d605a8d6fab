package dev.espalier.training;

import dev.espalier.tensor.TensorView;
import java.util.Map;

/** The norm of a whole gradient. */
final class GradientNorm {
    private GradientNorm() {}

    /**
     * Scales a gradient so that its norm is at most what is allowed.
     *
     * @param gradients by parameter; scaled in place
     * @param most the largest norm; 0 for any
     */
    static void clip(Map<String, TensorView> gradients, double most) {
        if (most == 0) {
            return;
        }
        double norm = of(gradients);
        // Of a gradient that is not finite nothing can be saved; the optimizer says so, or skips it.
        if (norm > most && Double.isFinite(norm)) {
            double scale = most / norm;
            gradients.values().forEach(gradient -> scale(gradient, scale));
        }
    }

    static double of(Map<String, TensorView> gradients) {
        double squares = 0;
        for (TensorView gradient : gradients.values()) {
            for (long i = 0; i < gradient.size(); i++) {
                double value = gradient.get(i);
                squares += value * value;
            }
        }
        return Math.sqrt(squares);
    }

    private static void scale(TensorView gradient, double scale) {
        for (long i = 0; i < gradient.size(); i++) {
            gradient.set(i, scale * gradient.get(i));
        }
    }
}
