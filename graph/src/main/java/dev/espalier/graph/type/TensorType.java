package dev.espalier.graph.type;

import java.util.Locale;

/**
 * The type of a tensor: of its numbers, and its shape.
 *
 * @param data how its numbers are stored
 * @param shape its shape
 */
public record TensorType(DataType data, Shape shape) {

    /**
     * {@return the same numbers in another shape}
     *
     * @param other the shape
     */
    public TensorType with(Shape other) {
        return new TensorType(data, other);
    }

    /**
     * {@return the same shape of other numbers}
     *
     * @param other how they are stored
     */
    public TensorType with(DataType other) {
        return new TensorType(other, shape);
    }

    @Override
    public String toString() {
        return data.name().toLowerCase(Locale.ROOT) + shape;
    }
}
