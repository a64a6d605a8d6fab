package dev.espalier.graph.group;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.type.Tensor;
import dev.espalier.group.Groups;
import dev.espalier.tensor.TensorView;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The groups of a layer, or of several that read the same tensor: group {@code c} is all weights that leave input channel
 * {@code c}.
 *
 * @param weights the weights, one for a plain layer
 * @param groups the groups, which address the weights in this order
 */
public record LayerGroups(List<GroupedWeight> weights, Groups groups) {

    /** Takes a copy. */
    public LayerGroups {
        weights = List.copyOf(weights);
        if (weights.size() != groups.tensorSizes().size()) {
            throw new IllegalArgumentException("%d weights, but the groups lie in %d tensors"
                    .formatted(weights.size(), groups.tensorSizes().size()));
        }
    }

    /**
     * A name for reports.
     *
     * @return the weights' names, joined by plus signs
     */
    public String name() {
        return String.join(" + ", parameters());
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
     * Which groups are exactly zero: the inputs that the layer does not listen to.
     *
     * @param graph the graph with the weights' contents
     * @return one truth value for each group
     */
    public boolean[] zeros(Graph graph) {
        List<TensorView> views = new ArrayList<>();
        for (String parameter : parameters()) {
            Tensor tensor = graph.tensor(parameter);
            if (tensor == null) {
                throw new IllegalArgumentException("graph " + graph.name() + " has no parameter " + parameter);
            }
            views.add(tensor.view());
        }
        groups.requireFit("graph " + graph.name(), views);
        boolean[] zeros = new boolean[groups.count()];
        for (int group = 0; group < zeros.length; group++) {
            zeros[group] = isZero(group, views);
        }
        return zeros;
    }

    private boolean isZero(int group, List<TensorView> views) {
        boolean[] zero = {true};
        groups.forEach(group, (tensor, index) -> zero[0] &= views.get(tensor).get(index) == 0);
        return zero[0];
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
