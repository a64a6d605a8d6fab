package dev.espalier.train.run;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.prune.GroupCosts;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What pruning would leave of a model as it is now.
 *
 * @param before the model
 * @param after what would be left of it; empty if all paths to the output are cut
 * @param dimensions the sizes by which operations are counted
 */
record Outlook(Graph before, Optional<Graph> after, Map<String, Long> dimensions) {

    static Outlook of(Graph graph) {
        return of(graph, () -> Pruner.plan(graph, PruneOptions.DEFAULT).apply());
    }

    /**
     * What pruning would leave if some more groups were zero.
     *
     * @param graph the model
     * @param gone these groups, by layer
     */
    static Outlook without(Graph graph, Map<LayerGroups, List<Integer>> gone) {
        return of(graph, () -> Pruner.without(graph, gone).apply());
    }

    private static Outlook of(Graph graph, Supplier<Graph> pruned) {
        Optional<Graph> left;
        try {
            left = Optional.of(pruned.get());
        } catch (GraphException _) {
            left = Optional.empty();
        }
        return new Outlook(graph, left, SampleInputs.DEFAULT.dimensions(graph));
    }

    /** {@return whether all paths to the output are cut} */
    boolean isCut() {
        return after.isEmpty();
    }

    /** {@return what the nodes cost that would be left; empty if all paths are cut} */
    Optional<Map<String, Cost>> byNode() {
        return after.map(left -> GroupCosts.byNode(left, dimensions));
    }

    /** {@return the share of parameters that would be left; 0 if all paths are cut, and groups may still come back} */
    double parametersLeft() {
        return after.map(left -> (double) Cost.parameters(left) / Cost.parameters(before))
                .orElse(0.0);
    }

    /** {@return the same of floating-point operations} */
    double flopsLeft() {
        return after.map(left -> (double) flops(left) / flops(before)).orElse(0.0);
    }

    private long flops(Graph graph) {
        return GroupCosts.byNode(graph, dimensions).values().stream()
                .mapToLong(cost -> cost.flops().value())
                .sum();
    }
}
