package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.Collections;
import java.util.List;

/** A tensor broadcast to a shape. Inputs: the tensor, the shape. */
public record Expand() implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        List<Dimension> target = inputs.elements(1);
        if (target == null) {
            return List.of(
                    Fact.of(inputs.data(0), inputs.unknownShape(inputs.shape(1).get(0))));
        }
        Operands.require(
                target.stream().allMatch(length -> !length.isKnown() || length.value() >= 0),
                "shape " + target + " has a negative length");
        Shape shape = inputs.shape(0).broadcast(new Shape(target));
        List<Dimension> elements = inputs.elements(0);
        boolean copies = elements != null && elements.size() == 1 && shape.isKnown();
        Dimension count = shape.size();
        return List.of(new Fact(
                new TensorType(inputs.data(0), shape),
                copies && elements != null && count.value() <= 64
                        ? Collections.nCopies((int) count.value(), elements.getFirst())
                        : null));
    }
}
