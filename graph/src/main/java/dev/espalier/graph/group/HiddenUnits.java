package dev.espalier.graph.group;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The hidden units of a recurrent layer, and all weights that read them: those of the layer's own states, and those of the layers
 * that read what it makes. A unit that none of them reads can go. Of a layer in both directions a unit is that of one and that of
 * the other: there must be equally many of them anyway.
 *
 * @param states the layer's weights of its states
 * @param readers the layers that read it
 * @param directions how many directions the layer has
 * @param hidden how many units it has in each
 */
record HiddenUnits(InputChannels states, List<InputChannels> readers, int directions, int hidden) {
    /** Where the last cells are among the outputs: what is in a cell is no state. */
    private static final int CELLS = 2;

    HiddenUnits {
        readers = List.copyOf(readers);
    }

    /** The recurrent layers of a graph of which nothing but layers with weights reads anything. */
    static List<HiddenUnits> in(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.operator() instanceof Recurrent)
                .flatMap(node -> of(graph, node, (Recurrent) node.operator()).stream())
                .toList();
    }

    private static Optional<HiddenUnits> of(Graph graph, Node node, Recurrent recurrent) {
        return InputChannels.in(graph, node).stream()
                .filter(channels -> channels.parameter().equals(node.input(2)))
                .map(states ->
                        new HiddenUnits(states, List.of(), recurrent.directions(), Math.toIntExact(recurrent.hidden())))
                .findFirst()
                .flatMap(units -> units.withReaders(graph));
    }

    /** The same with those that read the layer; nothing if there are others than layers, or none. */
    private Optional<HiddenUnits> withReaders(Graph graph) {
        List<String> outputs = states.node().outputs();
        List<InputChannels> found = new ArrayList<>();
        boolean known = outputs.stream().limit(CELLS).allMatch(output -> follow(graph, output, found))
                && outputs.stream()
                        .skip(CELLS)
                        .allMatch(cells ->
                                !graph.isOutput(cells) && graph.uses(cells).isEmpty());
        return known && !found.isEmpty()
                ? Optional.of(new HiddenUnits(states, found, directions, hidden))
                : Optional.empty();
    }

    /** Adds all that read a tensor in whose last axis units lie; false if one of them is no layer. */
    private boolean follow(Graph graph, String tensor, List<InputChannels> found) {
        if (tensor.isEmpty()) {
            return true;
        }
        if (graph.isOutput(tensor)) {
            return false;
        }
        for (Use use : graph.readers(tensor)) {
            if (!follow(graph, tensor, use, found)) {
                return false;
            }
        }
        return true;
    }

    private boolean follow(Graph graph, String tensor, Use use, List<InputChannels> found) {
        Node node = use.node();
        Optional<InputChannels> reader = InputChannels.in(graph, node).stream()
                .filter(channels -> channels.activation().equals(tensor))
                .findFirst();
        if (reader.isPresent()) {
            found.add(reader.get());
            return use.input() == 0 && canBeJoined(reader.get(), graph.shape(tensor));
        }
        return switch (node.operator()) {
            case Elementwise _, Squeeze _, Unsqueeze _, Transpose _, Reshape _, Slice _, Gather _ ->
                use.input() == 0
                        && holdsUnits(graph.shape(node.output()), graph.shape(tensor))
                        && follow(graph, node.output(), found);
            // Whatever else reads a unit reads it whatever its weights are.
            default -> false;
        };
    }

    /** Whether units lie along the last axis, or those of both directions side by side where they were one after the other. */
    private boolean holdsUnits(Shape shape, Shape before) {
        if (shape.rank() == 0) {
            return false;
        }
        boolean joined = before.rank() > 1
                && before.get(-2).is(directions)
                && before.get(-1).is(hidden);
        return shape.get(-1).is(hidden)
                || (shape.get(-1).is((long) directions * hidden)
                        && (joined || before.get(-1).is((long) directions * hidden)));
    }

    private boolean canBeJoined(InputChannels reader, Shape tensor) {
        return reader.groups() instanceof AxisGroups axis
                && reader.activationAxis() == tensor.rank() - 1
                && axis.count() == directions * hidden;
    }

    List<String> parameters() {
        List<String> names = new ArrayList<>(List.of(states.parameter()));
        readers.forEach(reader -> names.add(reader.parameter()));
        return names;
    }

    /** The weights, the layer's own first, each with groups by hidden units. */
    List<InputChannels> channels() {
        List<InputChannels> all = new ArrayList<>(List.of(states));
        readers.forEach(reader -> all.add(reader.with(byUnit(reader.groups()))));
        return all;
    }

    /** Columns of both directions, one behind the other, as those of pairs of units. */
    private Groups byUnit(Groups groups) {
        return groups instanceof AxisGroups axis
                ? new AxisGroups(axis.outer() * directions, hidden, axis.inner())
                : groups;
    }
}
