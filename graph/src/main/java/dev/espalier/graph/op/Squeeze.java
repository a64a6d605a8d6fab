package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;
import java.util.SortedSet;

/**
 * Drops axes of length one.
 *
 * @param axes which axes; negative ones count from the end
 */
public record Squeeze(List<Long> axes) implements Operator {

    /** Takes a copy. */
    public Squeeze {
        axes = List.copyOf(axes);
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        SortedSet<Integer> dropped = Axes.resolve(axes, input.rank());
        for (int axis : dropped) {
            Operands.requireSame(
                    "the length of axis " + axis + " of " + input + " and one", input.get(axis), Dimension.ONE);
        }
        return List.of(inputs.get(0).reshaped(Axes.collapse(input, dropped, false)));
    }
}
