package dev.espalier.graph.group;

import dev.espalier.graph.Graph;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The groups of a model. No weight is in two of them.
 *
 * @param layers layer by layer, in the order in which the graph runs
 */
public record ModelGroups(List<LayerGroups> layers) {

    /** Takes a copy. */
    public ModelGroups {
        layers = List.copyOf(layers);
    }

    /**
     * The groups that a model has: those that it was trained with, as it tells, or else one for each input channel of each of
     * its layers.
     *
     * @param graph the model
     * @return its groups
     * @see GroupRules#note
     */
    public static ModelGroups of(Graph graph) {
        return GroupRules.of(graph).derive(graph);
    }

    /**
     * Number of groups.
     *
     * @return of all layers
     */
    public int count() {
        return layers.stream().mapToInt(layer -> layer.groups().count()).sum();
    }

    /**
     * The parameters that have groups.
     *
     * @return their names
     */
    public Set<String> parameters() {
        return layers.stream().flatMap(layer -> layer.parameters().stream()).collect(Collectors.toSet());
    }

    /**
     * Number of groups that are exactly zero.
     *
     * @param graph the graph with the weights' contents
     * @return of all layers
     */
    public int zeroGroups(Graph graph) {
        return layers.stream().mapToInt(layer -> layer.zeroGroups(graph)).sum();
    }

    /**
     * The share of groups that are left, that is not zero. The paper calls it group sparsity.
     *
     * @param graph the graph with the weights' contents
     * @return between 0 and 1; 1 if there are no groups
     */
    public double groupsLeft(Graph graph) {
        return count() == 0 ? 1 : 1 - (double) zeroGroups(graph) / count();
    }
}
