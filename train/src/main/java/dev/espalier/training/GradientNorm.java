package dev.espalier.training;

import dev.espalier.djl.network.Network;
import dev.espalier.tensor.ElementType;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/** The norm of a whole gradient. */
final class GradientNorm {
    private GradientNorm() {}

    /**
     * Scales a gradient so that its norm is at most what is allowed: where the processor reaches it in double precision and
     * without a copy, elsewhere by libtorch.
     *
     * @param network whose gradients they are
     * @param gradients by parameter; scaled in place
     * @param most the largest norm; 0 for any
     */
    static void clip(Network network, Map<String, TensorView> gradients, double most) {
        if (most == 0) {
            return;
        }
        if (network.shared()) {
            clip(gradients, most);
        } else {
            network.clipGradients(most);
        }
    }

    private static void clip(Map<String, TensorView> gradients, double most) {
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
            MemorySegment memory = memory(gradient);
            for (long i = 0; i < gradient.size(); i++) {
                double value = memory.getAtIndex(ValueLayout.JAVA_FLOAT, i);
                squares += value * value;
            }
        }
        return Math.sqrt(squares);
    }

    private static void scale(TensorView gradient, double scale) {
        MemorySegment memory = memory(gradient);
        for (long i = 0; i < gradient.size(); i++) {
            double value = memory.getAtIndex(ValueLayout.JAVA_FLOAT, i);
            memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (scale * value));
        }
    }

    /** Raw, as this goes over the whole model: libtorch's gradients lie in one piece. */
    private static MemorySegment memory(TensorView gradient) {
        if (gradient.type() != ElementType.FLOAT32 || !gradient.contiguous()) {
            throw new IllegalArgumentException("a gradient is " + gradient + ": it must be float32, in one piece");
        }
        return gradient.segment();
    }
}
