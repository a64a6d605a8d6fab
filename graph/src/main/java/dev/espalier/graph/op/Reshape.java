package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The same elements in another shape. Inputs: the tensor, the shape, in which one −1 stands for what is left.
 *
 * @param zeroIsZero true if a 0 in the shape is a length of zero; false if it keeps the input's length there
 */
public record Reshape(boolean zeroIsZero) implements Operator {

    /** The usual one: a 0 keeps the input's length. */
    public static final Reshape DEFAULT = new Reshape(false);

    /**
     * The shape to ask of the usual reshape, in numbers: 0 for a symbolic length that the input has in the same place, and at
     * most one −1.
     *
     * @param from the shape of the input
     * @param to the shape that is wanted
     * @return null if more than one length would have to be −1
     */
    public static @Nullable List<Long> target(Shape from, Shape to) {
        List<Long> target = new ArrayList<>();
        for (int axis = 0; axis < to.rank(); axis++) {
            Dimension length = to.get(axis);
            if (length.isKnown()) {
                target.add(length.value());
            } else if (axis < from.rank() && length.equals(from.get(axis))) {
                target.add(0L);
            } else if (!target.contains(-1L)) {
                target.add(-1L);
            } else {
                return null;
            }
        }
        return target;
    }

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        List<Dimension> target = inputs.elements(1);
        if (target == null) {
            inputs.requireRank(1, 1);
            return List.of(
                    Fact.of(inputs.data(0), inputs.unknownShape(inputs.shape(1).get(0))));
        }
        List<Dimension> shape = new ArrayList<>();
        int open = -1;
        for (int axis = 0; axis < target.size(); axis++) {
            Dimension length = target.get(axis);
            if (length.is(0) && !zeroIsZero) {
                length = input.get(axis);
            } else if (length.is(-1)) {
                Operands.require(open < 0, "shape " + target + " has more than one -1");
                open = axis;
                length = Dimension.ONE;
            }
            Operands.require(
                    !length.isKnown() || length.value() >= 0,
                    "length " + length + " in shape " + target + " is negative");
            shape.add(length);
        }
        Dimension size = new Shape(shape).size();
        if (open >= 0) {
            Operands.require(
                    !size.isKnown() || size.value() != 0, "shape " + target + " does not tell what the -1 stands for");
            shape.set(open, input.size().dividedBy(size));
        }
        Operands.requireSame(
                "the numbers of elements of " + input + " and " + target, input.size(), new Shape(shape).size());
        return List.of(inputs.get(0).reshaped(new Shape(shape)));
    }
}
