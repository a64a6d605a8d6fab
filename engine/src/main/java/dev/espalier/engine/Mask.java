package dev.espalier.engine;

import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.graph.type.Tensor;
import java.util.Optional;

/**
 * What a parameter is multiplied with where it is, so that some places along an axis are zero. To a GPU goes one factor for each place;
 * it makes one for each weight of them, so that multiplying takes it no longer than it must.
 */
final class Mask implements AutoCloseable {
    private final AxisGroups axis;
    private final PtNDArray factors;
    private Optional<ZeroPlaces> known = Optional.empty();

    /**
     * What a mask is for.
     *
     * @param parameter a parameter's name
     * @param axis how it is seen
     */
    record Key(String parameter, AxisGroups axis) {}

    /** A mask that is still to be {@link #set}. */
    Mask(PtNDManager manager, PtNDArray parameter, AxisGroups axis) {
        this.axis = axis;
        factors = JniUtils.createZerosNdArray(
                manager, parameter.getShape(), parameter.getDataType(), parameter.getDevice(), SparseFormat.DENSE);
        NDScope.unregister(factors);
    }

    /** Chooses the places; nothing is done if they are the same as before. */
    void set(ZeroPlaces places) {
        if (known.equals(Optional.of(places))) {
            return;
        }
        try (PtNDManager scratch = factors.getManager().newSubManager(factors.getDevice());
                NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            Tensor numbers = Tensor.of(places.factors(), 1, axis.count(), 1);
            PtNDArray each = Tensors.upload(scratch, numbers.cast(Tensors.type(factors.getDataType())));
            long[] seen = {axis.outer(), axis.count(), axis.inner()};
            JniUtils.indexSet(JniUtils.reshape(factors, seen), each, new long[3], seen, new long[] {1, 1, 1});
        }
        known = Optional.of(places);
    }

    void apply(PtNDArray parameter) {
        JniUtils.muli(parameter, factors);
    }

    @Override
    public void close() {
        factors.close();
    }
}
