package dev.espalier.engine;

import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;

/** The norm of a whole gradient that the processor reaches: in double precision, and without a copy. */
final class GradientNorm {
    private GradientNorm() {}

    /**
     * Scales a gradient so that its norm is at most what is allowed. One that is not finite stays as it is.
     *
     * @param gradients all its parts; scaled in place
     * @param most the largest norm
     */
    static void clip(Collection<TensorView> gradients, double most) {
        double norm = of(gradients);
        if (norm > most && Double.isFinite(norm)) {
            double scale = most / norm;
            gradients.forEach(gradient -> scale(gradient, scale));
        }
    }

    private static double of(Collection<TensorView> gradients) {
        double squares = 0;
        for (TensorView gradient : gradients) {
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
