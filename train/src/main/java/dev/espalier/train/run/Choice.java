package dev.espalier.train.run;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Which groups go next: those that the loss would miss least, for what they cost.
 *
 * <p>What the loss would miss is told by gradients. Without a group, an output would be off by {@code J x_g}, to first order; a
 * gradient is {@code Jᵀ r}, with whatever the output is off by already for r, so that {@code ⟨x_g, ∇_g⟩² = ⟨r, J x_g⟩²} is large on
 * average where {@code J x_g} is (Molchanov and others, Importance estimation for neural network pruning, 2019). It does not change
 * if one layer is made larger and the next one smaller, as norms do. A pair of weights that are multiplied with one another, as in an
 * attention, is told twice the same.
 *
 * <p>The dimensions of an attention's heads go in slices, one of each head, as they can be cut out only so.
 */
final class Choice {
    /** How much of what was seen until groups were last chosen still counts. */
    private static final double KEPT = 0.7;

    private final List<LayerGroups> layers;

    /** Where each layer's groups begin in {@link #worth}. */
    private final int[] first;

    /** What every group is worth, by what was seen so far. */
    private final double[] worth;

    Choice(ModelGroups groups) {
        layers = groups.layers();
        first = new int[layers.size() + 1];
        for (int i = 0; i < layers.size(); i++) {
            first[i + 1] = first[i] + layers.get(i).groups().count();
        }
        worth = new double[first[layers.size()]];
    }

    /** {@return the weights that it looks at} */
    Set<String> parameters() {
        return layers.stream().flatMap(layer -> layer.parameters().stream()).collect(Collectors.toSet());
    }

    /** Some groups that can go only together. */
    private record Slice(LayerGroups layer, List<Integer> groups, double worth, double cost) {
        double perCost() {
            return worth / cost;
        }
    }

    /** Looks at the gradients of a step; all steps count the same. */
    void look(Map<String, TensorView> weights, Map<String, TensorView> gradients) {
        double[] seen = new double[worth.length];
        IntStream.range(0, layers.size())
                .parallel()
                .forEach(i -> look(layers.get(i), weights, gradients, seen, first[i]));
        double sum = Arrays.stream(seen).sum();
        if (sum > 0 && sum < Double.POSITIVE_INFINITY) {
            for (int group = 0; group < seen.length; group++) {
                worth[group] += seen[group] / sum;
            }
        }
    }

    private static void look(
            LayerGroups layer,
            Map<String, TensorView> weights,
            Map<String, TensorView> gradients,
            double[] seen,
            int from) {
        List<TensorView> x = views(layer, weights);
        List<TensorView> g = views(layer, gradients);
        double[] products = new double[layer.groups().count()];
        switch (layer.groups()) {
            case AxisGroups axis -> add(axis, x.getFirst(), g.getFirst(), products);
            case JointGroups joint -> {
                for (int tensor = 0; tensor < x.size(); tensor++) {
                    add(joint.parts().get(tensor), x.get(tensor), g.get(tensor), products);
                }
            }
            case IndexGroups _, NestedGroups _ -> add(layer.groups(), x, g, products);
        }
        double times = layer.heads() > 1 ? x.size() : 1;
        for (int group = 0; group < products.length; group++) {
            double product = products[group] / times;
            seen[from + group] = product * product;
        }
    }

    private static List<TensorView> views(LayerGroups layer, Map<String, TensorView> tensors) {
        return layer.parameters().stream()
                .map(name -> Objects.requireNonNull(tensors.get(name), name))
                .toList();
    }

    /** Row by row, as the memory lies. */
    private static void add(AxisGroups axis, TensorView x, TensorView g, double[] products) {
        long index = 0;
        for (long row = 0; row < axis.outer(); row++) {
            for (int group = 0; group < products.length; group++) {
                double sum = 0;
                for (int i = 0; i < axis.inner(); i++) {
                    sum += x.get(index) * g.get(index);
                    index++;
                }
                products[group] += sum;
            }
        }
    }

    private static void add(Groups groups, List<TensorView> x, List<TensorView> g, double[] products) {
        for (int group = 0; group < products.length; group++) {
            int here = group;
            groups.forEach(
                    group,
                    (tensor, index) -> products[here] +=
                            x.get(tensor).get(index) * g.get(tensor).get(index));
        }
    }

    /**
     * Chooses, and begins to forget what was seen.
     *
     * @param weights the weights as they are
     * @param costs what a group of each layer costs
     * @param amount how much of that shall go, or a little more
     * @return the groups that go, by their layer; some are left in every layer
     */
    Map<LayerGroups, List<Integer>> take(Map<String, TensorView> weights, double[] costs, double amount) {
        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < layers.size(); i++) {
            if (costs[i] > 0) {
                slices.addAll(slices(i, layers.get(i).zeros(weights), costs[i]));
            }
        }
        slices.sort(Comparator.comparingDouble(Slice::perCost));
        Map<LayerGroups, List<Integer>> taken = new LinkedHashMap<>();
        double sum = 0;
        for (Slice slice : slices) {
            if (sum >= amount) {
                break;
            }
            sum += slice.cost();
            taken.computeIfAbsent(slice.layer(), _ -> new ArrayList<>()).addAll(slice.groups());
        }
        for (int group = 0; group < worth.length; group++) {
            worth[group] *= KEPT;
        }
        return taken;
    }

    /** One group at a time, of each head: those worth least first; the last ones stay. */
    private List<Slice> slices(int number, boolean[] zeros, double cost) {
        LayerGroups layer = layers.get(number);
        int width = zeros.length / layer.heads();
        List<List<Integer>> heads = IntStream.range(0, layer.heads())
                .mapToObj(head -> IntStream.range(head * width, (head + 1) * width)
                        .filter(group -> !zeros[group])
                        .boxed()
                        .sorted(Comparator.comparingDouble(group -> worth[first[number] + group]))
                        .toList())
                .toList();
        int widest = heads.stream().mapToInt(List::size).max().orElse(0);
        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < widest - 1; i++) {
            List<Integer> groups = new ArrayList<>();
            for (List<Integer> head : heads) {
                int place = i - (widest - head.size()); // a head that has lost more waits for the others
                if (place >= 0) {
                    groups.add(head.get(place));
                }
            }
            double sum = groups.stream()
                    .mapToDouble(group -> worth[first[number] + group])
                    .sum();
            slices.add(new Slice(layer, groups, sum, cost * groups.size()));
        }
        return slices;
    }

    /** What is kept between steps, as live memory. */
    MemorySegment memory() {
        return MemorySegment.ofArray(worth);
    }
}
