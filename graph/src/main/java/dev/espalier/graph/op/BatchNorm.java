package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Dimension;
import java.util.List;

/**
 * {@code (x − mean) / √(variance + epsilon) · scale + shift} for each channel, the second axis. Inputs: x, scale, shift,
 * mean, variance. In training, mean and variance are the batch's, and the given ones follow them slowly.
 *
 * @param epsilon keeps the root away from zero
 * @param momentum the share of the given mean and variance that stays when a batch is seen, as ONNX counts it
 */
public record BatchNorm(double epsilon, double momentum) implements Operator {

    /** Checks both numbers. */
    public BatchNorm {
        Check.notNegative("epsilon", epsilon);
        Check.finite("momentum", momentum);
    }

    @Override
    public String label() {
        return "BatchNormalization";
    }

    @Override
    public int leastInputs() {
        return 5;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        Operands.require(inputs.shape(0).rank() >= 2, "input of shape " + inputs.shape(0) + " has no channels");
        for (int i = 1; i < 5; i++) {
            inputs.requireRank(i, 1);
            Operands.requireSame(
                    "channels of inputs 0 and " + i,
                    inputs.shape(0).get(1),
                    inputs.shape(i).get(0));
        }
        return List.of(Fact.of(inputs.get(0).type()));
    }

    /** As it is served: one product and one sum, once the statistics are folded. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(2);
    }
}
