package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a tensor before anything is run: its type and, for a few whole numbers that came from shapes, the
 * numbers themselves, each known or symbolic.
 *
 * @param type its type
 * @param elements its contents in row-major order; null if they are not known
 */
public record Fact(TensorType type, @Nullable List<Dimension> elements) {
    /** Shape arithmetic is on a handful of numbers: longer tensors are data. */
    private static final int MOST_ELEMENTS = 64;

    /** Keeps no more than a handful of elements. */
    public Fact {
        if (elements != null) {
            elements = elements.size() > MOST_ELEMENTS ? null : List.copyOf(elements);
        }
    }

    /**
     * {@return a tensor whose contents are not known}
     *
     * @param data how its numbers are stored
     * @param shape its shape
     */
    public static Fact of(DataType data, Shape shape) {
        return of(new TensorType(data, shape));
    }

    /**
     * {@return a tensor whose contents are not known}
     *
     * @param type its type
     */
    public static Fact of(TensorType type) {
        return new Fact(type, null);
    }

    /**
     * {@return a constant}
     *
     * @param tensor its contents
     */
    public static Fact of(Tensor tensor) {
        boolean small = !tensor.type().isFloat() && tensor.size() <= MOST_ELEMENTS;
        return new Fact(
                tensor.tensorType(),
                small
                        ? LongStream.range(0, tensor.size())
                                .mapToObj(i -> Dimension.of(tensor.getLong(i)))
                                .toList()
                        : null);
    }

    /**
     * A list of numbers from shapes.
     *
     * @param elements the numbers
     * @return the fact of a tensor of one axis
     */
    public static Fact ofElements(List<Dimension> elements) {
        return new Fact(new TensorType(DataType.INT64, Shape.of(elements.size())), elements);
    }

    /**
     * The shape.
     *
     * @return of its type
     */
    public Shape shape() {
        return type.shape();
    }

    /**
     * How its numbers are stored.
     *
     * @return of its type
     */
    public DataType data() {
        return type.data();
    }

    /**
     * {@return the same contents seen in another shape}
     *
     * @param shape the shape
     */
    public Fact reshaped(Shape shape) {
        return new Fact(type.with(shape), elements);
    }

    /**
     * The contents as a constant, if every number is known.
     *
     * @return the constant; null if something is not known, or if the numbers have fractions
     */
    public @Nullable Tensor constant() {
        if (elements == null
                || data().isFloat()
                || !shape().isKnown()
                || !elements.stream().allMatch(Dimension::isKnown)) {
            return null;
        }
        List<Dimension> known = elements;
        return Tensor.computeLongs(
                data(), shape().lengths(), i -> known.get((int) i).value());
    }
}
