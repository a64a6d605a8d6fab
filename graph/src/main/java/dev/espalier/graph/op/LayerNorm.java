package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * {@code (x − mean) / √(variance + epsilon) · scale + shift}, mean and variance over the last axes of each element.
 * Inputs: x, scale and, optionally, shift.
 *
 * @param axis the first of the axes that are averaged over; negative ones count from the end
 * @param epsilon keeps the root away from zero
 */
public record LayerNorm(long axis, double epsilon) implements Operator {

    /** Checks epsilon. */
    public LayerNorm {
        Check.notNegative("epsilon", epsilon);
    }

    @Override
    public String label() {
        return "LayerNormalization";
    }

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public int mostInputs() {
        return 3;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        Shape input = inputs.shape(0);
        input.axis(axis);
        for (int i = 1; i < 3; i++) {
            if (inputs.has(i)) {
                inputs.requireBroadcastTo(i, input);
            }
        }
        return List.of(Fact.of(inputs.get(0).type()));
    }

    /** Mean, difference, square, its mean, quotient, scale, shift and root: eight an element. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(8);
    }
}
