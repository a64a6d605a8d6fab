package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A length that an input of the model has is read from the input. Exporters read it from whatever is at hand, so that tensors would
 * have to be made, and made whole, for the sake of a length that they share with an input.
 */
public final class Lengths {
    private Lengths() {}

    /** Where a length can be read. */
    private record Place(String input, int axis) {}

    /**
     * {@return an equivalent graph whose lengths are read from its inputs where they have them}
     *
     * @param graph the graph
     */
    public static Graph fromInputs(Graph graph) {
        Set<String> names = new HashSet<>();
        graph.nodes().forEach(node -> names.add(node.name()));
        List<Node> nodes = new ArrayList<>();
        boolean changed = false;
        for (Node node : graph.nodes()) {
            Place place = place(graph, node);
            if (place == null) {
                nodes.add(node);
                continue;
            }
            changed = true;
            ShapeOf length = new ShapeOf(place.axis(), place.axis() + 1L);
            if (graph.shape(node.output()).rank() == 1) {
                nodes.add(new Node(node.name(), length, List.of(place.input()), node.outputs()));
            } else {
                String list = node.output() + ".length";
                while (!names.add(list) || graph.producer(list) != null || graph.tensor(list) != null) {
                    list += "_";
                }
                nodes.add(new Node(list, length, List.of(place.input()), List.of(list)));
                nodes.add(new Node(node.name(), new Squeeze(List.of(0L)), List.of(list), node.outputs()));
            }
        }
        return changed ? DeadNodes.remove(graph.with(graph.initializers(), nodes)) : graph;
    }

    /** Where the only length that a node tells can be read; null if it tells several, or another, or reads it there. */
    private static @Nullable Place place(Graph graph, Node node) {
        boolean picks = node.operator() instanceof Gather || node.operator() instanceof Slice;
        Node shape = node.operator() instanceof ShapeOf ? node : picks ? graph.producer(node.input(0)) : null;
        List<Dimension> elements =
                shape == null ? null : graph.fact(node.output()).elements();
        if (shape == null
                || !(shape.operator() instanceof ShapeOf)
                || elements == null
                || elements.size() != 1
                || graph.shape(node.output()).rank() > 1
                || graph.producer(shape.input(0)) == null) {
            return null;
        }
        for (Input input : graph.inputs()) {
            Shape own = input.type().shape();
            int axis = IntStream.range(0, own.rank())
                    .filter(i -> !own.get(i).isKnown() && own.get(i).equals(elements.getFirst()))
                    .findFirst()
                    .orElse(-1);
            if (axis >= 0) {
                return new Place(input.name(), axis);
            }
        }
        return null;
    }
}
