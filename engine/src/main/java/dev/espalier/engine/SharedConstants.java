package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.type.Tensor;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;

/** The constants of a network's graphs, each an array once, however many plans read it; made when it is first read. */
final class SharedConstants {
    private final PtNDManager manager;

    /** By the tensor itself: contents are not compared. Plans may be made on several threads. */
    private final Map<Tensor, PtNDArray> arrays = Collections.synchronizedMap(new IdentityHashMap<>());

    /**
     * None so far.
     *
     * @param manager will own the arrays
     */
    SharedConstants(PtNDManager manager) {
        this.manager = manager;
    }

    PtNDArray array(Tensor constant) {
        return arrays.computeIfAbsent(constant, contents -> Tensors.upload(manager, contents));
    }
}
