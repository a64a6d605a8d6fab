package dev.espalier.graph.op;

import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * The same elements as a matrix.
 *
 * @param axis how many axes make up its rows; negative numbers count from the end
 */
public record Flatten(long axis) implements Operator {

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        int cut = axis == input.rank() ? input.rank() : input.axis(axis);
        Shape rows = new Shape(input.dimensions().subList(0, cut));
        Shape columns = new Shape(input.dimensions().subList(cut, input.rank()));
        return List.of(inputs.get(0).reshaped(Shape.of(rows.size(), columns.size())));
    }
}
