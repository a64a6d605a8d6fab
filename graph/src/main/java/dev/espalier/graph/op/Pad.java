package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * A tensor with elements added, or cut off where a number is negative, on its sides. Elements are cut off first: what is added
 * comes from what is left.
 *
 * @param mode what the added elements are
 * @param pads how many before each axis, then how many after each axis
 * @param value what they are in constant mode
 */
public record Pad(Mode mode, List<Long> pads, double value) implements Operator {

    /** What added elements are. */
    public enum Mode {
        /** A given number. */
        CONSTANT,
        /** The tensor mirrored at its first and last element, which are not repeated. */
        REFLECT,
        /** The first or last element again. */
        EDGE,
        /** The tensor from its other side. */
        WRAP
    }

    /** Takes a copy. */
    public Pad {
        pads = List.copyOf(pads);
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        int rank = input.rank();
        Operands.require(pads.size() == 2 * rank, "pads " + pads + " must be two for each axis of " + input);
        List<Dimension> shape = new ArrayList<>();
        for (int axis = 0; axis < rank; axis++) {
            Dimension length = input.get(axis).plus(Math.addExact(pads.get(axis), pads.get(axis + rank)));
            Operands.require(!length.isKnown() || length.value() >= 0, "pads " + pads + " cut off more than " + input);
            boolean adds = pads.get(axis) > 0 || pads.get(axis + rank) > 0;
            Dimension kept = input.get(axis).plus(Math.min(pads.get(axis), 0)).plus(Math.min(pads.get(axis + rank), 0));
            Operands.require(
                    mode == Mode.CONSTANT || !adds || !kept.isKnown() || kept.value() > 0,
                    "axis %d of %s has no element to pad with in mode %s, after pads %s have cut it"
                            .formatted(axis, input, mode, pads));
            shape.add(length);
        }
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }
}
