package dev.espalier.data;

/**
 * What is done at random to a training row, each time anew: a change is drawn for the row, and then done to its numbers and
 * images, before they are encoded. All columns of a row see the same change, so that an image and its mask stay together.
 */
@FunctionalInterface
public interface Augmentation {
    /** Leaves rows as they are. */
    Augmentation NONE =
            _ -> (field, source, target, offset) -> System.arraycopy(source, 0, target, offset, field.size());

    /** What is done to a row. */
    @FunctionalInterface
    interface Change {
        /**
         * Does it to one column.
         *
         * @param field what the column holds; what the change is not for, it copies
         * @param source the values as they are
         * @param target takes as many values
         * @param offset where the first of them goes
         */
        void apply(Field.Dense field, float[] source, float[] target, int offset);
    }

    /**
     * Draws what is done to a row.
     *
     * @param draws random numbers that belong to the row and the epoch, whoever loads it
     * @return the change
     */
    Change draw(Draws draws);

    /** {@return whether rows may become others; false only if all stay as they are} */
    default boolean changes() {
        return !equals(NONE);
    }

    /**
     * Refuses data that it is not for.
     *
     * @param dataset what is to be augmented
     * @throws IllegalArgumentException if nothing in it can be changed, with what to set
     */
    default void check(Dataset dataset) {}
}
