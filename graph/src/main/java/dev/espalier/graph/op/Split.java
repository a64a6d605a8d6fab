package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * A tensor cut into pieces; one output a piece.
 *
 * @param axis along which axis; negative ones count from the end
 * @param sizes the lengths of the pieces
 */
public record Split(long axis, List<Long> sizes) implements Operator {

    /** Takes a copy, and checks the lengths. */
    public Split {
        sizes = List.copyOf(sizes);
        Operands.require(
                !sizes.isEmpty() && sizes.stream().allMatch(size -> size >= 0),
                "sizes " + sizes + " must be at least one, none below 0");
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape shape = inputs.shape(0);
        Operands.requireSame(
                "the length and the sum of the pieces " + sizes,
                shape.get(axis),
                Dimension.of(sizes.stream().reduce(0L, Math::addExact)));
        return sizes.stream()
                .map(size -> Fact.of(inputs.data(0), shape.with(axis, Dimension.of(size))))
                .toList();
    }
}
