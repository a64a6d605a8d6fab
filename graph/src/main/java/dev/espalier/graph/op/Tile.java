package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Copies of a tensor side by side. Inputs: the tensor, the number of copies along each axis. */
public record Tile() implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        List<Dimension> copies = inputs.elements(1);
        Operands.require(
                copies == null || copies.stream().allMatch(number -> !number.isKnown() || number.value() >= 0),
                "a negative number of copies: " + copies);
        List<Dimension> shape = new ArrayList<>();
        for (int axis = 0; axis < input.rank(); axis++) {
            Operands.require(copies == null || copies.size() == input.rank(), "one number of copies for each axis");
            shape.add(
                    copies == null
                            ? inputs.unknown("length" + axis)
                            : input.get(axis).times(copies.get(axis)));
        }
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }
}
