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
 * @param roundTo channel counts are rounded up to a multiple of this, as hardware likes it; 1 for none
 * @param threshold groups with {@code ‖x_g‖ ≤ threshold · √|g|} count as zero; 0 for exact zeros only. Above 0 the
 *     pruned graph does not compute the same function any more
 */
public record PruneOptions(Set<String> keep, int roundTo, double threshold) {

    /** Exact zeros only, nothing kept, nothing rounded. */
    public static final PruneOptions DEFAULT = new PruneOptions(Set.of(), 1, 0);

    /** Checks the numbers. */
    public PruneOptions {
        keep = Set.copyOf(keep);
        Check.atLeast("roundTo", roundTo, 1);
        Check.notNegative("threshold", threshold);
    }

    /**
     * {@return the same with layers to keep}
     *
     * @param names names of nodes
     */
    public PruneOptions withKeep(Set<String> names) {
        return new PruneOptions(names, roundTo, threshold);
    }

    /**
     * {@return the same with rounded channel counts}
     *
     * @param multiple what they are rounded up to a multiple of
     */
    public PruneOptions withRoundTo(int multiple) {
        return new PruneOptions(keep, multiple, threshold);
    }

    /**
     * {@return the same with a threshold, which is not exact}
     *
     * @param other the threshold
     */
    public PruneOptions withThreshold(double other) {
        return new PruneOptions(keep, roundTo, other);
    }

    boolean keeps(Node node) {
        return keep.contains(node.name());
    }

    /** The same options for a graph in which some layers are gone. */
    PruneOptions restrictedTo(Graph graph) {
        Set<String> left = graph.nodes().stream().map(Node::name).collect(Collectors.toSet());
        return new PruneOptions(keep.stream().filter(left::contains).collect(Collectors.toSet()), roundTo, threshold);
    }
}
