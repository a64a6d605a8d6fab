package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import java.util.List;

/**
 * Where along an axis the largest or the smallest element is; the first if there are several.
 *
 * @param largest true for the largest
 * @param axis which axis; negative ones count from the end
 * @param keep true to keep the axis with a length of one
 */
public record ArgReduce(boolean largest, long axis, boolean keep) implements Operator {

    @Override
    public String label() {
        return largest ? "ArgMax" : "ArgMin";
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.NUMBERS);
        return List.of(Fact.of(
                DataType.INT64,
                Axes.collapse(
                        inputs.shape(0),
                        Axes.resolve(List.of(axis), inputs.shape(0).rank()),
                        keep)));
    }
}
