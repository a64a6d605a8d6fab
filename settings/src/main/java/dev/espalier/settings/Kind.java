package dev.espalier.settings;

import java.util.List;

/**
 * One of several things that a section can be about, such as {@code data.kind = "csv"}. A kind owns itself: its name, its keys
 * with their defaults, and what it makes of their values are in one place, and nobody lists all kinds.
 */
public interface Kind {
    /**
     * What {@code kind = "…"} says.
     *
     * @return lower case, with hyphens
     */
    String name();

    /**
     * What it is.
     *
     * @return half a sentence, for the documentation
     */
    String meaning();

    /**
     * The keys that it has besides those that all kinds of its section have.
     *
     * @return the keys, in the order in which they are written
     */
    default List<Key<?>> keys() {
        return List.of();
    }

    /**
     * Checks values that are sound one by one, but may not fit each other.
     *
     * @param values the section's values
     * @throws IllegalArgumentException if they do not, with what to change
     */
    default void check(Values values) {}
}
