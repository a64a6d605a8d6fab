package dev.espalier.graph.onnx;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Hands out names that nobody has yet. */
final class Names {
    private final Set<String> taken = new HashSet<>();
    private final Map<String, Integer> counters = new HashMap<>();

    /** Takes a name; false if somebody has it already. */
    boolean take(String name) {
        return taken.add(name);
    }

    /** Takes the wanted name or, if somebody has it, that name with the next number. */
    String unique(String wanted) {
        String name = wanted;
        while (!take(name)) {
            name = wanted + "_" + counters.merge(wanted, 1, Integer::sum);
        }
        return name;
    }
}
