package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.group.LayerGroups;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Removes what a model does not need: channels that every reader ignores, channels that are constant, and whoever makes
 * them, as far upstream as it goes. What is left is a smaller dense model that computes the same function.
 *
 * <pre>{@code
 * PrunePlan plan = Pruner.plan(graph, PruneOptions.DEFAULT);
 * System.out.print(plan);
 * Graph smaller = plan.apply();
 * }</pre>
 */
public final class Pruner {
    private Pruner() {}

    /**
     * Finds what can be removed.
     *
     * @param graph the model
     * @param options how it is pruned
     * @return what would be done
     * @throws GraphException if an output of the model would not depend on its inputs any more, or a layer to keep
     *     does not exist
     */
    public static PrunePlan plan(Graph graph, PruneOptions options) {
        requireKnown(graph, options.keep());
        return PrunePlan.of(graph, options);
    }

    /**
     * Sets small groups to zero, except in layers that are kept.
     *
     * @param graph the model
     * @param options which groups are small, {@link PruneOptions#threshold}, and which layers are kept
     * @return the model with more zeros in it; the very same if no group is small
     * @throws GraphException if a layer to keep does not exist
     */
    public static Graph threshold(Graph graph, PruneOptions options) {
        requireKnown(graph, options.keep());
        return Threshold.apply(graph, options).graph();
    }

    /**
     * Finds what could be removed if some groups were zero.
     *
     * @param graph the model
     * @param gone the groups that count as zero, by layer
     * @return what would be done
     * @throws GraphException if an output of the model would not depend on its inputs any more
     */
    public static PrunePlan without(Graph graph, Map<LayerGroups, List<Integer>> gone) {
        return PrunePlan.of(Threshold.apply(graph, gone), PruneOptions.DEFAULT);
    }

    static void requireKnown(Graph graph, Set<String> keep) {
        Set<String> names = graph.nodes().stream().map(Node::name).collect(Collectors.toSet());
        Set<String> unknown = new TreeSet<>(keep);
        unknown.removeAll(names);
        if (!unknown.isEmpty()) {
            throw new GraphException("there is no layer " + unknown + " to keep; there are "
                    + graph.nodes().stream().map(Node::name).limit(50).toList());
        }
    }
}
