package dev.espalier.graph.prune;

/**
 * What pruning does to a layer with weights.
 *
 * @param name the name of its node
 * @param operator what it is
 * @param inputsBefore number of input channels
 * @param inputsAfter number of those that are left
 * @param outputsBefore number of output channels
 * @param outputsAfter number of those that are left
 * @param weightsBefore number of weights, biases not counted
 * @param weightsAfter number of those that are left
 * @param why what was found, in words; empty if nothing changes
 */
public record LayerPlan(
        String name,
        String operator,
        int inputsBefore,
        int inputsAfter,
        int outputsBefore,
        int outputsAfter,
        long weightsBefore,
        long weightsAfter,
        String why) {

    /**
     * Whether the layer gets smaller.
     *
     * @return false if it stays as it is
     */
    public boolean changes() {
        return weightsAfter != weightsBefore;
    }

    /** The same layer with something else left of it. */
    LayerPlan after(int inputs, int outputs, long weights, String reason) {
        return new LayerPlan(
                name, operator, inputsBefore, inputs, outputsBefore, outputs, weightsBefore, weights, reason);
    }
}
