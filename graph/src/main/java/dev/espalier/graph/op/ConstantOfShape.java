package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.Collections;
import java.util.List;

/**
 * One number, as often as a shape says. Input: the shape.
 *
 * @param value the number
 */
public record ConstantOfShape(Tensor value) implements Operator {

    /** Checks that it is one number. */
    public ConstantOfShape {
        Operands.require(value.size() == 1, "the value must be one number but is " + value);
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        List<Dimension> lengths = inputs.elements(0);
        if (lengths == null) {
            return List.of(
                    Fact.of(value.type(), inputs.unknownShape(inputs.shape(0).get(0))));
        }
        Operands.require(
                lengths.stream().allMatch(length -> !length.isKnown() || length.value() >= 0),
                "shape " + lengths + " has a negative length");
        Shape shape = new Shape(lengths);
        Dimension count = shape.size();
        boolean small = count.isKnown() && count.value() <= 64 && !value.type().isFloat();
        return List.of(new Fact(
                new TensorType(value.type(), shape),
                small ? Collections.nCopies((int) count.value(), Dimension.of(value.getLong(0))) : null));
    }
}
