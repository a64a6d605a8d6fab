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
 * Arrays of a network side by side in one, such as all gradients: what is done to all of them takes a GPU a few launches then, and not
 * a few for each of them, most of which are over sooner than they are launched.
 */
final class ArrayBlock implements AutoCloseable {
    /** Arrays begin at multiples of this: 256 bytes, as those that libtorch makes one by one. */
    private static final long ALIGNMENT = 64;

    private final PtNDArray all;

    private ArrayBlock(PtNDArray all) {
        this.all = all;
    }

    /**
     * Moves arrays side by side, with what is in them.
     *
     * @param manager owns the block
     * @param arrays as libtorch has them; they have other addresses afterwards
     * @return the block; null if they stay where they are, as there are none, they are not of single precision, or libtorch cannot move
     *     them
     */
    static @Nullable ArrayBlock of(PtNDManager manager, Collection<PtNDArray> arrays) {
        boolean single = arrays.stream().allMatch(array -> array.getDataType() == DataType.FLOAT32);
        if (arrays.isEmpty() || !single || !Torch.shares()) {
            return null;
        }
        long size = 0;
        for (PtNDArray array : arrays) {
            size += room(array);
        }
        PtNDArray all = zeros(manager, size);
        long from = 0;
        for (PtNDArray array : arrays) {
            try (NDScope scope = new NDScope()) {
                scope.suppressNotUsedWarning();
                PtNDArray part =
                        JniUtils.slice(all, 0, from, from + array.getShape().size(), 1);
                Tensors.store(array, part);
                Torch.share(array, JniUtils.reshape(part, array.getShape().getShape()));
            }
            from += room(array);
        }
        return new ArrayBlock(all);
    }

    private static PtNDArray zeros(PtNDManager manager, long size) {
        PtNDArray zeros = JniUtils.createZerosNdArray(
                manager, Tensors.shape(size), DataType.FLOAT32, manager.getDevice(), SparseFormat.DENSE);
        NDScope.unregister(zeros);
        return zeros;
    }

    private static long room(PtNDArray array) {
        return Math.ceilDiv(array.getShape().size(), ALIGNMENT) * ALIGNMENT;
    }

    /** The Euclidean norm of all arrays, as an array of one number; between them there are zeros. */
    PtNDArray norm() {
        return JniUtils.norm(all, 2, new int[] {0}, false);
    }

    /** Multiplies all arrays with one number. */
    void multiply(PtNDArray factor) {
        JniUtils.muli(all, factor);
    }

    void zero() {
        Torch.zero(all);
    }

    /** Room for what is in the arrays. */
    ArrayBlock blank() {
        return new ArrayBlock(zeros(all.getManager(), all.getShape().size()));
    }

    /** Overwrites all arrays by those of another block like this. */
    void store(ArrayBlock other) {
        Tensors.store(other.all, all);
    }

    /** Gives the block up; arrays that lie in it keep its memory. */
    @Override
    public void close() {
        all.close();
    }
}
