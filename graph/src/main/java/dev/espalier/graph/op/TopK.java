package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * The largest or smallest elements along an axis, the first of equal ones first, and their positions. Inputs: the tensor, how
 * many.
 *
 * @param axis the axis
 * @param largest false for the smallest
 */
public record TopK(long axis, boolean largest) implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.NUMBERS);
        Shape input = inputs.shape(0);
        List<Dimension> count = inputs.elements(1);
        Operands.require(
                count == null || count.size() == 1, "the number of elements must be one number but is " + count);
        Dimension length = count == null ? inputs.unknown("count") : count.getFirst();
        Dimension whole = input.get(axis);
        Operands.require(
                !length.isKnown() || (length.value() >= 0 && (!whole.isKnown() || length.value() <= whole.value())),
                "the number of elements, " + length + ", must be in [0, " + whole + "]");
        Shape shape = input.with(axis, length);
        return List.of(Fact.of(inputs.data(0), shape), Fact.of(DataType.INT64, shape));
    }
}
