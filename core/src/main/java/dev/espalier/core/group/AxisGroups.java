package dev.espalier.core.group;

import dev.espalier.core.check.Check;
import java.util.Arrays;
import java.util.List;

/**
 * The groups of a tensor seen as {@code [outer, count, inner]}, one group for every place along the middle axis.
 *
 * <p>Group {@code g} holds the weights {@code (a, g, b)} for all {@code a} and {@code b}. This covers, without copying:
 *
 * <table>
 * <caption>Groups of common layers</caption>
 * <tr><th>layer</th><th>groups</th><th>view</th></tr>
 * <tr><td>convolution (out, in, kh, kw)</td><td>input channels</td><td>{@code [out, in, kh·kw]}</td></tr>
 * <tr><td>linear (out, in)</td><td>all weights that leave one input</td><td>{@code [out, in, 1]}</td></tr>
 * <tr><td>any (out, …)</td><td>filters or neurons</td><td>{@code [1, out, rest]}</td></tr>
 * <tr><td>any</td><td>single weights</td><td>{@code [1, size, 1]}</td></tr>
 * </table>
 *
 * @param outer extent of everything before the groups' axis
 * @param count number of groups
 * @param inner extent of everything after the groups' axis
 */
public record AxisGroups(int outer, int count, int inner) implements Groups {

    /** Checks the extents. */
    public AxisGroups {
        Check.atLeast("outer", outer, 1);
        Check.atLeast("count", count, 1);
        Check.atLeast("inner", inner, 1);
        Check.atMost(
                "outer * inner of [%d, %d, %d]".formatted(outer, count, inner),
                (long) outer * inner,
                Integer.MAX_VALUE);
    }

    /**
     * {@return one group for every place along an axis}
     *
     * @param axis the groups' axis, from 0
     * @param shape the tensor's shape
     */
    public static AxisGroups along(int axis, long... shape) {
        if (axis < 0 || axis >= shape.length) {
            throw new IllegalArgumentException("axis = %d is out of range: a tensor of shape %s has axes 0 to %d"
                    .formatted(axis, Arrays.toString(shape), shape.length - 1));
        }
        return new AxisGroups(
                product(shape, 0, axis), product(shape, axis, axis + 1), product(shape, axis + 1, shape.length));
    }

    /**
     * Every weight a group of its own: the unstructured case.
     *
     * @param shape the tensor's shape
     * @return the groups
     */
    public static AxisGroups single(long... shape) {
        return new AxisGroups(1, product(shape, 0, shape.length), 1);
    }

    private static int product(long[] shape, int from, int to) {
        long product = 1;
        for (int axis = from; axis < to; axis++) {
            long high = Math.multiplyHigh(product, shape[axis]);
            product = high != 0 ? Long.MAX_VALUE : product * shape[axis];
            Check.atMost("extent of shape " + Arrays.toString(shape), product, Integer.MAX_VALUE);
        }
        return (int) product;
    }

    @Override
    public int size(int group) {
        return outer * inner;
    }

    @Override
    public List<Long> tensorSizes() {
        return List.of((long) outer * count * inner);
    }

    @Override
    public void forEach(int group, PlaceVisitor visitor) {
        for (long a = 0; a < outer; a++) {
            long start = (a * count + group) * inner;
            for (int b = 0; b < inner; b++) {
                visitor.visit(0, start + b);
            }
        }
    }
}
