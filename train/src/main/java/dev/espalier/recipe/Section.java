package dev.espalier.recipe;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A section of a recipe: its keys, and how their values become a record and come from it.
 *
 * @param name its name in brackets
 * @param keys all its keys; one that is called {@code kind} decides which of the others apply
 * @param build values to record
 * @param values record to values
 * @param <T> the record
 */
record Section<T>(String name, List<Key<?>> keys, Function<Values, T> build, Function<T, Values> values) {
    Section {
        keys = List.copyOf(keys);
    }

    Optional<Key<?>> kind() {
        return keys.stream().filter(key -> key.name().equals("kind")).findFirst();
    }

    String toToml(T part) {
        return "[" + name + "]\n" + values.apply(part).lines();
    }
}
