package dev.espalier.graph.prune;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How a graph is pruned.
 *
 * @param keep names of nodes that keep all their inputs and outputs
 * @param widths how narrow layers become
 * @param threshold groups with {@code ‖x_g‖ ≤ threshold · √|g|} count as zero; 0 for exact zeros only. Above 0 the
 *     pruned graph does not compute the same function any more
 */
public record PruneOptions(Set<String> keep, Widths widths, double threshold) {

    /** Exact zeros only, nothing kept, nothing rounded. */
    public static final PruneOptions DEFAULT = new PruneOptions(Set.of(), Widths.NARROWEST, 0);

    /** Checks the numbers. */
    public PruneOptions {
        keep = Set.copyOf(keep);
        Check.notNegative("threshold", threshold);
    }

    /**
     * {@return the same with layers to keep}
     *
     * @param names names of nodes
     */
    public PruneOptions withKeep(Set<String> names) {
        return new PruneOptions(names, widths, threshold);
    }

    /**
     * {@return the same with other widths}
     *
     * @param other how narrow layers become
     */
    public PruneOptions withWidths(Widths other) {
        return new PruneOptions(keep, other, threshold);
    }

    /**
     * {@return the same with a threshold, which is not exact}
     *
     * @param other the threshold
     */
    public PruneOptions withThreshold(double other) {
        return new PruneOptions(keep, widths, other);
    }

    boolean keeps(Node node) {
        return keep.contains(node.name());
    }

    /** The same options for a graph in which some layers are gone. */
    PruneOptions restrictedTo(Graph graph) {
        Set<String> left = graph.nodes().stream().map(Node::name).collect(Collectors.toSet());
        return new PruneOptions(keep.stream().filter(left::contains).collect(Collectors.toSet()), widths, threshold);
    }
}
