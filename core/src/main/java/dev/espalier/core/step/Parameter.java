package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import java.util.Arrays;

/**
 * A tensor of weights by name and shape. Its memory is lent to every step anew.
 *
 * @param name unique in the model
 * @param size number of weights
 */
public record Parameter(String name, long size) {

    /** Checks the size. */
    public Parameter {
        Check.atLeast("size of " + name, size, 1);
    }

    /**
     * {@return a parameter of a given shape}
     *
     * @param name unique in the model
     * @param shape its shape
     */
    public static Parameter of(String name, long... shape) {
        return new Parameter(name, Arrays.stream(shape).reduce(1, Math::multiplyExact));
    }
}
