package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Replaces nodes whose results are known by constants: those that read only constants, and those that compute with
 * lengths that are numbers. Trained weights are not constants, so what reads them stays.
 */
final class Folding {
    private Folding() {}

    /**
     * The graph with constants in place of what can be computed beforehand.
     *
     * @param graph the graph
     * @return an equivalent graph
     */
    public static Graph fold(Graph graph) {
        Graph folded = graph;
        int before;
        // A constant may make the next shape a number, and that the next constant.
        do {
            before = folded.nodes().size();
            folded = foldOnce(folded);
        } while (folded.nodes().size() < before);
        return folded;
    }

    private static Graph foldOnce(Graph graph) {
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>(graph.initializers());
        List<Node> left = new ArrayList<>();
        for (Node node : graph.nodes()) {
            List<Tensor> results = results(graph, node, initializers);
            if (results == null) {
                left.add(node);
            } else {
                for (int i = 0; i < results.size(); i++) {
                    initializers.put(node.outputs().get(i), new Initializer(results.get(i), Kind.CONSTANT));
                }
            }
        }
        return DeadNodes.remove(graph.with(initializers, left));
    }

    private static @Nullable List<Tensor> results(
            Graph graph, Node node, SequencedMap<String, Initializer> initializers) {
        List<Tensor> fromShapes = new ArrayList<>();
        for (String output : node.outputs()) {
            Tensor constant = graph.fact(output).constant();
            if (constant != null) {
                fromShapes.add(constant);
            }
        }
        if (fromShapes.size() == node.outputs().size()) {
            return fromShapes;
        }
        List<@Nullable Tensor> inputs = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            Initializer initializer = initializers.get(node.input(i));
            if (node.has(i) && (initializer == null || initializer.kind() != Kind.CONSTANT)) {
                return null;
            }
            inputs.add(initializer == null ? null : initializer.tensor());
        }
        return Evaluator.fold(node.operator(), inputs);
    }
}
