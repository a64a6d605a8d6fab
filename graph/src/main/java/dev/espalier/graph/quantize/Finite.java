package dev.espalier.graph.quantize;

import dev.espalier.graph.type.Tensor;

/** Whether numbers are finite: others have no code. */
final class Finite {
    private Finite() {}

    static boolean all(Tensor tensor) {
        for (long i = 0; i < tensor.size(); i++) {
            if (!Double.isFinite(tensor.getDouble(i))) {
                return false;
            }
        }
        return true;
    }
}
