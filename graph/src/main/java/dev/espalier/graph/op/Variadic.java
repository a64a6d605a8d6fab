package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * A function of any number of numbers, applied to the elements of tensors that are broadcast to each other.
 *
 * @param function which one
 */
public record Variadic(Function function) implements Operator {

    /** The functions, under ONNX's names. */
    public enum Function {
        /** The sum. */
        SUM("Sum"),
        /** The mean. */
        MEAN("Mean"),
        /** The smallest. */
        MINIMUM("Min"),
        /** The largest. */
        MAXIMUM("Max");

        private final String label;

        Function(String label) {
            this.label = label;
        }
    }

    @Override
    public String label() {
        return function.label;
    }

    @Override
    public int mostInputs() {
        return Integer.MAX_VALUE;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, function == Function.SUM || function == Function.MEAN ? Types.FLOATS : Types.NUMBERS);
        Shape shape = inputs.shape(0);
        for (int i = 1; i < inputs.count(); i++) {
            Operands.require(
                    inputs.data(i) == inputs.data(0),
                    "inputs of types " + inputs.data(0) + " and " + inputs.data(i) + " cannot be combined");
            shape = shape.broadcast(inputs.shape(i));
        }
        return List.of(Fact.of(inputs.data(0), shape));
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(inputs.count());
    }
}
