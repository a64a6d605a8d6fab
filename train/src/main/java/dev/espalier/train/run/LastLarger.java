package dev.espalier.train.run;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The weights that have groups, as they were when the model was last larger than requested: a penalty that has made too many groups zero
 * gives some of them back from here. Part of a checkpoint.
 */
final class LastLarger {
    private final SequencedMap<String, float[]> weights = new LinkedHashMap<>();

    /** Whether anything was kept yet: 0 or 1. */
    private final double[] kept = new double[1];

    /**
     * Nothing yet.
     *
     * @param graph the model
     * @param groups its groups
     */
    LastLarger(Graph graph, ModelGroups groups) {
        for (LayerGroups layer : groups.layers()) {
            for (String name : layer.parameters()) {
                weights.computeIfAbsent(
                        name,
                        _ -> new float
                                [Math.toIntExact(Objects.requireNonNull(graph.tensor(name), name)
                                        .size())]);
            }
        }
    }

    /** Keeps a copy of weights, instead of what was kept before. */
    void keep(Map<String, TensorView> now) {
        weights.forEach((name, copy) -> {
            TensorView view = Objects.requireNonNull(now.get(name), name);
            for (int i = 0; i < copy.length; i++) {
                copy[i] = (float) view.get(i);
            }
        });
        kept[0] = 1;
    }

    /** {@return whether anything was kept} */
    boolean isKnown() {
        return kept[0] == 1;
    }

    /** {@return what was kept, by name; to be read only} */
    Map<String, TensorView> views(Graph graph) {
        Map<String, TensorView> views = new HashMap<>();
        weights.forEach((name, copy) -> views.put(
                name,
                TensorView.of(copy, Objects.requireNonNull(graph.tensor(name)).shape())));
        return views;
    }

    /**
     * A model with some groups as they were.
     *
     * @param graph the model
     * @param groups which groups, by layer
     */
    Graph restored(Graph graph, Map<LayerGroups, List<Integer>> groups) {
        Map<String, float[]> changed = new HashMap<>();
        parameters(groups).forEach(name -> {
            Tensor tensor = Objects.requireNonNull(graph.tensor(name));
            float[] values = new float[Math.toIntExact(tensor.size())];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) tensor.getDouble(i);
            }
            changed.put(name, values);
        });
        restore(groups, changed);
        Map<String, Tensor> tensors = new HashMap<>();
        changed.forEach((name, values) -> {
            Tensor old = Objects.requireNonNull(graph.tensor(name));
            tensors.put(name, Tensor.compute(old.type(), old.shape(), i -> values[Math.toIntExact(i)]));
        });
        return graph.withTensors(tensors);
    }

    private static Set<String> parameters(Map<LayerGroups, List<Integer>> groups) {
        return groups.keySet().stream()
                .flatMap(layer -> layer.parameters().stream())
                .collect(Collectors.toSet());
    }

    private void restore(Map<LayerGroups, List<Integer>> groups, Map<String, float[]> into) {
        groups.forEach((layer, some) -> some.forEach(group -> layer.groups().forEach(group, (tensor, index) -> {
            String name = layer.parameters().get(tensor);
            Objects.requireNonNull(into.get(name))[Math.toIntExact(index)] =
                    Objects.requireNonNull(weights.get(name))[Math.toIntExact(index)];
        })));
    }

    /**
     * Writes some groups as they were into a model's weights.
     *
     * @param groups which groups, by layer
     * @param into the weights by name; changed in place
     */
    void write(Map<LayerGroups, List<Integer>> groups, Map<String, TensorView> into) {
        groups.forEach((layer, some) -> some.forEach(group -> layer.groups().forEach(group, (tensor, index) -> {
            String name = layer.parameters().get(tensor);
            Objects.requireNonNull(into.get(name))
                    .set(index, Objects.requireNonNull(weights.get(name))[Math.toIntExact(index)]);
        })));
    }

    /** {@return all of it, as live memory by name} */
    SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("larger", MemorySegment.ofArray(kept));
        weights.forEach((name, copy) -> state.put("larger/" + name, MemorySegment.ofArray(copy)));
        return state;
    }
}
