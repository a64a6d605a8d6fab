package dev.espalier.graph;

import dev.espalier.graph.op.Fact;
import dev.espalier.graph.type.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

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
        return of(graph, flops -> flops);
    }

    /**
     * What every node of a graph costs where some lengths are known only when it runs, as behind operators that are kept as they
     * are: a formula of these nobody can read.
     *
     * @param graph the graph
     * @param untold the length to count with where no input of the graph has it
     * @return one cost for each node, in order
     */
    public static List<Cost> of(Graph graph, long untold) {
        SortedSet<String> told = new TreeSet<>();
        graph.inputs().forEach(input -> told.addAll(input.type().shape().size().symbols()));
        return of(graph, flops -> {
            Map<String, Long> lengths = new HashMap<>();
            flops.symbols().forEach(symbol -> lengths.put(symbol, untold));
            lengths.keySet().removeAll(told);
            return flops.with(lengths);
        });
    }

    private static List<Cost> of(Graph graph, UnaryOperator<Dimension> readable) {
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
            costs.add(new Cost(node, parameters, readable.apply(node.operator().flops(graph.operands(node), outputs))));
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
        return sum(of(graph));
    }

    /**
     * Number of floating point operations of a graph in which some lengths are known only when it runs.
     *
     * @param graph the graph
     * @param untold the length to count with where no input of the graph has it
     * @return how many, as a formula of the symbolic dimensions of its inputs
     */
    public static Dimension flops(Graph graph, long untold) {
        return sum(of(graph, untold));
    }

    private static Dimension sum(List<Cost> costs) {
        return costs.stream().map(Cost::flops).reduce(Dimension.ZERO, Dimension::plus);
    }
}
