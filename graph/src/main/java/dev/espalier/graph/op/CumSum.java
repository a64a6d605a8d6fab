package dev.espalier.graph.op;

import java.util.List;

/**
 * For each element the sum of those before it along an axis, itself included.
 *
 * @param axis which axis; negative ones count from the end
 * @param exclusive true to leave the element itself out
 * @param reverse true to sum up those behind it
 */
public record CumSum(long axis, boolean exclusive, boolean reverse) implements Operator {

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.WIDE);
        inputs.shape(0).axis(axis);
        return List.of(Fact.of(inputs.get(0).type()));
    }
}
