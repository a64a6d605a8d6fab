package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A graph for inputs of given shapes: no symbol is left, and all arithmetic with shapes is done. */
public final class Specialization {
    private Specialization() {}

    /**
     * The graph for given shapes.
     *
     * @param graph the graph
     * @param inputShapes the lengths of every input by name
     * @return an equivalent graph for these shapes
     */
    public static Graph of(Graph graph, Map<String, long[]> inputShapes) {
        List<Input> inputs = new ArrayList<>();
        Map<Dimension, Long> symbols = new HashMap<>();
        for (Input input : graph.inputs()) {
            long[] lengths = inputShapes.get(input.name());
            if (lengths == null) {
                throw new GraphException("there is no shape for input %s of type %s; there are %s"
                        .formatted(input.name(), input.type(), inputShapes.keySet()));
            }
            requireFit(input, lengths, symbols);
            inputs.add(new Input(input.name(), input.type().with(Shape.ofLengths(lengths))));
        }
        return Folding.fold(graph.withInputs(inputs));
    }

    private static void requireFit(Input input, long[] lengths, Map<Dimension, Long> symbols) {
        Shape shape = input.type().shape();
        boolean fits = shape.rank() == lengths.length;
        for (int axis = 0; fits && axis < lengths.length; axis++) {
            Dimension dimension = shape.get(axis);
            Long other = dimension.isKnown() ? Long.valueOf(dimension.value()) : symbols.put(dimension, lengths[axis]);
            fits = other == null || other == lengths[axis];
        }
        if (!fits) {
            throw new GraphException("an array of shape %s does not fit input %s of type %s%s"
                    .formatted(
                            Arrays.toString(lengths),
                            input.name(),
                            input.type(),
                            symbols.isEmpty() ? "" : ", where so far " + symbols));
        }
    }
}
