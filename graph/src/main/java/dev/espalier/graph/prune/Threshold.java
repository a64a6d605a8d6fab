package dev.espalier.graph.prune;

import dev.espalier.core.group.Groups;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.HeldZeros;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A graph with zeros in groups that are small, or were chosen.
 *
 * @param graph the graph; the very same if there is no such group
 * @param zeroedGroups how many such groups were not zero, or had such within
 */
record Threshold(Graph graph, int zeroedGroups) {

    /** Sets groups with {@code ‖x_g‖ ≤ t · √|g|} to zero, and groups within groups, except in layers that are kept. */
    static Threshold apply(Graph graph, PruneOptions options) {
        if (options.threshold() == 0) {
            return new Threshold(graph, 0);
        }
        Map<String, Tensor> changed = new HashMap<>();
        int zeroed = 0;
        for (LayerGroups layer : ModelGroups.of(graph).layers()) {
            if (layer.nodes().stream().noneMatch(options::keeps)) {
                zeroed += change(graph, layer, views -> clearSmall(layer, options.threshold(), views), changed);
            }
        }
        return of(graph, changed, zeroed);
    }

    private static void clearSmall(LayerGroups layer, double threshold, Map<String, TensorView> views) {
        HeldZeros small = new HeldZeros(new ModelGroups(List.of(layer)));
        small.hold(views, threshold);
        small.apply(views);
    }

    /** Sets chosen groups to zero. */
    static Threshold apply(Graph graph, Map<LayerGroups, List<Integer>> chosen) {
        Map<String, Tensor> changed = new HashMap<>();
        int[] zeroed = {0};
        chosen.forEach((layer, groups) ->
                zeroed[0] += change(graph, layer, views -> clear(layer.groups(), groups, views), changed));
        return of(graph, changed, zeroed[0]);
    }

    private static void clear(Groups groups, List<Integer> chosen, Map<String, TensorView> views) {
        List<TensorView> contents = List.copyOf(views.values());
        chosen.forEach(group -> groups.scatter(group, new double[groups.size(group)], contents));
    }

    private static Threshold of(Graph graph, Map<String, Tensor> changed, int zeroed) {
        return zeroed == 0 ? new Threshold(graph, 0) : new Threshold(graph.withTensors(changed), zeroed);
    }

    private static int change(
            Graph graph, LayerGroups layer, Consumer<Map<String, TensorView>> change, Map<String, Tensor> changed) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Map<String, TensorView> views = contents(graph, layer);
        views.keySet().forEach(name -> tensors.put(name, Objects.requireNonNull(graph.tensor(name))));
        List<TensorView> contents = List.copyOf(views.values());
        List<double[]> before = gather(layer.groups(), contents);
        change.accept(views);
        List<double[]> after = gather(layer.groups(), contents);
        int zeroed = 0;
        for (int group = 0; group < before.size(); group++) {
            zeroed += Arrays.equals(before.get(group), after.get(group)) ? 0 : 1;
        }
        if (zeroed > 0) {
            views.forEach((name, view) -> {
                Tensor old = Objects.requireNonNull(tensors.get(name));
                changed.put(name, Tensor.compute(old.type(), old.shape(), view::get));
            });
        }
        return zeroed;
    }

    private static List<double[]> gather(Groups groups, List<TensorView> contents) {
        return IntStream.range(0, groups.count())
                .mapToObj(group -> groups.gather(group, contents))
                .toList();
    }

    /** Copies of a layer's weights, by name, in the order of its groups. */
    static Map<String, TensorView> contents(Graph graph, LayerGroups layer) {
        Map<String, TensorView> views = new LinkedHashMap<>();
        layer.parameters().forEach(name -> views.put(name, copy(Objects.requireNonNull(graph.tensor(name)))));
        return views;
    }

    private static TensorView copy(Tensor tensor) {
        MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_DOUBLE, tensor.size());
        for (long i = 0; i < tensor.size(); i++) {
            memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, tensor.getDouble(i));
        }
        return TensorView.of(memory, ElementType.FLOAT64, tensor.shape());
    }
}
