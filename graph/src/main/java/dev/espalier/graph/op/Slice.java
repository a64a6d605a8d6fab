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
    private static final long LONGEST_STRIDE = 1L << 40;

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

    /**
     * What a slice is in all cases, those of free lengths included: both ends are clipped to the tensor.
     *
     * @return null if it cannot be told which side a position counts from
     */
    private static @Nullable Piece piece(int axis, Dimension length, Dimension start, Dimension end, long step) {
        Operands.require(step != 0, "a step of 0");
        boolean forward = step > 0;
        Dimension first = fromFront(start, length);
        Dimension last = isOpen(end) ? (forward ? length : Dimension.of(-1)) : fromFront(end, length);
        if (first == null || last == null) {
            return null;
        }
        Dimension from = clip(first, Dimension.ZERO, forward ? length : length.plus(-1));
        Dimension to = clip(last, Dimension.of(forward ? 0 : -1), forward ? length : length.plus(-1));
        Dimension span = forward ? to.minus(from) : from.minus(to);
        // No tensor is longer than the longest stride, so a longer one would not end elsewhere.
        long stride = Math.abs(Math.clamp(step, -LONGEST_STRIDE, LONGEST_STRIDE));
        Dimension count =
                span.plus(stride - 1).dividedBy(stride).max(Dimension.ZERO).min(length);
        return new Piece(axis, from, step, count);
    }

    /** As far as it goes, in both directions: so ONNX Runtime reads the largest numbers. */
    private static boolean isOpen(Dimension end) {
        return end.is(Integer.MAX_VALUE) || end.is(Long.MAX_VALUE);
    }

    /** A position counted from the front, not clipped yet; null if its sign is only known at run time. */
    private static @Nullable Dimension fromFront(Dimension position, Dimension length) {
        if (position.isKnown() && position.value() <= Integer.MIN_VALUE) {
            return Dimension.of(-1);
        }
        if (position.isKnown() && position.value() >= Integer.MAX_VALUE && !length.isKnown()) {
            return length;
        }
        if (position.isAtLeast(0)) {
            return position;
        }
        return position.isAtMost(-1) ? position.plus(length) : null;
    }

    private static Dimension clip(Dimension position, Dimension least, Dimension most) {
        return position.min(most).max(least);
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
