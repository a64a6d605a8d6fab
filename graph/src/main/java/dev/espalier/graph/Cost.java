package dev.espalier.graph;

import dev.espalier.graph.op.Fact;
import dev.espalier.graph.type.Dimension;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a node costs.
 *
 * @param node the node
 * @param parameters number of trained weights that it is the first to read
 * @param flops number of floating point operations, a product and its sum counted as two; a formula where a dimension is
 *     symbolic
 */
public record Cost(Node node, long parameters, Dimension flops) {

    /**
     * What every node of a graph costs.
     *
     * @param graph the graph; give its symbols numbers first ({@link Graph#withDimensions}) to get numbers
     * @return one cost for each node, in order
     */
    public static List<Cost> of(Graph graph) {
        Set<String> counted = new HashSet<>();
        List<Cost> costs = new ArrayList<>();
        for (Node node : graph.nodes()) {
            long parameters = 0;
            for (String input : node.inputs()) {
                Initializer initializer = graph.initializers().get(input);
                if (initializer != null && initializer.kind() == Initializer.Kind.PARAMETER && counted.add(input)) {
                    parameters += initializer.tensor().size();
                }
            }
            List<Fact> outputs = node.outputs().stream().map(graph::fact).toList();
            costs.add(new Cost(node, parameters, node.operator().flops(graph.operands(node), outputs)));
        }
        return costs;
    }

    /**
     * Number of trained weights of a graph.
     *
     * @param graph the graph
     * @return how many
     */
    public static long parameters(Graph graph) {
        return graph.tensors(Initializer.Kind.PARAMETER).values().stream()
                .mapToLong(tensor -> tensor.size())
                .sum();
    }

    /**
     * Number of floating point operations of a graph.
     *
     * @param graph the graph
     * @return how many, as a formula of its symbolic dimensions
     */
    public static Dimension flops(Graph graph) {
        return of(graph).stream().map(Cost::flops).reduce(Dimension.ZERO, Dimension::plus);
    }
}
