package dev.espalier.engine;

import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.torch.Torch;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * All gradients of a network side by side in one array: what is done to all of them takes a GPU a few launches then, and not a few
 * for each of them, most of which are over sooner than they are launched.
 */
final class GradientBlock implements AutoCloseable {
    /** The system property that says whether gradients lie side by side. */
    private static final String SWITCH = "espalier.gradients";

    private static final String APART = "apart";

    /** Gradients begin at multiples of this: 256 bytes, as those that libtorch makes one by one. */
    private static final long ALIGNMENT = 64;

    private final PtNDArray all;

    private GradientBlock(PtNDArray all) {
        this.all = all;
    }

    /**
     * Moves gradients side by side, with what is in them.
     *
     * @param manager owns the array
     * @param gradients as libtorch has them; they have other addresses afterwards
     * @return the array; null if they stay where they are, as they are of several types or libtorch cannot move them
     */
    static @Nullable GradientBlock of(PtNDManager manager, Collection<PtNDArray> gradients) {
        boolean single = gradients.stream().allMatch(gradient -> gradient.getDataType() == DataType.FLOAT32);
        if (gradients.isEmpty() || !single || APART.equals(System.getProperty(SWITCH)) || !Torch.shares()) {
            return null;
        }
        long size = 0;
        for (PtNDArray gradient : gradients) {
            size += room(gradient);
        }
        PtNDArray all = JniUtils.createZerosNdArray(
                manager, Tensors.shape(size), DataType.FLOAT32, manager.getDevice(), SparseFormat.DENSE);
        NDScope.unregister(all);
        long from = 0;
        for (PtNDArray gradient : gradients) {
            try (NDScope scope = new NDScope()) {
                scope.suppressNotUsedWarning();
                PtNDArray part =
                        JniUtils.slice(all, 0, from, from + gradient.getShape().size(), 1);
                Tensors.store(gradient, part);
                Torch.share(gradient, JniUtils.reshape(part, gradient.getShape().getShape()));
            }
            from += room(gradient);
        }
        return new GradientBlock(all);
    }

    private static long room(PtNDArray gradient) {
        return Math.ceilDiv(gradient.getShape().size(), ALIGNMENT) * ALIGNMENT;
    }

    /** The Euclidean norm of all gradients, as an array of one number; between gradients there are zeros. */
    PtNDArray norm() {
        return JniUtils.norm(all, 2, new int[] {0}, false);
    }

    /** Multiplies all gradients with one number. */
    void multiply(PtNDArray factor) {
        JniUtils.muli(all, factor);
    }

    void zero() {
        Torch.zero(all);
    }

    /** Gives the array up; gradients that lie in it keep its memory. */
    @Override
    public void close() {
        all.close();
    }
}
