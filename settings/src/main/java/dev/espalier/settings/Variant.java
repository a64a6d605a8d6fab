package dev.espalier.settings;

import java.util.List;
import java.util.function.Function;

/**
 * A kind that needs no class of its own: it makes one thing of its values.
 *
 * @param name what {@code kind = "…"} says
 * @param meaning what it is, half a sentence
 * @param keys the keys that it has besides those that all kinds of its section have
 * @param maker from values to what it makes
 * @param <T> what it makes
 */
public record Variant<T>(String name, String meaning, List<Key<?>> keys, Function<Values, T> maker) implements Kind {
    /** Copies the list. */
    public Variant {
        keys = List.copyOf(keys);
    }

    /**
     * What the values stand for.
     *
     * @param values the values of a section of this kind
     * @return what it makes of them
     */
    public T make(Values values) {
        return maker.apply(values);
    }
}
