package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Picks from a tensor along an axis: the shape of the indices takes the axis' place. Inputs: the tensor, the indices. An
 * embedding is this, along axis 0 of a table.
 *
 * @param axis along which axis; negative ones count from the end
 */
public record Gather(long axis) implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        int along = input.axis(axis);
        Operands.require(inputs.data(1).isInteger(), "indices of type " + inputs.data(1) + " must be whole numbers");
        requireInside(inputs.elements(1), input.get(along));
        List<Dimension> shape = new ArrayList<>(input.dimensions().subList(0, along));
        shape.addAll(inputs.shape(1).dimensions());
        shape.addAll(input.dimensions().subList(along + 1, input.rank()));
        return List.of(new Fact(new TensorType(inputs.data(0), new Shape(shape)), elements(inputs)));
    }

    private static void requireInside(@Nullable List<Dimension> indices, Dimension length) {
        if (indices != null && length.isKnown()) {
            for (Dimension index : indices) {
                Operands.require(
                        !index.isKnown() || (index.value() >= -length.value() && index.value() < length.value()),
                        "index " + index + " is out of range for a length of " + length);
            }
        }
    }

    private static @Nullable List<Dimension> elements(Operands inputs) {
        List<Dimension> elements = inputs.elements(0);
        List<Dimension> indices = inputs.elements(1);
        if (elements == null
                || indices == null
                || inputs.shape(0).rank() != 1
                || !indices.stream().allMatch(Dimension::isKnown)) {
            return null;
        }
        return indices.stream()
                .map(index -> elements.get(Shape.axis(index.value(), elements.size())))
                .toList();
    }
}
