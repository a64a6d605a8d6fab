package dev.espalier.graph.group;

import dev.espalier.core.check.Check;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The groups of a layer, or of several that read the same tensor: group {@code c} is all weights that leave input channel
 * {@code c}; or the groups of an attention, one for each head, or for each of its dimensions; or those of a residual
 * stream, one for each dimension.
 *
 * @param weights the weights, one for a plain layer
 * @param groups the groups, which address the weights in this order
 * @param heads for the dimensions of an attention's heads, how many heads there are, one after the other: they have all the same number
 *     of dimensions, so that one can be cut out where every head has one that is zero; else 1
 */
public record LayerGroups(List<GroupedWeight> weights, Groups groups, int heads) {
    /** An attention has four weights, or a few more. */
    private static final int MOST_NAMED = 8;

    /** Takes a copy. */
    public LayerGroups {
        weights = List.copyOf(weights);
        if (weights.size() != groups.tensorSizes().size()) {
            throw new IllegalArgumentException("%d weights, but the groups lie in %d tensors"
                    .formatted(weights.size(), groups.tensorSizes().size()));
        }
        if (heads < 1 || groups.count() % heads != 0) {
            throw new IllegalArgumentException(
                    "heads = %d must divide the number of groups, %d".formatted(heads, groups.count()));
        }
    }

    /**
     * Groups that have nothing to do with heads.
     *
     * @param weights the weights, one for a plain layer
     * @param groups the groups, which address the weights in this order
     */
    public LayerGroups(List<GroupedWeight> weights, Groups groups) {
        this(weights, groups, 1);
    }

    /**
     * A name for reports.
     *
     * @return the weights' names, joined by plus signs; of many, as a residual stream has, the first and the last
     */
    public String name() {
        List<String> names = parameters();
        return names.size() <= MOST_NAMED
                ? String.join(" + ", names)
                : "%s + %d more + %s".formatted(names.getFirst(), names.size() - 2, names.getLast());
    }

    /**
     * The weights' names.
     *
     * @return in the order in which the groups address them
     */
    public List<String> parameters() {
        return weights.stream().map(GroupedWeight::parameter).toList();
    }

    /**
     * The nodes that read the weights.
     *
     * @return each once
     */
    public List<Node> nodes() {
        return weights.stream()
                .flatMap(weight -> weight.nodes().stream())
                .distinct()
                .toList();
    }

    /**
     * Which groups are exactly zero: the inputs that the layer does not listen to, or the heads that do nothing.
     *
     * @param graph the graph with the weights' contents
     * @return one truth value for each group
     */
    public boolean[] zeros(Graph graph) {
        Map<String, TensorView> contents = new HashMap<>();
        for (String parameter : parameters()) {
            Tensor tensor = graph.tensor(parameter);
            if (tensor != null) {
                contents.put(parameter, tensor.view());
            }
        }
        return zeros(contents);
    }

    /**
     * Which groups are exactly zero.
     *
     * @param contents the weights by name
     * @return one truth value for each group
     */
    public boolean[] zeros(Map<String, TensorView> contents) {
        List<TensorView> views = views(contents);
        boolean[] zeros = new boolean[groups.count()];
        Arrays.fill(zeros, true);
        switch (groups) {
            case AxisGroups axis -> keepZeros(axis, views.getFirst(), zeros);
            case JointGroups joint -> {
                for (int tensor = 0; tensor < views.size(); tensor++) {
                    keepZeros(joint.parts().get(tensor), views.get(tensor), zeros);
                }
            }
            case IndexGroups _, NestedGroups _ -> {
                for (int group = 0; group < zeros.length; group++) {
                    zeros[group] = Norm.of(groups.gather(group, views)) == 0;
                }
            }
        }
        return zeros;
    }

    /** Row by row, as the memory lies; a group that is known not to be zero is not looked at again. */
    private static void keepZeros(AxisGroups axis, TensorView view, boolean[] zeros) {
        boolean plain = view.contiguous()
                && view.type() == ElementType.FLOAT32
                && view.place().isHost();
        for (long row = 0; row < axis.outer() && anyOf(zeros); row++) {
            for (int group = 0; group < zeros.length; group++) {
                if (zeros[group]) {
                    long start = (row * zeros.length + group) * axis.inner();
                    zeros[group] = plain
                            ? isZero(view.segment(), start, axis.inner())
                            : LongStream.range(start, start + axis.inner()).allMatch(index -> view.get(index) == 0);
                }
            }
        }
    }

    private static boolean anyOf(boolean[] truths) {
        for (boolean one : truths) {
            if (one) {
                return true;
            }
        }
        return false;
    }

    /** The same of the usual kind of tensor, without asking each time of what kind it is. */
    private static boolean isZero(MemorySegment numbers, long start, int length) {
        for (int i = 0; i < length; i++) {
            if (numbers.get(ValueLayout.JAVA_FLOAT_UNALIGNED, (start + i) * Float.BYTES) != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * How large the groups are.
     *
     * @param contents the weights by name
     * @return {@code ‖x_g‖} of each group
     */
    public double[] norms(Map<String, TensorView> contents) {
        List<TensorView> views = views(contents);
        double[] norms = new double[groups.count()];
        Arrays.setAll(norms, group -> Norm.of(groups.gather(group, views)));
        return norms;
    }

    /**
     * Which groups are small: {@code ‖x_g‖ ≤ t·√|g|}.
     *
     * @param contents the weights by name
     * @param threshold t; 0 for those that are exactly zero
     * @return one truth value for each group
     */
    public boolean[] small(Map<String, TensorView> contents, double threshold) {
        if (Check.notNegative("threshold", threshold) == 0) {
            return zeros(contents);
        }
        List<TensorView> views = views(contents);
        boolean[] small = new boolean[groups.count()];
        for (int group = 0; group < small.length; group++) {
            double[] values = groups.gather(group, views);
            small[group] = Norm.of(values) <= threshold * Math.sqrt(values.length);
        }
        return small;
    }

    /** The layer's own tensors, in the order in which the groups address them. */
    List<TensorView> views(Map<String, TensorView> contents) {
        List<TensorView> views = new ArrayList<>();
        for (String parameter : parameters()) {
            TensorView view = contents.get(parameter);
            if (view == null) {
                throw new IllegalArgumentException(
                        "there are no weights of %s among %s".formatted(parameter, contents.keySet()));
            }
            views.add(view);
        }
        groups.requireFit(name(), views);
        return views;
    }

    /**
     * Number of groups that are exactly zero.
     *
     * @param graph the graph with the weights' contents
     * @return how many
     */
    public int zeroGroups(Graph graph) {
        int count = 0;
        for (boolean zero : zeros(graph)) {
            count += zero ? 1 : 0;
        }
        return count;
    }

    @Override
    public String toString() {
        return "%s: %d groups, read by %s"
                .formatted(
                        name(),
                        groups.count(),
                        nodes().stream().map(Node::toString).collect(Collectors.joining(", ")));
    }
}
