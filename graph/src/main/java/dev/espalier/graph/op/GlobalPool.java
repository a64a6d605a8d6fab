package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The largest element or the mean of each channel; the axes behind the channels keep a length of one.
 *
 * @param function which of the two
 */
public record GlobalPool(Pool.Function function) implements Operator {

    @Override
    public String label() {
        return function.globalLabel();
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        Shape input = inputs.shape(0);
        Operands.require(input.rank() >= 2, "input of shape " + input + " has no channels");
        List<Dimension> shape = new ArrayList<>(Collections.nCopies(input.rank(), Dimension.ONE));
        shape.set(0, input.get(0));
        shape.set(1, input.get(1));
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return inputs.shape(0).size();
    }
}
