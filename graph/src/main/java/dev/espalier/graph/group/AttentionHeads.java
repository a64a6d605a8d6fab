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
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A multi-head attention: three projections (query, key and value) whose outputs are dealt out to heads, and an output
 * matrix that reads what the heads return. The projections may be parts of one matrix.
 *
 * @param projections query, key and value; either of the first two may be the query
 * @param output the output matrix
 * @param heads how many heads there are
 * @param width channels of a head
 */
record AttentionHeads(List<Projection> projections, InputChannels output, int heads, int width) {
    /** Nodes between two products, at most: masks, scales, casts and dropout are a handful. */
    private static final int REACH = 16;

    /**
     * A product with a weight that was found upstream, and the heads that its outputs were dealt out to.
     *
     * @param channels the product
     * @param part which part of its outputs they are, all as long as this one
     * @param heads how many heads there are
     * @param width channels of a head
     */
    record Projection(InputChannels channels, long part, long heads, long width) {
        String parameter() {
            return channels.parameter();
        }
    }

    /** What is known on the way from a head to its projection. */
    private record Dealt(long part, long heads, long width) {
        static final Dealt NOT_YET = new Dealt(-1, 0, 0);

        boolean toHeads() {
            return heads > 0;
        }
    }

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
                .map(tensor -> projectionBefore(graph, tensor, Dealt.NOT_YET, REACH))
                .filter(Objects::nonNull)
                .toList();
        InputChannels output = outputAfter(graph, context.output(), REACH);
        if (projections.size() < 3 || output == null) {
            return null;
        }
        Projection first = projections.getFirst();
        AttentionHeads found =
                new AttentionHeads(projections, output, Math.toIntExact(first.heads()), Math.toIntExact(first.width()));
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

    /**
     * The product with a weight that a tensor is made from, how a reshape on the way deals its outputs out, and which part of them
     * is taken before that.
     */
    private static @Nullable Projection projectionBefore(Graph graph, String tensor, Dealt dealt, int reach) {
        Node node = graph.producer(tensor);
        if (node == null || reach == 0) {
            return null;
        }
        InputChannels channels = InputChannels.of(graph, node);
        if (channels != null) {
            return dealt.toHeads()
                    ? new Projection(channels, Math.max(dealt.part(), 0), dealt.heads(), dealt.width())
                    : null;
        }
        return switch (node.operator()) {
            case Reshape _ -> {
                Shape to = graph.shape(node.output());
                boolean deals = !dealt.toHeads() && graph.shape(node.input(0)).isCutInto(to);
                Dealt before = deals
                        ? new Dealt(
                                dealt.part(),
                                to.get(to.rank() - 2).value(),
                                to.get(to.rank() - 1).value())
                        : dealt;
                yield projectionBefore(graph, node.input(0), before, reach - 1);
            }
            case Split(long axis, List<Long> sizes) -> {
                Shape from = graph.shape(node.input(0));
                boolean parts = dealt.toHeads()
                        && dealt.part() < 0
                        && from.axis(axis) == from.rank() - 1
                        && sizes.stream().allMatch(size -> size == dealt.heads() * dealt.width());
                Dealt before = new Dealt(node.outputs().indexOf(tensor), dealt.heads(), dealt.width());
                yield parts ? projectionBefore(graph, node.input(0), before, reach - 1) : null;
            }
            case Transpose _, Squeeze _, Unsqueeze _ -> projectionBefore(graph, node.input(0), dealt, reach - 1);
            case Binary _, Elementwise _ ->
                node.inputs().stream()
                        .map(input -> projectionBefore(graph, input, dealt, reach - 1))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
            // Whatever else is done to the outputs, they are not dealt out to heads in a way that is known here.
            default -> null;
        };
    }

    /** The only reader of what the heads return, once they are side by side again. */
    private static @Nullable InputChannels outputAfter(Graph graph, String tensor, int reach) {
        List<Use> uses = graph.readers(tensor);
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
            case Reshape _, Transpose _, Squeeze _, Unsqueeze _, Elementwise _, Where _ ->
                outputAfter(graph, node.output(), reach - 1);
            default -> null;
        };
    }

    private boolean fits(Graph graph) {
        return !matrices().containsKey(output.parameter())
                && matrices().values().stream().allMatch(parts -> isMatrix(graph, parts))
                && isMatrix(graph, output, output.axis(), 1);
    }

    /** The projections by their weights. */
    private SequencedMap<String, List<Projection>> matrices() {
        SequencedMap<String, List<Projection>> matrices = new LinkedHashMap<>();
        projections.forEach(projection -> matrices.computeIfAbsent(projection.parameter(), _ -> new ArrayList<>())
                .add(projection));
        return matrices;
    }

    /** Whether a weight is a matrix whose outputs are these projections and no others. */
    private boolean isMatrix(Graph graph, List<Projection> parts) {
        InputChannels channels = parts.getFirst().channels();
        return parts.stream().map(Projection::part).distinct().count() == parts.size()
                && parts.stream().allMatch(part -> part.channels().axis() == channels.axis())
                && isMatrix(graph, channels, 1 - channels.axis(), parts.size());
    }

    /** Whether a weight is a matrix that has the channels of all heads along an axis, a number of times. */
    private boolean isMatrix(Graph graph, InputChannels channels, int axis, int times) {
        long[] shape = shape(graph, channels);
        return shape.length == 2 && shape[axis] == (long) times * heads * width;
    }

    private static long[] shape(Graph graph, InputChannels channels) {
        return Objects.requireNonNull(graph.tensor(channels.parameter())).shape();
    }

    /**
     * One group for each head: what leads into it (rows of the three projections, as many as it is wide) and what leads out of
     * it (the inputs of the output matrix that it feeds). Without the latter nobody listens to the head, so that all of it can
     * go; biases need not be zero for that, and are in no group.
     */
    LayerGroups byHead(Graph graph) {
        return joint(graph, List.copyOf(matrices().values()), true, heads);
    }

    /**
     * One group for each dimension of each head. A dimension of the query is worth nothing without that of the key, nor one of the
     * value without the input of the output matrix that it feeds: two kinds of groups. Where one matrix makes several of the three,
     * a weight cannot be told to which kind it belongs, and a group is all four.
     */
    List<LayerGroups> byDimension(Graph graph) {
        List<List<Projection>> matrices = List.copyOf(matrices().values());
        int dimensions = heads * width;
        return matrices.size() < projections.size()
                ? List.of(joint(graph, matrices, true, dimensions))
                : List.of(
                        joint(graph, matrices.subList(0, 2), false, dimensions),
                        joint(graph, matrices.subList(2, 3), true, dimensions));
    }

    private LayerGroups joint(Graph graph, List<List<Projection>> matrices, boolean withOutput, int count) {
        List<GroupedWeight> weights = new ArrayList<>();
        List<AxisGroups> parts = new ArrayList<>();
        for (List<Projection> matrix : matrices) {
            InputChannels channels = matrix.getFirst().channels();
            add(graph, channels, 1 - channels.axis(), matrix.size(), count, weights, parts);
        }
        if (withOutput) {
            add(graph, output, output.axis(), 1, count, weights, parts);
        }
        return new LayerGroups(weights, new JointGroups(parts), count == heads ? 1 : heads);
    }

    /** Heads come one after another, {@code times} times: what lies between is as far outside as the inputs are. */
    private void add(
            Graph graph,
            InputChannels channels,
            int axis,
            int times,
            int count,
            List<GroupedWeight> weights,
            List<AxisGroups> parts) {
        AxisGroups single = AxisGroups.along(axis, shape(graph, channels));
        weights.add(new GroupedWeight(channels.parameter(), axis, List.of(channels.node())));
        parts.add(new AxisGroups(
                single.outer() * times, count, Math.toIntExact((long) heads * width / count * single.inner())));
    }
}
