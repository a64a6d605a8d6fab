package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Adds axes of length one.
 *
 * @param axes where they are in the output; negative ones count from its end
 */
public record Unsqueeze(List<Long> axes) implements Operator {

    /** Takes a copy. */
    public Unsqueeze {
        axes = List.copyOf(axes);
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        List<Dimension> shape = new ArrayList<>(input.dimensions());
        for (int axis : Axes.resolve(axes, input.rank() + axes.size())) {
            shape.add(axis, Dimension.ONE);
        }
        return List.of(inputs.get(0).reshaped(new Shape(shape)));
    }
}
