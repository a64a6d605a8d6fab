package dev.espalier.graph.type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The lengths of a tensor along its axes.
 *
 * @param dimensions one for each axis; none for a scalar
 */
public record Shape(List<Dimension> dimensions) {
    /** The shape of a single number. */
    public static final Shape SCALAR = new Shape(List.of());

    /** Takes a copy. */
    public Shape {
        dimensions = List.copyOf(dimensions);
    }

    /**
     * {@return a shape of known lengths}
     *
     * @param lengths one for each axis
     */
    public static Shape ofLengths(long... lengths) {
        return new Shape(Arrays.stream(lengths).mapToObj(Dimension::of).toList());
    }

    /**
     * {@return a shape of lengths and names}
     *
     * @param lengths for each axis a {@link Dimension}, a whole number, or the name of a symbol
     */
    public static Shape of(Object... lengths) {
        return new Shape(Arrays.stream(lengths).map(Shape::dimension).toList());
    }

    private static Dimension dimension(Object length) {
        return switch (length) {
            case Dimension dimension -> dimension;
            case Number number -> Dimension.of(number.longValue());
            case String name -> Dimension.symbol(name);
            default ->
                throw new IllegalArgumentException(
                        length + " is no dimension: give a Dimension, a whole number or a symbol's name");
        };
    }

    /**
     * Number of axes.
     *
     * @return how many
     */
    public int rank() {
        return dimensions.size();
    }

    /**
     * Length along an axis.
     *
     * @param axis which axis; negative ones count from the end
     * @return the length
     */
    public Dimension get(long axis) {
        return dimensions.get(axis(axis));
    }

    /**
     * {@return an axis as an index from the front}
     *
     * @param axis which axis; negative ones count from the end
     */
    public int axis(long axis) {
        return axis(axis, rank());
    }

    /**
     * {@return an axis as an index from the front}
     *
     * @param axis which axis; negative ones count from the end
     * @param rank how many axes there are
     */
    public static int axis(long axis, int rank) {
        if (axis < -rank || axis >= rank) {
            throw new IllegalArgumentException("axis %d is out of range: it must be in [%d, %d) for a tensor of rank %d"
                    .formatted(axis, -rank, rank, rank));
        }
        return (int) (axis < 0 ? axis + rank : axis);
    }

    /**
     * Number of elements.
     *
     * @return the product of all lengths
     */
    public Dimension size() {
        return dimensions.stream().reduce(Dimension.ONE, Dimension::times);
    }

    /**
     * Whether every length is a number.
     *
     * @return true if no symbol is left
     */
    public boolean isKnown() {
        return dimensions.stream().allMatch(Dimension::isKnown);
    }

    /**
     * The lengths as numbers.
     *
     * @return one for each axis
     * @throws IllegalStateException if one is not known
     */
    public long[] lengths() {
        return dimensions.stream().mapToLong(Dimension::value).toArray();
    }

    /**
     * {@return the same with another length along one axis}
     *
     * @param axis which axis; negative ones count from the end
     * @param length its new length
     */
    public Shape with(long axis, Dimension length) {
        List<Dimension> changed = new ArrayList<>(dimensions);
        changed.set(axis(axis), length);
        return new Shape(changed);
    }

    /**
     * The shape that two shapes broadcast to: aligned at the last axis, ones are stretched.
     *
     * @param other the other shape
     * @return the common shape
     */
    public Shape broadcast(Shape other) {
        int rank = Math.max(rank(), other.rank());
        List<Dimension> common = new ArrayList<>(Collections.nCopies(rank, Dimension.ONE));
        for (int axis = 0; axis < rank; axis++) {
            common.set(axis, broadcast(other, alignedAt(axis, rank), other.alignedAt(axis, rank)));
        }
        return new Shape(common);
    }

    private Dimension alignedAt(int axis, int rank) {
        int own = axis - (rank - rank());
        return own < 0 ? Dimension.ONE : dimensions.get(own);
    }

    private Dimension broadcast(Shape other, Dimension left, Dimension right) {
        if (left.equals(right) || right.is(1)) {
            return left;
        }
        if (left.is(1)) {
            return right;
        }
        if (left.isKnown() && right.isKnown()) {
            throw new IllegalArgumentException("shapes " + this + " and " + other + " do not broadcast: " + left
                    + " and " + right + " differ and neither is 1");
        }
        // A symbol beside a number above one: at run time it is that number, or one.
        return left.isKnown() ? left : right.isKnown() ? right : left.common(right);
    }

    /**
     * Whether the last axis becomes two, as of channels that are dealt out to heads.
     *
     * @param other the shape that the same elements have after
     * @return true if the other's last two axes are as long together as the last one of this; what lies before is not looked at
     */
    public boolean isCutInto(Shape other) {
        if (rank() == 0 || other.rank() < 2) {
            return false;
        }
        Dimension whole = get(-1);
        Dimension parts = other.get(-2);
        Dimension each = other.get(-1);
        return whole.isKnown() && parts.isKnown() && each.isKnown() && parts.value() * each.value() == whole.value();
    }

    @Override
    public String toString() {
        return dimensions.stream().map(Dimension::toString).collect(Collectors.joining(" × ", "[", "]"));
    }
}
