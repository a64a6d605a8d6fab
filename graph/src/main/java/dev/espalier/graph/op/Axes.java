package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Arithmetic on lists of axes. */
final class Axes {
    private Axes() {}

    /** Axes as indices from the front, sorted; a doubled one is refused. */
    static SortedSet<Integer> resolve(List<Long> axes, int rank) {
        SortedSet<Integer> resolved = new TreeSet<>();
        for (long axis : axes) {
            Operands.require(resolved.add(Shape.axis(axis, rank)), "axes " + axes + " name an axis twice");
        }
        return resolved;
    }

    /** The shape with some axes set to one, or removed. */
    static Shape collapse(Shape shape, SortedSet<Integer> axes, boolean keep) {
        List<Dimension> left = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (!axes.contains(axis)) {
                left.add(shape.get(axis));
            } else if (keep) {
                left.add(Dimension.ONE);
            }
        }
        return new Shape(left);
    }
}
