package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Product of matrices in the last two axes, over the broadcast of the axes before them. */
public record MatMul() implements Operator {

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.WIDE);
        Shape left = inputs.shape(0);
        Shape right = inputs.shape(1);
        Operands.require(
                left.rank() >= 1 && right.rank() >= 1, "shapes " + left + " and " + right + " need at least one axis");
        Operands.requireSame("the inner lengths", left.get(-1), right.get(right.rank() == 1 ? 0 : -2));
        List<Dimension> shape =
                new ArrayList<>(leading(left).broadcast(leading(right)).dimensions());
        if (left.rank() > 1) {
            shape.add(left.get(-2));
        }
        if (right.rank() > 1) {
            shape.add(right.get(-1));
        }
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }

    private static Shape leading(Shape shape) {
        return new Shape(shape.dimensions().subList(0, Math.max(shape.rank() - 2, 0)));
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(inputs.shape(0).get(-1)).times(2);
    }
}
