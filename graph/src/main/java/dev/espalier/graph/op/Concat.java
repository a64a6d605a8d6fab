package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tensors one behind the other.
 *
 * @param axis along which axis; negative ones count from the end
 */
public record Concat(long axis) implements Operator {

    @Override
    public int mostInputs() {
        return Integer.MAX_VALUE;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape first = inputs.shape(0);
        int along = first.axis(axis);
        Shape shape = first;
        for (int i = 1; i < inputs.count(); i++) {
            inputs.requireRank(i, first.rank());
            Operands.require(
                    inputs.data(i) == inputs.data(0),
                    "inputs of types " + inputs.data(0) + " and " + inputs.data(i) + " cannot be joined");
            for (int other = 0; other < first.rank(); other++) {
                if (other != along) {
                    Operands.requireSame(
                            "lengths of inputs 0 and " + i + " along axis " + other,
                            first.get(other),
                            inputs.shape(i).get(other));
                    // One input may know a length that the first does not.
                    if (!shape.get(other).isKnown()) {
                        shape = shape.with(
                                other,
                                inputs.shape(i).get(other).isKnown()
                                        ? inputs.shape(i).get(other)
                                        : shape.get(other));
                    }
                }
            }
            shape = shape.with(along, shape.get(along).plus(inputs.shape(i).get(along)));
        }
        return List.of(new Fact(new TensorType(inputs.data(0), shape), elements(inputs)));
    }

    private static @Nullable List<Dimension> elements(Operands inputs) {
        List<Dimension> all = new ArrayList<>();
        for (int i = 0; i < inputs.count(); i++) {
            List<Dimension> elements = inputs.elements(i);
            if (elements == null || inputs.shape(i).rank() != 1) {
                return null;
            }
            all.addAll(elements);
        }
        return all;
    }
}
