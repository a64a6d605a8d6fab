package dev.espalier.runtime;

import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * Inputs that models are compared on.
 *
 * @param words what they are, for messages; empty if there is nothing to say
 * @param inputs by name
 */
record Trial(String words, Map<String, Tensor> inputs) {

    static String words(SequencedMap<String, Long> lengths) {
        return lengths.entrySet().stream()
                .map(length -> length.getKey() + " = " + length.getValue())
                .collect(Collectors.joining(", "));
    }
}
