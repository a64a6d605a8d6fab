package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a tensor. Inputs: the tensor, where it starts, where it ends and, optionally, along which axes and in which
 * steps; negative positions count from the end, and all are clipped.
 */
public record Slice() implements Operator {

    /**
     * A piece along one axis.
     *
     * @param axis which axis, from the front
     * @param start its first position
     * @param step distance of its positions; may be negative
     * @param length how many there are
     */
    public record Piece(int axis, Dimension start, long step, Dimension length) {}

    @Override
    public int leastInputs() {
        return 3;
    }

    @Override
    public int mostInputs() {
        return 5;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        List<Piece> pieces = pieces(inputs);
        Shape shape = inputs.shape(0);
        if (pieces == null) {
            Dimension number = inputs.shape(1).get(0);
            List<Dimension> axes = inputs.has(3) ? inputs.elements(3) : null;
            for (int axis = 0; axis < shape.rank(); axis++) {
                if (touches(axis, shape.rank(), number, axes)) {
                    shape = shape.with(axis, inputs.unknown("length" + axis));
                }
            }
            return List.of(Fact.of(inputs.data(0), shape));
        }
        for (Piece piece : pieces) {
            shape = shape.with(piece.axis(), piece.length());
        }
        return List.of(new Fact(new TensorType(inputs.data(0), shape), elements(inputs, pieces)));
    }

    private static boolean touches(int axis, int rank, Dimension number, @Nullable List<Dimension> axes) {
        if (axes == null) {
            return !number.isKnown() || axis < number.value();
        }
        return axes.stream().anyMatch(named -> !named.isKnown() || Shape.axis(named.value(), rank) == axis);
    }

    /**
     * The pieces, where positions are known well enough to tell their lengths.
     *
     * @param inputs what is known of the inputs
     * @return one for each axis that is cut; null if they depend on what is known only at run time
     */
    public static @Nullable List<Piece> pieces(Operands inputs) {
        Shape shape = inputs.shape(0);
        List<Dimension> starts = inputs.elements(1);
        List<Dimension> ends = inputs.elements(2);
        if (starts == null || ends == null) {
            return null;
        }
        List<Dimension> axes = inputs.has(3)
                ? inputs.elements(3)
                : LongStream.range(0, starts.size()).mapToObj(Dimension::of).toList();
        List<Dimension> steps = inputs.has(4)
                ? inputs.elements(4)
                : starts.stream().map(start -> Dimension.ONE).toList();
        if (axes == null || steps == null) {
            return null;
        }
        Operands.require(
                ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
                "starts, ends, axes and steps must have the same number of elements");
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < starts.size(); i++) {
            int axis = shape.axis(axes.get(i).value());
            Piece piece = piece(
                    axis,
                    shape.get(axis),
                    starts.get(i),
                    ends.get(i),
                    steps.get(i).value());
            if (piece == null) {
                return null;
            }
            pieces.add(piece);
        }
        return pieces;
    }

    private static @Nullable Piece piece(int axis, Dimension length, Dimension start, Dimension end, long step) {
        Operands.require(step != 0, "a step of 0");
        if (length.isKnown() && start.isKnown() && end.isKnown()) {
            long from = clip(start.value(), length.value(), step);
            long to = clip(end.value(), length.value(), step);
            long count = step > 0 ? Math.ceilDiv(to - from, step) : Math.ceilDiv(from - to, -step);
            return new Piece(axis, Dimension.of(from), step, Dimension.of(Math.max(count, 0)));
        }
        if (step != 1) {
            return null;
        }
        Dimension from = fromFront(start, length);
        Dimension to = end.isKnown() && end.value() >= Integer.MAX_VALUE ? length : fromFront(end, length);
        Dimension count = to.minus(from);
        if (to.equals(length) && from.isKnown()) {
            return new Piece(axis, from, 1, count);
        }
        // Models cut where they know there is something to cut, so lengths are taken to be long enough: the first of
        // all tokens is one token, and the first n of 512 positions are n.
        boolean inside = from.isKnown() && !to.isKnown() && (!length.isKnown() || from.is(0));
        return count.isKnown() || inside ? new Piece(axis, from, 1, count) : null;
    }

    private static Dimension fromFront(Dimension position, Dimension length) {
        return position.isKnown() && position.value() < 0 ? length.plus(position) : position;
    }

    private static long clip(long position, long length, long step) {
        long fromFront = position < 0 ? Math.max(position + length, -1) : position;
        return step > 0 ? Math.clamp(fromFront, 0, length) : Math.clamp(fromFront, -1, Math.max(length - 1, -1));
    }

    private static @Nullable List<Dimension> elements(Operands inputs, List<Piece> pieces) {
        List<Dimension> elements = inputs.elements(0);
        if (elements == null || inputs.shape(0).rank() != 1 || pieces.size() != 1) {
            return null;
        }
        Piece piece = pieces.getFirst();
        if (!piece.start().isKnown() || !piece.length().isKnown()) {
            return null;
        }
        return LongStream.range(0, piece.length().value())
                .mapToObj(i -> elements.get((int) (piece.start().value() + i * piece.step())))
                .toList();
    }
}
