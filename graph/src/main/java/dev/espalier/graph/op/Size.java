package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.List;

/** The number of elements of a tensor. */
public record Size() implements Operator {

    @Override
    public boolean readsOnlyShape() {
        return true;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        return List.of(new Fact(
                new TensorType(DataType.INT64, Shape.SCALAR),
                List.of(inputs.shape(0).size())));
    }
}
