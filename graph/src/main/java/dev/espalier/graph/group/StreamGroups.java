package dev.espalier.graph.group;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.pass.ResidualStream;
import dev.espalier.graph.type.Shape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The groups of a residual stream, one for each of its dimensions: all that writes to it (columns of tables and of layers, their
 * biases, positions) and the inputs of the layers that read it behind a normalisation. Where such a group is zero, the stream is
 * narrower.
 */
final class StreamGroups {
    private final Graph graph;
    private final ResidualStream stream;

    private StreamGroups(Graph graph, ResidualStream stream) {
        this.graph = graph;
        this.stream = stream;
    }

    /**
     * The groups of all streams of a graph of which every weight is to be grouped.
     *
     * @param graph the graph
     * @param includes whether a weight is to be grouped where a node reads it
     */
    static List<LayerGroups> in(Graph graph, BiPredicate<Node, String> includes) {
        return ResidualStream.in(graph).stream()
                .map(stream -> new StreamGroups(graph, stream).groups(includes))
                .filter(Objects::nonNull)
                .toList();
    }

    private @Nullable LayerGroups groups(BiPredicate<Node, String> includes) {
        SequencedMap<String, Integer> axes = new LinkedHashMap<>(stream.writers());
        readers().forEach(axes::putIfAbsent);
        boolean grouped = axes.keySet().stream()
                .allMatch(weight -> isTrained(weight)
                        && graph.uses(weight).stream().allMatch(use -> includes.test(use.node(), weight)));
        if (!grouped) {
            return null;
        }
        List<GroupedWeight> weights = new ArrayList<>();
        List<AxisGroups> parts = new ArrayList<>();
        axes.forEach((weight, axis) -> {
            weights.add(new GroupedWeight(
                    weight, axis, graph.uses(weight).stream().map(Use::node).toList()));
            parts.add(AxisGroups.along(
                    axis, Objects.requireNonNull(graph.tensor(weight)).shape()));
        });
        return new LayerGroups(weights, new JointGroups(parts));
    }

    private boolean isTrained(String weight) {
        Initializer initializer = graph.initializers().get(weight);
        return initializer != null
                && initializer.kind() == Initializer.Kind.PARAMETER
                && initializer.tensor().type().isFloat();
    }

    /** The weights that read the stream behind a normalisation, and the axis of each that its dimensions are along. */
    private SequencedMap<String, Integer> readers() {
        SequencedMap<String, Integer> readers = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>(stream.normalised());
        Set<String> seen = new HashSet<>(open);
        while (!open.isEmpty()) {
            String tensor = open.remove();
            for (Use use : graph.uses(tensor)) {
                InputChannels channels = InputChannels.of(graph, use.node());
                if (channels == null) {
                    if (passes(use) && seen.add(use.node().output())) {
                        open.add(use.node().output());
                    }
                } else if (channels.activation().equals(tensor)
                        && channels.activationAxis() == graph.shape(tensor).rank() - 1
                        && channels.groups().equals(along(channels))) {
                    readers.putIfAbsent(channels.parameter(), channels.axis());
                }
            }
        }
        return readers;
    }

    private @Nullable AxisGroups along(InputChannels channels) {
        long[] shape =
                Objects.requireNonNull(graph.tensor(channels.parameter())).shape();
        return shape[channels.axis()] == stream.width() ? AxisGroups.along(channels.axis(), shape) : null;
    }

    /** Whether a node leaves the dimensions along the last axis: scale and shift, tokens that change places or are picked. */
    private boolean passes(Use use) {
        Node node = use.node();
        Shape from = graph.shape(node.input(0));
        return switch (node.operator()) {
            case Binary _, Elementwise _ -> true;
            case Transpose(List<Long> permutation) -> permutation.getLast() == from.rank() - 1;
            case Gather(long axis) -> use.input() == 0 && from.axis(axis) != from.rank() - 1;
            case Reshape _, Flatten _, Slice _ ->
                use.input() == 0
                        && graph.shape(node.output()).rank() > 0
                        && graph.shape(node.output()).get(-1).is(stream.width());
            // Whatever it is, a dimension may be along another axis behind it.
            default -> false;
        };
    }
}
