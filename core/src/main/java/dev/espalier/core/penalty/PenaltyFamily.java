package dev.espalier.core.penalty;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.DoublePredicate;

/**
 * A penalty by its name, before λ and its other numbers are known: what recipes and commands know penalties by. A penalty
 * brings its family along, and names it in {@code META-INF/services}; so does one that somebody else wrote.
 */
public interface PenaltyFamily {
    /**
     * What it is called.
     *
     * @return lower case, with hyphens
     */
    String name();

    /**
     * What it is.
     *
     * @return half a sentence
     */
    String meaning();

    /**
     * Numbers that it needs besides λ.
     *
     * @return the parameters, in order
     */
    default List<Parameter> parameters() {
        return List.of();
    }

    /**
     * Whether it serves groups within groups too.
     *
     * @return true if its members have an operator on trees of groups
     */
    default boolean nests() {
        return false;
    }

    /**
     * {@return the penalty itself}
     *
     * @param lambda strength λ ≥ 0
     * @param weight how λ_g depends on the group's size
     * @param values of all parameters, by name
     */
    Penalty member(double lambda, GroupWeight weight, Map<String, Double> values);

    /**
     * A number that a penalty needs besides λ.
     *
     * @param name lower case, with underscores
     * @param meaning half a sentence
     * @param range what legal values have in common, to be read after "it must be"
     * @param legal whether a value is one
     */
    record Parameter(String name, String meaning, String range, DoublePredicate legal) {
        /**
         * {@return a finite number above 0}
         *
         * @param name lower case, with underscores
         * @param meaning half a sentence
         */
        public static Parameter positive(String name, String meaning) {
            return new Parameter(
                    name, meaning, "finite and above 0", value -> value > 0 && value < Double.POSITIVE_INFINITY);
        }

        /**
         * {@return a number from 0 to 1}
         *
         * @param name lower case, with underscores
         * @param meaning half a sentence
         */
        public static Parameter share(String name, String meaning) {
            return new Parameter(name, meaning, "from 0 to 1", value -> value >= 0 && value <= 1);
        }

        /**
         * The value among others.
         *
         * @param values all parameters' values by name
         * @return this one's
         * @throws IllegalArgumentException if it is missing or not legal
         */
        public double of(Map<String, Double> values) {
            Double value = values.get(name);
            if (value == null) {
                throw new IllegalArgumentException(name + " is missing: " + meaning + ", " + range);
            }
            if (!legal.test(value)) {
                throw new IllegalArgumentException(
                        "%s = %s is out of range: it must be %s".formatted(name, value, range));
            }
            return value;
        }
    }

    /**
     * All families that are registered as services.
     *
     * @return ours and others', in the order in which they are found
     */
    static List<PenaltyFamily> all() {
        return ServiceLoader.load(PenaltyFamily.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }
}
