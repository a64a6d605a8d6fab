package dev.espalier.data;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.espalier.core.check.Check;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;

/** Something that every row of a data set has: its name, and what its values mean. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
@JsonSubTypes({
    @JsonSubTypes.Type(value = Field.Numbers.class, name = "numbers"),
    @JsonSubTypes.Type(value = Field.Image.class, name = "image"),
    @JsonSubTypes.Type(value = Field.Date.class, name = "date"),
    @JsonSubTypes.Type(value = Field.Category.class, name = "category"),
    @JsonSubTypes.Type(value = Field.Tokens.class, name = "tokens")
})
public sealed interface Field {
    /**
     * What to call it.
     *
     * @return a name that no other input, or no other target, of the data set has
     */
    String name();

    /** A fixed number of real numbers: what a {@link Column.Numbers} holds. */
    sealed interface Dense extends Field {
        /**
         * The lengths of the axes of one row.
         *
         * @return the lengths; none for a single number
         */
        List<Integer> shape();

        /**
         * How many means and deviations normalise a row: an image has one for a channel, other numbers one for each.
         *
         * @return a number that {@link #size} is a multiple of
         */
        int statistics();

        /**
         * The number of values in a row.
         *
         * @return the product of the lengths
         */
        default int size() {
            return (int) product(shape());
        }
    }

    /**
     * Numbers, as single precision floats; a missing one is NaN.
     *
     * @param name what to call them
     * @param shape the lengths of the axes of one row; none for a single number
     */
    record Numbers(String name, List<Integer> shape) implements Dense {
        /** Checks the lengths. */
        public Numbers {
            shape = List.copyOf(shape);
            requireShape(name, shape);
        }

        /**
         * A single number.
         *
         * @param name what to call it
         */
        public Numbers(String name) {
            this(name, List.of());
        }

        @Override
        public int statistics() {
            return size();
        }
    }

    /**
     * An image, channel by channel, each row by row; intensities from 0 to 1.
     *
     * @param name what to call it
     * @param channels 1 for grey, 3 for red, green, blue
     * @param height in pixels
     * @param width in pixels
     */
    record Image(String name, int channels, int height, int width) implements Dense {
        /** Checks the lengths. */
        public Image {
            requireShape(name, List.of(channels, height, width));
        }

        @Override
        public List<Integer> shape() {
            return List.of(channels, height, width);
        }

        @Override
        public int statistics() {
            return channels;
        }
    }

    /**
     * A date, or a date and a time: days since 1970-01-01, with the time as the fraction, in single precision, which tells times
     * of this century apart to three minutes; NaN where it is missing.
     *
     * @param name what to call it
     * @param zoned whether values have an offset from UTC, and are brought to UTC; otherwise they are as written
     */
    record Date(String name, boolean zoned) implements Dense {
        @Override
        public List<Integer> shape() {
            return List.of();
        }

        @Override
        public int statistics() {
            return 1;
        }
    }

    /**
     * One of some values.
     *
     * @param name what to call it
     * @param values what it can be; a row has an index into this list
     */
    record Category(String name, List<String> values) implements Field {
        /** Checks that the values differ. */
        public Category {
            values = List.copyOf(values);
            Check.atLeast("the number of values of " + name, values.size(), 1);
            if (new HashSet<>(values).size() < values.size()) {
                throw new IllegalArgumentException("%s has a value twice: %s".formatted(name, values));
            }
        }
    }

    /**
     * A sequence of token ids.
     *
     * @param name what to call it
     * @param most how many ids a row has at most
     * @param padding what shorter rows of a batch are filled up with
     * @param texts the names of the columns of texts that the ids were made of, by a tokenizer; none if nobody knows
     * @param fixed whether every batch is filled up to the most, because the model takes so many and no other number; otherwise to
     *     its own longest row
     */
    record Tokens(String name, int most, int padding, List<String> texts, boolean fixed) implements Field {
        /** Checks the length. */
        public Tokens {
            // Null in what older versions wrote down.
            texts = List.copyOf(Objects.requireNonNullElse(texts, List.of()));
            Check.atLeast("the most tokens of " + name, most, 1);
        }

        /**
         * A sequence of any length.
         *
         * @param name what to call it
         * @param most how many ids a row has at most
         * @param padding what shorter rows of a batch are filled up with
         * @param texts the names of the columns of texts that the ids were made of
         */
        public Tokens(String name, int most, int padding, List<String> texts) {
            this(name, most, padding, texts, false);
        }

        /**
         * A sequence of which nobody knows what it was made of.
         *
         * @param name what to call it
         * @param most how many ids a row has at most
         * @param padding what shorter rows of a batch are filled up with
         */
        public Tokens(String name, int most, int padding) {
            this(name, most, padding, List.of());
        }

        /**
         * A sequence that is filled up with zeros.
         *
         * @param name what to call it
         * @param most how many ids a row has at most
         */
        public Tokens(String name, int most) {
            this(name, most, 0);
        }
    }

    private static void requireShape(String name, List<Integer> shape) {
        shape.forEach(length -> Check.atLeast("a length of " + name + ", " + shape + ",", length, 1));
        Check.atMost("the number of values of " + name, product(shape), Integer.MAX_VALUE);
    }

    private static long product(List<Integer> shape) {
        long product = 1;
        for (int length : shape) {
            product = Math.multiplyExact(product, length);
        }
        return product;
    }
}
