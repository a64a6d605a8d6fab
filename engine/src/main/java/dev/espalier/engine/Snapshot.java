package dev.espalier.engine;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A {@link Network} in the processor's memory, as it was when this was taken ({@link Network#snapshot}). What is asked for is copied once. */
public final class Snapshot {
    private final Graph computed;
    private final Graph given;
    /** Copies arrays by name; empty where the processor reaches them. */
    private final Optional<Function<Set<String>, Map<String, Tensors.Copy>>> copies;

    private final Set<String> there = new HashSet<>();

    /**
     * Of a network.
     *
     * @param computed the model as it is computed; on the network's own memory if nothing need be copied
     * @param given the model with the types that it was given with
     * @param copies copies arrays
     */
    Snapshot(Graph computed, Graph given, Optional<Function<Set<String>, Map<String, Tensors.Copy>>> copies) {
        this.computed = computed;
        this.given = given;
        this.copies = copies;
    }

    /**
     * Some parameters, as they are computed.
     *
     * @param names which
     * @return these, to be read only
     */
    public Map<String, TensorView> weights(Set<String> names) {
        Map<String, TensorView> views = new HashMap<>();
        tensors(names).forEach((name, tensor) -> views.put(name, tensor.view()));
        return views;
    }

    /** {@return the model, in the types that it was given with} */
    public Graph graph() {
        if (copies.isEmpty() && given == computed) {
            return computed;
        }
        Set<String> names = computed.initializers().entrySet().stream()
                .filter(entry -> entry.getValue().kind() != Kind.CONSTANT)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        Map<String, Tensor> current = tensors(names);
        current.replaceAll((name, tensor) -> tensor.cast(given.fact(name).data()));
        return given.withTensors(current);
    }

    private Map<String, Tensor> tensors(Set<String> names) {
        Map<String, Tensor> found = new HashMap<>();
        if (copies.isEmpty()) {
            names.forEach(name -> found.put(name, Objects.requireNonNull(computed.tensor(name), name)));
            return found;
        }
        Set<String> missing = new HashSet<>(names);
        missing.removeAll(there);
        Map<String, Tensors.Copy> copied = copies.get().apply(missing);
        there.addAll(missing);
        names.forEach(name ->
                found.put(name, Objects.requireNonNull(copied.get(name), name).tensor()));
        return found;
    }
}
