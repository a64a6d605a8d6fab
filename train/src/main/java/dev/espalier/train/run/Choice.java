package dev.espalier.train.run;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.engine.Axis;
import dev.espalier.engine.Network;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

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

    /** The parameters whose groups lie along an axis. */
    private final Map<String, Axis> axes = new LinkedHashMap<>();

    /** All others. */
    private final Set<String> others = new HashSet<>();

    Choice(ModelGroups groups) {
        layers = groups.layers();
        first = new int[layers.size() + 1];
        for (int i = 0; i < layers.size(); i++) {
            first[i + 1] = first[i] + layers.get(i).groups().count();
        }
        worth = new double[first[layers.size()]];
        for (LayerGroups layer : layers) {
            List<AxisGroups> parts = parts(layer);
            for (int i = 0; i < parts.size(); i++) {
                AxisGroups axis = parts.get(i);
                axes.put(layer.parameters().get(i), new Axis(axis.outer(), axis.count(), axis.inner()));
            }
            if (parts.isEmpty()) {
                others.addAll(layer.parameters());
            }
        }
    }

    /** {@return the parameters whose groups are the places of an axis} */
    Map<String, Axis> axes() {
        return Collections.unmodifiableMap(axes);
    }

    /** {@return the parameters of all other groups} */
    Set<String> others() {
        return Collections.unmodifiableSet(others);
    }

    /**
     * Looks at the gradients of a step, before it is done; all steps count the same.
     *
     * @param sums what {@link #axes} have of weights and gradients multiplied and added up, as {@link Network#products}
     * @param weights {@link #others}, at least
     * @param gradients of the same
     */
    void look(Map<String, double[]> sums, Map<String, TensorView> weights, Map<String, TensorView> gradients) {
        double[] seen = new double[worth.length];
        for (int i = 0; i < layers.size(); i++) {
            LayerGroups layer = layers.get(i);
            double[] products = new double[layer.groups().count()];
            if (parts(layer).isEmpty()) {
                add(layer.groups(), views(layer, weights), views(layer, gradients), products);
            }
            for (String parameter : layer.parameters()) {
                double[] sum = sums.getOrDefault(parameter, new double[0]);
                for (int group = 0; group < sum.length; group++) {
                    products[group] += sum[group];
                }
            }
            double times = layer.heads() > 1 ? layer.parameters().size() : 1;
            for (int group = 0; group < products.length; group++) {
                double product = products[group] / times;
                seen[first[i] + group] = product * product;
            }
        }
        double sum = Arrays.stream(seen).sum();
        if (sum > 0 && sum < Double.POSITIVE_INFINITY) {
            for (int group = 0; group < seen.length; group++) {
                worth[group] += seen[group] / sum;
            }
        }
    }

    /** The axis of each parameter of a layer whose places are the layer's groups; none if its groups are not of that kind. */
    private static List<AxisGroups> parts(LayerGroups layer) {
        return switch (layer.groups()) {
            case AxisGroups axis -> List.of(axis);
            case JointGroups joint -> joint.parts();
            case IndexGroups _, NestedGroups _ -> List.of();
        };
    }

    private static List<TensorView> views(LayerGroups layer, Map<String, TensorView> tensors) {
        return layer.parameters().stream()
                .map(name -> Objects.requireNonNull(tensors.get(name), name))
                .toList();
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
     * @param zeros the groups that are gone
     * @param costs what a group of each layer costs
     * @param amount how much of that shall go, or a little more
     * @return the groups that go, by their layer; some are left in every layer
     */
    Map<LayerGroups, List<Integer>> take(ZeroGroups zeros, double[] costs, double amount) {
        List<GroupSlice> taken = new ArrayList<>();
        double sum = 0;
        for (GroupSlice slice : order(zeros, costs)) {
            if (sum >= amount) {
                break;
            }
            sum += slice.cost();
            taken.add(slice);
        }
        for (int group = 0; group < worth.length; group++) {
            worth[group] *= KEPT;
        }
        return GroupSlice.groups(taken);
    }

    /**
     * The groups that may go, those first that are worth least for what they cost.
     *
     * @param zeros the groups that are gone
     * @param costs what a group of each layer costs
     * @return groups that are not gone, without those worth most of each layer, which stay
     */
    List<GroupSlice> order(ZeroGroups zeros, double[] costs) {
        List<GroupSlice> slices = new ArrayList<>();
        for (int i = 0; i < layers.size(); i++) {
            if (costs[i] > 0) {
                boolean[] gone = zeros.layers().get(i);
                List<GroupSlice> all = GroupSlice.of(layers.get(i), group -> !gone[group], worth(i), costs[i]);
                slices.addAll(all.subList(0, Math.max(0, all.size() - 1)));
            }
        }
        slices.sort(Comparator.comparingDouble(GroupSlice::perCost));
        return slices;
    }

    /** {@return what the groups of a layer are worth, by what was seen so far} */
    private double[] worth(int layer) {
        return Arrays.copyOfRange(worth, first[layer], first[layer + 1]);
    }

    /** What is kept between steps, as live memory. */
    MemorySegment memory() {
        return MemorySegment.ofArray(worth);
    }
}
