package dev.espalier.data;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One of a model's inputs, as {@code data.inputs} says it: {@code "name = what, what"}, or only what it is made of.
 *
 * @param name what the model calls it; empty if nobody says
 * @param sources what it is made of, in order: names of columns, or of an array
 */
public record NamedInput(Optional<String> name, List<String> sources) {
    /** Copies the list. */
    public NamedInput {
        sources = List.copyOf(sources);
    }

    /**
     * Reads one.
     *
     * @param text as in a recipe
     * @return the input
     * @throws IllegalArgumentException if a name, or what it is made of, is missing
     */
    public static NamedInput parse(String text) {
        int equals = text.indexOf('=');
        List<String> sources = Arrays.stream(text.substring(equals + 1).split(",", -1))
                .map(String::strip)
                .toList();
        Optional<String> name = equals < 0
                ? Optional.empty()
                : Optional.of(text.substring(0, equals).strip());
        if (Stream.concat(name.stream(), sources.stream()).anyMatch(String::isEmpty)) {
            throw new IllegalArgumentException(
                    "'%s' in data.inputs: write \"name = what\", with the name that the model has for the input"
                            .formatted(text));
        }
        return new NamedInput(name, sources);
    }
}
