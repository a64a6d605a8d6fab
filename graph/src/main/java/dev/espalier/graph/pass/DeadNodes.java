package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/** Removes nodes and initializers that no output depends on. Inputs stay: they are the model's contract. */
public final class DeadNodes {
    private DeadNodes() {}

    /**
     * The graph without what nothing needs.
     *
     * @param graph the graph
     * @return an equivalent graph
     */
    public static Graph remove(Graph graph) {
        Set<String> needed = new HashSet<>(graph.outputs());
        List<Node> live = new ArrayList<>();
        for (Node node : graph.nodes().reversed()) {
            if (node.outputs().stream().anyMatch(needed::contains)) {
                live.addFirst(node);
                needed.addAll(node.inputs());
            }
        }
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>(graph.initializers());
        initializers.keySet().retainAll(needed);
        return graph.with(initializers, live);
    }
}
