package dev.espalier.graph.op;

import java.util.List;

/**
 * Matrices, in the last two axes, with zeros above or below a diagonal.
 *
 * @param upper true to keep what is on and above it, false to keep what is on and below it
 * @param diagonal which one: 0 for the main diagonal, above it if positive
 */
public record Trilu(boolean upper, long diagonal) implements Operator {

    @Override
    public List<Fact> infer(Operands inputs) {
        Operands.require(inputs.shape(0).rank() >= 2, "input of shape " + inputs.shape(0) + " is no matrix");
        return List.of(Fact.of(inputs.get(0).type()));
    }
}
