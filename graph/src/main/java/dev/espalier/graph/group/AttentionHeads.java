package dev.espalier.graph.group;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A multi-head attention: three projections (query, key and value) whose outputs are dealt out to heads, and an output
 * matrix that reads what the heads return.
 *
 * @param projections the three projections; which is which does not matter here
 * @param output the output matrix
 * @param heads how many heads there are
 * @param width channels of a head
 */
record AttentionHeads(List<InputChannels> projections, InputChannels output, int heads, int width) {
    /** Nodes between two products, at most: masks, scales, casts and dropout are a handful. */
    private static final int REACH = 16;

    /** A product with a weight that was found upstream, and the heads that its outputs were dealt out to. */
    private record Projection(InputChannels channels, long heads, long width) {}

    /** All attentions of a graph that look like one; those whose heads differ in width or number do not. */
    static List<AttentionHeads> in(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.operator() instanceof Softmax)
                .map(node -> around(graph, node))
                .filter(Objects::nonNull)
                .toList();
    }

    private static @Nullable AttentionHeads around(Graph graph, Node softmax) {
        Node scores = productBefore(graph, softmax.input(0), REACH);
        Use shares = productAfter(graph, softmax.output(), REACH);
        if (scores == null || shares == null) {
            return null;
        }
        Node context = shares.node();
        List<Projection> projections = Stream.of(scores.input(0), scores.input(1), context.input(1 - shares.input()))
                .map(tensor -> projectionBefore(graph, tensor, 0, 0, REACH))
                .filter(Objects::nonNull)
                .toList();
        InputChannels output = outputAfter(graph, context.output(), REACH);
        if (projections.size() < 3 || output == null) {
            return null;
        }
        Projection first = projections.getFirst();
        AttentionHeads found = new AttentionHeads(
                projections.stream().map(Projection::channels).toList(),
                output,
                Math.toIntExact(first.heads()),
                Math.toIntExact(first.width()));
        boolean alike =
                projections.stream().allMatch(one -> one.heads() == first.heads() && one.width() == first.width());
        return alike && found.fits(graph) ? found : null;
    }

    /** The product of two tensors, neither of them a weight, that a tensor is made from. */
    private static @Nullable Node productBefore(Graph graph, String tensor, int reach) {
        Node node = graph.producer(tensor);
        if (node == null || reach == 0) {
            return null;
        }
        return switch (node.operator()) {
            case MatMul _ -> InputChannels.of(graph, node) == null ? node : null;
            case Binary _, Where _, Elementwise _ ->
                node.inputs().stream()
                        .map(input -> productBefore(graph, input, reach - 1))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
            // Whatever else makes scores, it is no attention that is known here.
            default -> null;
        };
    }

    /** The product of two tensors, neither of them a weight, that a tensor goes to. */
    private static @Nullable Use productAfter(Graph graph, String tensor, int reach) {
        for (Use use : reach == 0 ? List.<Use>of() : graph.uses(tensor)) {
            Use found = switch (use.node().operator()) {
                case MatMul _ -> InputChannels.of(graph, use.node()) == null ? use : null;
                case Where _, Elementwise _ -> productAfter(graph, use.node().output(), reach - 1);
                default -> null;
            };
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** The product with a weight that a tensor is made from, and how a reshape on the way deals its outputs out. */
    private static @Nullable Projection projectionBefore(
            Graph graph, String tensor, long heads, long width, int reach) {
        Node node = graph.producer(tensor);
        if (node == null || reach == 0) {
            return null;
        }
        InputChannels channels = InputChannels.of(graph, node);
        if (channels != null) {
            return heads == 0 ? null : new Projection(channels, heads, width);
        }
        return switch (node.operator()) {
            case Reshape _ -> {
                Shape to = graph.shape(node.output());
                boolean deals = heads == 0 && cutsLastAxis(graph.shape(node.input(0)), to);
                yield projectionBefore(
                        graph,
                        node.input(0),
                        deals ? to.get(to.rank() - 2).value() : heads,
                        deals ? to.get(to.rank() - 1).value() : width,
                        reach - 1);
            }
            case Transpose _ -> projectionBefore(graph, node.input(0), heads, width, reach - 1);
            case Binary _, Elementwise _ ->
                node.inputs().stream()
                        .map(input -> projectionBefore(graph, input, heads, width, reach - 1))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
            // Splits and the like: one weight for query, key and value, which is not known here.
            default -> null;
        };
    }

    private static boolean cutsLastAxis(Shape from, Shape to) {
        if (from.rank() == 0 || to.rank() < 2) {
            return false;
        }
        Dimension channels = from.get(from.rank() - 1);
        Dimension heads = to.get(to.rank() - 2);
        Dimension width = to.get(to.rank() - 1);
        return channels.isKnown()
                && heads.isKnown()
                && width.isKnown()
                && heads.value() * width.value() == channels.value();
    }

    /** The only reader of what the heads return, once they are side by side again. */
    private static @Nullable InputChannels outputAfter(Graph graph, String tensor, int reach) {
        List<Use> uses = graph.uses(tensor).stream()
                .filter(use -> !(use.node().operator() instanceof ShapeOf))
                .toList();
        if (uses.size() != 1 || reach == 0 || graph.isOutput(tensor)) {
            return null;
        }
        Node node = uses.getFirst().node();
        InputChannels channels = InputChannels.of(graph, node);
        if (channels != null) {
            return channels.activation().equals(tensor)
                            && channels.activationAxis() == graph.shape(tensor).rank() - 1
                    ? channels
                    : null;
        }
        return switch (node.operator()) {
            case Reshape _, Transpose _, Elementwise _ -> outputAfter(graph, node.output(), reach - 1);
            default -> null;
        };
    }

    private boolean fits(Graph graph) {
        List<String> parameters = parameters();
        return parameters.stream().distinct().count() == parameters.size()
                && projections.stream().allMatch(one -> isMatrix(graph, one, 1 - one.axis()))
                && isMatrix(graph, output, output.axis());
    }

    /** Whether a weight is a matrix that has the channels of all heads along an axis. */
    private boolean isMatrix(Graph graph, InputChannels channels, int axis) {
        long[] shape = shape(graph, channels);
        return shape.length == 2 && shape[axis] == (long) heads * width;
    }

    private static long[] shape(Graph graph, InputChannels channels) {
        return Objects.requireNonNull(graph.tensor(channels.parameter())).shape();
    }

    List<String> parameters() {
        return Stream.concat(projections.stream(), Stream.of(output))
                .map(InputChannels::parameter)
                .toList();
    }

    /**
     * One group for each head: what leads into it (rows of the three projections, as many as it is wide) and what leads out of
     * it (the inputs of the output matrix that it feeds). Without the latter nobody listens to the head, so that all of it can
     * go; biases need not be zero for that, and are in no group.
     */
    LayerGroups groups(Graph graph) {
        List<GroupedWeight> weights = new ArrayList<>();
        List<AxisGroups> parts = new ArrayList<>();
        for (InputChannels projection : projections) {
            add(graph, projection, 1 - projection.axis(), weights, parts);
        }
        add(graph, output, output.axis(), weights, parts);
        return new LayerGroups(weights, new JointGroups(parts));
    }

    private void add(
            Graph graph, InputChannels channels, int axis, List<GroupedWeight> weights, List<AxisGroups> parts) {
        AxisGroups single = AxisGroups.along(axis, shape(graph, channels));
        weights.add(new GroupedWeight(channels.parameter(), axis, List.of(channels.node())));
        parts.add(new AxisGroups(single.outer(), heads, width * single.inner()));
    }
}
