package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import java.util.List;

/**
 * {@code eˣ / Σ eˣ} along an axis.
 *
 * @param axis which axis; negative ones count from the end
 * @param logarithm true for its logarithm
 */
public record Softmax(long axis, boolean logarithm) implements Operator {

    @Override
    public String label() {
        return logarithm ? "LogSoftmax" : "Softmax";
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        inputs.shape(0).axis(axis);
        return List.of(Fact.of(inputs.get(0).type()));
    }

    /** Largest, difference, exponential, sum, quotient: five an element. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(5);
    }
}
