package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes away what no softmax sees: the bias of an attention's keys adds the same number to all scores of a query,
 * {@code q·(k + b) = q·k + q·b}, and shares are what they were. Such a bias is in the way where a model is made narrower: a
 * dimension of the keys whose weights are zero would still be a number, and so would be multiplied with the query's.
 */
public final class KeyBiases {
    private final Graph graph;
    private final List<Node> nodes;

    private KeyBiases(Graph graph) {
        this.graph = graph;
        nodes = new ArrayList<>(graph.nodes());
    }

    /**
     * {@return an equivalent graph without such biases; the very same if there is none}
     *
     * @param graph the graph
     */
    public static Graph remove(Graph graph) {
        KeyBiases pass = new KeyBiases(graph);
        boolean changed = false;
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Softmax softmax) {
                Shape scores = graph.shape(node.input(0));
                Node product = scores.axis(softmax.axis()) == scores.rank() - 1 ? pass.product(node.input(0)) : null;
                changed |= product != null && pass.removeBias(product.input(1));
            }
        }
        return changed ? DeadNodes.remove(graph.with(graph.initializers(), pass.nodes)) : graph;
    }

    /** The keys lie along the last axis of what queries are multiplied with. */
    private boolean removeBias(String keys) {
        int rank = graph.shape(keys).rank();
        Node sum = rank < 2 ? null : sum(keys, rank - 1);
        return sum != null && remove(sum);
    }

    /** The product that a tensor is, but for a factor and for what is added to it. */
    private @Nullable Node product(String tensor) {
        Node node = sole(tensor);
        if (node == null) {
            return null;
        }
        return switch (node.operator()) {
            case MatMul _ -> node;
            case Binary(Binary.Function function)
            when isScale(node) || function == Binary.Function.SUBTRACT -> product(node.input(0));
            case Binary(Binary.Function function)
            when function == Binary.Function.ADD -> {
                Node first = product(node.input(0));
                yield first == null ? product(node.input(1)) : first;
            }
            default -> null; // what else is done to scores may not leave shares as they are
        };
    }

    /** The sum with a bias that a tensor is made from, if the bias is the same all along an axis of the tensor. */
    private @Nullable Node sum(String tensor, int axis) {
        Node node = sole(tensor);
        if (node == null) {
            return null;
        }
        return switch (node.operator()) {
            case Transpose(List<Long> permutation) -> sum(node.input(0), Math.toIntExact(permutation.get(axis)));
            case Reshape _ -> {
                Shape to = graph.shape(tensor);
                boolean apart = graph.shape(node.input(0)).isCutInto(to) && axis < to.rank() - 2;
                // What lies before the channels may be arranged anew: a bias is the same along all of it.
                yield apart ? sum(node.input(0), 0) : null;
            }
            case Binary _ when isScale(node) -> sum(node.input(0), axis);
            case Binary(Binary.Function function)
            when function == Binary.Function.ADD -> {
                boolean last = axis == graph.shape(tensor).rank() - 1;
                yield !last && bias(node) >= 0 ? node : null;
            }
            default -> null;
        };
    }

    /** Makes what was added to the sum itself. */
    private boolean remove(Node sum) {
        String rest = sum.input(1 - bias(sum));
        Node before = sole(rest);
        if (before == null || before.outputs().size() != 1) {
            return false;
        }
        nodes.remove(sum);
        nodes.replaceAll(node -> node.output().equals(rest)
                ? new Node(node.name(), node.operator(), node.inputs(), sum.outputs())
                : node);
        return true;
    }

    /** Which operand is a bias, one number for each channel; −1 if none is. */
    private int bias(Node sum) {
        for (int i = 0; i < 2; i++) {
            Tensor tensor = graph.tensor(sum.input(i));
            Shape other = graph.shape(sum.input(1 - i));
            if (tensor != null && tensor.shape().length == 1 && other.equals(graph.shape(sum.output()))) {
                return i;
            }
        }
        return -1;
    }

    private boolean isScale(Node node) {
        Tensor by = node.operator() instanceof Binary(Binary.Function function)
                        && (function == Binary.Function.MULTIPLY || function == Binary.Function.DIVIDE)
                ? graph.tensor(node.input(1))
                : null;
        return by != null && by.size() == 1;
    }

    /** What makes a tensor that one node reads, whoever asks for its shape besides. */
    private @Nullable Node sole(String tensor) {
        List<Use> uses = graph.readers(tensor);
        return uses.size() == 1 && !graph.isOutput(tensor) ? graph.producer(tensor) : null;
    }
}
