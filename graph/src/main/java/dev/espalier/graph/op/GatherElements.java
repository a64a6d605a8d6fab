package dev.espalier.graph.op;

import java.util.List;

/**
 * Picks one element for each index, along an axis; all other positions are the index's own. Inputs: the tensor, the
 * indices.
 *
 * @param axis along which axis; negative ones count from the end
 */
public record GatherElements(long axis) implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.shape(0).axis(axis);
        inputs.requireRank(1, inputs.shape(0).rank());
        Operands.require(inputs.data(1).isInteger(), "indices of type " + inputs.data(1) + " must be whole numbers");
        return List.of(Fact.of(inputs.data(0), inputs.shape(1)));
    }
}
