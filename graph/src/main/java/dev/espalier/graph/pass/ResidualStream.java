package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The residual stream of a transformer whose normalisations stand before its layers: a sum to which embeddings and layers add, and
 * that is read through normalisations alone. So it is linear in the weights that write to it, and one of its dimensions is the same
 * in all of them.
 *
 * @param width how many dimensions it has
 * @param writers the weights that write to it, tables, biases and positions included, and the axis of each that its dimensions are
 *     along; all are read for nothing else
 * @param norms the layer normalisations that read it
 * @param normalised what normalisations make of it, those that are written out by root mean squares too
 * @param nodes what it is made of, the layers that write to it included
 */
public record ResidualStream(
        long width, SequencedMap<String, Integer> writers, List<Node> norms, List<String> normalised, Set<Node> nodes) {

    /** Takes copies. */
    public ResidualStream {
        writers = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(writers));
        norms = List.copyOf(norms);
        normalised = List.copyOf(normalised);
        nodes = Set.copyOf(nodes);
    }

    /**
     * {@return the streams of a graph, from front to back}
     *
     * @param graph the graph
     */
    public static List<ResidualStream> in(Graph graph) {
        Set<String> seen = new HashSet<>();
        List<ResidualStream> streams = new ArrayList<>();
        for (Node node : graph.nodes()) {
            String start = before(graph, node);
            if (start != null && !seen.contains(start)) {
                Search search = new Search(graph, start);
                boolean found = search.run();
                seen.addAll(search.axes.keySet());
                if (found) {
                    streams.add(search.stream());
                }
            }
        }
        return streams;
    }

    /** What a normalisation normalises; null for a node that is none, nor the beginning of one. */
    private static @Nullable String before(Graph graph, Node node) {
        if (node.operator() instanceof LayerNorm) {
            return node.input(0);
        }
        Node square = isMeanSquare(graph, node) ? graph.producer(node.input(0)) : null;
        return square == null ? null : square.input(0);
    }

    /** Whether a node is the mean of squares over the last axis, which a normalisation by it begins with. */
    private static boolean isMeanSquare(Graph graph, Node node) {
        Node square = node.operator() instanceof Reduce reduce
                        && reduce.function() == Reduce.Function.MEAN
                        && reduce.keep()
                        && isLastAxis(graph, node, reduce)
                ? graph.producer(node.input(0))
                : null;
        return square != null && isSquare(graph, square);
    }

    private static boolean isLastAxis(Graph graph, Node node, Reduce reduce) {
        int rank = graph.shape(node.input(0)).rank();
        return List.copyOf(reduce.resolvedAxes(rank)).equals(List.of(rank - 1));
    }

    private static boolean isSquare(Graph graph, Node node) {
        if (!(node.operator() instanceof Binary(Binary.Function function))) {
            return false;
        }
        Tensor exponent = graph.tensor(node.input(1));
        return function == Binary.Function.MULTIPLY
                ? node.input(0).equals(node.input(1))
                : function == Binary.Function.POWER
                        && exponent != null
                        && exponent.size() == 1
                        && exponent.getDouble(0) == 2;
    }

    /** Follows a stream in both directions, as long as everything is understood. */
    private static final class Search {
        private final Graph graph;
        private final Dimension width;
        /** The tensors of the stream, and the axis that its dimensions are along. */
        private final Map<String, Integer> axes = new HashMap<>();

        private final Deque<String> open = new ArrayDeque<>();
        private final SequencedMap<String, Integer> writers = new LinkedHashMap<>();
        private final SequencedSet<Node> norms = new LinkedHashSet<>();
        private final SequencedSet<String> normalised = new LinkedHashSet<>();
        private final Set<Node> nodes = new LinkedHashSet<>();

        Search(Graph graph, String start) {
            this.graph = graph;
            Shape shape = graph.shape(start);
            width = shape.rank() == 0 ? Dimension.ZERO : shape.get(-1);
            if (shape.rank() > 0) {
                add(start, shape.rank() - 1);
            }
        }

        ResidualStream stream() {
            return new ResidualStream(width.value(), writers, List.copyOf(norms), List.copyOf(normalised), nodes);
        }

        boolean run() {
            if (!width.isKnown() || width.value() < 2) {
                return false;
            }
            while (!open.isEmpty()) {
                String tensor = open.remove();
                Integer axis = axes.get(tensor);
                if (axis == null || graph.isOutput(tensor) || !isMade(tensor, axis) || !isRead(tensor, axis)) {
                    return false;
                }
            }
            return writers.keySet().stream()
                    .allMatch(weight -> graph.uses(weight).stream().allMatch(use -> nodes.contains(use.node())));
        }

        private boolean add(String tensor, int axis) {
            Integer known = axes.putIfAbsent(tensor, axis);
            if (known == null) {
                open.add(tensor);
            }
            return known == null || known == axis;
        }

        private boolean addWriter(String weight, int axis) {
            Tensor tensor = graph.tensor(weight);
            boolean fits = tensor != null
                    && tensor.type().isFloat()
                    && axis >= 0
                    && axis < tensor.rank()
                    && tensor.shape()[axis] == width.value();
            Integer known = fits ? writers.putIfAbsent(weight, axis) : null;
            return fits && (known == null || known == axis);
        }

        /** Whether the maker of a tensor is a layer that writes to the stream, or a part of it. */
        private boolean isMade(String tensor, int axis) {
            Node node = graph.producer(tensor);
            if (node == null) {
                return false;
            }
            nodes.add(node);
            int last = graph.shape(tensor).rank() - 1;
            return switch (node.operator()) {
                case MatMul _ -> {
                    Tensor weight = graph.tensor(node.input(1));
                    yield weight != null && weight.rank() == 2 && axis == last && addWriter(node.input(1), 1);
                }
                case Gemm gemm ->
                    axis == last
                            && graph.tensor(node.input(1)) != null
                            && addWriter(node.input(1), gemm.transposeB() ? 0 : 1)
                            && (!node.has(2)
                                    || addWriter(
                                            node.input(2),
                                            graph.shape(node.input(2)).rank() - 1));
                case Conv conv ->
                    axis == 1
                            && conv.groups() == 1
                            && addWriter(node.input(1), 0)
                            && (!node.has(2) || addWriter(node.input(2), 0));
                case Gather gather
                when graph.tensor(node.input(0)) != null ->
                    graph.shape(node.input(0)).rank() == 2
                            && graph.shape(node.input(0)).axis(gather.axis()) == 0
                            && axis == last
                            && addWriter(node.input(0), 1);
                default -> isPart(node, axis);
            };
        }

        /** Whether a node hands the dimensions on, each for itself and all alike, and its inputs belong to the stream too. */
        private boolean isPart(Node node, int axis) {
            List<Integer> inputs = carried(node);
            return !inputs.isEmpty()
                    && inputs.stream().allMatch(input -> {
                        int own = inputAxis(node, input, axis);
                        String name = node.input(input);
                        return own >= 0 && (graph.tensor(name) != null ? addWriter(name, own) : add(name, own));
                    });
        }

        /** The inputs of a node whose elements it hands on or adds up; none if it does something else. */
        private List<Integer> carried(Node node) {
            return switch (node.operator()) {
                case Binary(Binary.Function function)
                when function == Binary.Function.ADD || function == Binary.Function.SUBTRACT -> List.of(0, 1);
                case Binary(Binary.Function function)
                when function == Binary.Function.MULTIPLY || function == Binary.Function.DIVIDE -> {
                    Tensor factor = graph.tensor(node.input(1));
                    yield factor != null && factor.size() == 1 ? List.of(0) : List.of();
                }
                case Concat _ ->
                    IntStream.range(0, node.inputs().size()).boxed().toList();
                case Unary(Unary.Function function) when function == Unary.Function.IDENTITY -> List.of(0);
                case Transpose _, Reshape _, Squeeze _, Unsqueeze _, Flatten _, Expand _, Slice _, Gather _ ->
                    List.of(0);
                default -> List.of();
            };
        }

        /** The axis of an input that the dimensions are along if they are along a given axis of the output; negative if none. */
        private int inputAxis(Node node, int input, int axis) {
            return IntStream.range(0, graph.shape(node.input(input)).rank())
                    .filter(own -> graph.shape(node.input(input)).get(own).equals(width)
                            && outputAxis(node, input, own) == axis)
                    .findFirst()
                    .orElse(-1);
        }

        /** The axis of the output that the dimensions are along if they are along a given axis of an input; negative if none. */
        private int outputAxis(Node node, int input, int axis) {
            Shape from = graph.shape(node.input(input));
            Shape to = graph.shape(node.output());
            return switch (node.operator()) {
                case Transpose(List<Long> permutation) -> permutation.indexOf((long) axis);
                case Reshape _, Squeeze _, Unsqueeze _, Flatten _ ->
                    IntStream.range(0, to.rank())
                            .filter(other -> to.get(other).equals(width)
                                    && before(from, axis).equals(before(to, other)))
                            .reduce((first, second) -> second)
                            .orElse(-1);
                case Concat(long along) -> to.axis(along) == axis ? -1 : axis;
                case Gather(long along) -> {
                    int picked = from.axis(along);
                    int added = graph.shape(node.input(1)).rank() - 1;
                    yield picked == axis ? -1 : picked < axis ? axis + added : axis;
                }
                case Slice _ -> {
                    List<Slice.Piece> pieces = Slice.pieces(graph.operands(node));
                    yield pieces == null || pieces.stream().anyMatch(piece -> piece.axis() == axis) ? -1 : axis;
                }
                default -> {
                    int shifted = axis + to.rank() - from.rank();
                    yield to.get(shifted).equals(width) ? shifted : -1;
                }
            };
        }

        private static Dimension before(Shape shape, int axis) {
            return new Shape(shape.dimensions().subList(0, axis)).size();
        }

        /** Whether all readers of a tensor are parts of the stream, or normalise it. */
        private boolean isRead(String tensor, int axis) {
            int last = graph.shape(tensor).rank() - 1;
            for (Use use : graph.uses(tensor)) {
                Node node = use.node();
                boolean measures = node.operator().readsOnlyShape();
                if (measures || (axis == last && isMeanSquareOf(node))) {
                    continue;
                }
                if (node.operator() instanceof LayerNorm norm) {
                    boolean whole = use.input() == 0
                            && axis == last
                            && graph.shape(tensor).axis(norm.axis()) == last
                            && IntStream.range(1, node.inputs().size())
                                    .filter(node::has)
                                    .allMatch(i -> isVector(node.input(i)));
                    if (!whole) {
                        return false;
                    }
                    norms.add(node);
                    normalised.add(node.output());
                } else if (axis == last && isNormalised(node, tensor)) {
                    normalised.add(node.output());
                } else {
                    int to = carried(node).contains(use.input()) ? outputAxis(node, use.input(), axis) : -1;
                    if (to < 0 || !add(node.output(), to)) {
                        return false;
                    }
                    nodes.add(node);
                }
            }
            return true;
        }

        private boolean isVector(String weight) {
            Tensor tensor = graph.tensor(weight);
            return tensor != null && tensor.rank() == 1 && tensor.size() == width.value();
        }

        private boolean isMeanSquareOf(Node square) {
            return isSquare(graph, square)
                    && !graph.isOutput(square.output())
                    && graph.uses(square.output()).stream().allMatch(use -> isMeanSquare(graph, use.node()));
        }

        /** Whether a node divides a tensor by the root of the mean of its squares, or multiplies it with the inverse. */
        private boolean isNormalised(Node node, String tensor) {
            if (!(node.operator() instanceof Binary(Binary.Function function))
                    || (function != Binary.Function.DIVIDE && function != Binary.Function.MULTIPLY)) {
                return false;
            }
            String other = node.input(node.input(0).equals(tensor) ? 1 : 0);
            boolean divides =
                    function == Binary.Function.MULTIPLY || node.input(0).equals(tensor);
            Node step = graph.producer(other);
            for (int i = 0; step != null && i < 8; i++) {
                if (isMeanSquare(graph, step)) {
                    Node square = graph.producer(step.input(0));
                    return divides && square != null && square.input(0).equals(tensor);
                }
                List<String> computed = step.inputs().stream()
                        .filter(input -> graph.tensor(input) == null)
                        .toList();
                boolean alone =
                        computed.size() == 1 && (step.operator() instanceof Unary || step.operator() instanceof Binary);
                step = alone ? graph.producer(computed.getFirst()) : null;
            }
            return false;
        }
    }
}
