package dev.espalier.graph.pass;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a chain of reshapes and transpositions does, in one step: axes are cut into factors, the factors change places, and
 * neighbours are joined to axes again. An axis of length one has no factor.
 *
 * @param from for each axis of the input, what it is cut into
 * @param to for each axis of the output, what it is joined from
 */
record Rearrangement(List<List<Factor>> from, List<List<Factor>> to) {

    /**
     * A part of an axis.
     *
     * @param number tells it from factors that are equally long
     * @param length how long it is
     */
    record Factor(int number, Dimension length) {}

    Rearrangement {
        from = from.stream().map(List::copyOf).toList();
        to = to.stream().map(List::copyOf).toList();
    }

    /** Everything stays where it is. */
    static Rearrangement of(Shape shape) {
        List<List<Factor>> axes = new ArrayList<>();
        for (Dimension length : shape.dimensions()) {
            axes.add(length.is(1) ? List.of() : List.of(new Factor(axes.size(), length)));
        }
        return new Rearrangement(axes, axes);
    }

    /** The same with axes in another order. */
    Rearrangement transposed(List<Long> permutation) {
        return new Rearrangement(
                from, permutation.stream().map(axis -> to.get(axis.intValue())).toList());
    }

    /** The same, counted otherwise; null if symbols hide how axes are cut. */
    @Nullable
    Rearrangement reshaped(Shape shape) {
        if (shape.dimensions().stream().anyMatch(length -> length.is(0))) {
            return null; // of nothing there are no parts
        }
        Rearrangement result = this;
        List<List<Factor>> axes = new ArrayList<>();
        List<Factor> left = new ArrayList<>(flat(to));
        for (Dimension length : shape.dimensions()) {
            List<Factor> axis = new ArrayList<>();
            Dimension rest = length;
            while (!rest.is(1)) {
                if (left.isEmpty()) {
                    return null;
                }
                Factor next = left.removeFirst();
                if (isPart(next.length(), rest)) {
                    axis.add(next);
                    rest = rest.dividedBy(next.length());
                } else if (isPart(rest, next.length())) {
                    Factor first = new Factor(result.unused(), rest);
                    Factor second = new Factor(first.number() + 1, next.length().dividedBy(rest));
                    result = result.cut(next, first, second);
                    axis.add(first);
                    left.addFirst(second);
                    rest = Dimension.ONE;
                } else {
                    return null;
                }
            }
            axes.add(axis);
        }
        return left.isEmpty() ? new Rearrangement(result.from, axes) : null;
    }

    /** Whether a length is a true divisor of another: a rounded quotient times it is not the dividend again. */
    private static boolean isPart(Dimension part, Dimension whole) {
        return part.equals(whole)
                || (!part.is(0) && whole.dividedBy(part).times(part).equals(whole));
    }

    private int unused() {
        return Stream.concat(flat(from).stream(), flat(to).stream())
                        .mapToInt(Factor::number)
                        .max()
                        .orElse(-1)
                + 1;
    }

    private Rearrangement cut(Factor whole, Factor first, Factor second) {
        return new Rearrangement(cut(from, whole, first, second), cut(to, whole, first, second));
    }

    private static List<List<Factor>> cut(List<List<Factor>> axes, Factor whole, Factor first, Factor second) {
        return axes.stream()
                .map(axis -> axis.stream()
                        .flatMap(factor -> factor.equals(whole) ? Stream.of(first, second) : Stream.of(factor))
                        .toList())
                .toList();
    }

    /** The same for a piece of one factor's length. */
    Rearrangement with(Factor factor, Dimension length) {
        return new Rearrangement(with(from, factor, length), with(to, factor, length));
    }

    private static List<List<Factor>> with(List<List<Factor>> axes, Factor factor, Dimension length) {
        return axes.stream()
                .map(axis -> axis.stream()
                        .filter(one -> !one.equals(factor) || !length.is(1))
                        .map(one -> one.equals(factor) ? new Factor(factor.number(), length) : one)
                        .toList())
                .toList();
    }

    /** The same without an axis of length one of its output. */
    Rearrangement without(int axis) {
        List<List<Factor>> fewer = new ArrayList<>(to);
        fewer.remove(axis);
        return new Rearrangement(from, fewer);
    }

    /** The shape in which every factor is an axis, in the order of the input. */
    Shape cutShape() {
        return new Shape(flat(from).stream().map(Factor::length).toList());
    }

    /** From the order of the input's factors to that of the output's. */
    List<Long> permutation() {
        List<Factor> order = flat(from);
        return flat(to).stream().map(factor -> (long) order.indexOf(factor)).toList();
    }

    /** Whether factors stay in their order, so that axes are only counted otherwise. */
    boolean isInOrder() {
        return flat(from).equals(flat(to));
    }

    /** Whether the output is the input. */
    boolean isNothing() {
        return isInOrder() && inputShape().equals(outputShape());
    }

    /** The shape in which every factor is an axis, in the order of the output. */
    Shape movedShape() {
        return new Shape(flat(to).stream().map(Factor::length).toList());
    }

    Shape inputShape() {
        return joined(from);
    }

    Shape outputShape() {
        return joined(to);
    }

    private static Shape joined(List<List<Factor>> axes) {
        return new Shape(axes.stream()
                .map(axis -> axis.stream().map(Factor::length).reduce(Dimension.ONE, Dimension::times))
                .toList());
    }

    private static List<Factor> flat(List<List<Factor>> axes) {
        return axes.stream().flatMap(List::stream).toList();
    }
}
