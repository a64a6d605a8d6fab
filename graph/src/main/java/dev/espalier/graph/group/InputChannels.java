package dev.espalier.graph.group;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where a node multiplies its input with a trained weight, and which axes of the two meet there.
 *
 * @param node the node
 * @param parameter the weight's name
 * @param axis the axis of the weight that input channels lie along
 * @param activation the name of the tensor that is multiplied
 * @param activationAxis the axis of that tensor that the channels lie along
 * @param groups one group for each input channel
 */
record InputChannels(Node node, String parameter, int axis, String activation, int activationAxis, Groups groups) {

    /** A weight as an operand: a parameter, and for each axis of the operand the parameter's. */
    private record Operand(String parameter, Tensor tensor, List<Integer> axes) {}

    /** All that a node multiplies: two tensors if it is a recurrent layer, one if any at all otherwise. */
    static List<InputChannels> in(Graph graph, Node node) {
        if (node.operator() instanceof Recurrent) {
            return recurrent(graph, node);
        }
        InputChannels only = of(graph, node);
        return only == null ? List.of() : List.of(only);
    }

    /** What is fed in, and the layer's own states, which are what it makes. */
    private static List<InputChannels> recurrent(Graph graph, Node node) {
        List<InputChannels> found = new ArrayList<>();
        Operand fed = weight(graph, node.input(1));
        if (fed != null) {
            found.add(along(node, fed, 2, node.input(0), 2));
        }
        Operand back = weight(graph, node.input(2));
        if (back != null) {
            String states = node.outputs().stream()
                    .filter(output -> !output.isEmpty())
                    .findFirst()
                    .orElseThrow();
            found.add(along(node, back, 2, states, graph.shape(states).rank() - 1));
        }
        return found;
    }

    InputChannels with(Groups others) {
        return new InputChannels(node, parameter, axis, activation, activationAxis, others);
    }

    /** What a node multiplies that is no recurrent layer; null for a node that multiplies no trained weight. */
    static @Nullable InputChannels of(Graph graph, Node node) {
        return switch (node.operator()) {
            case Conv conv -> {
                Operand weight = weight(graph, node.input(1));
                yield weight == null ? null : convolution(node, conv, weight);
            }
            case ConvTranspose _ -> {
                Operand weight = weight(graph, node.input(1));
                yield weight == null ? null : along(node, weight, 0, node.input(0), 1);
            }
            case Gemm gemm -> {
                Operand right = weight(graph, node.input(1));
                Operand left = weight(graph, node.input(0));
                int inLeft = gemm.transposeA() ? 0 : 1;
                int inRight = gemm.transposeB() ? 1 : 0;
                yield right != null
                        ? along(node, right, inRight, node.input(0), inLeft)
                        : left != null ? along(node, left, inLeft, node.input(1), inRight) : null;
            }
            case MatMul matMul -> {
                Operand right = weight(graph, node.input(1));
                Operand left = weight(graph, node.input(0));
                int inLeft = graph.shape(node.input(0)).rank() - 1;
                int inRight = Math.max(graph.shape(node.input(1)).rank() - 2, 0);
                yield right != null
                        ? along(node, right, inRight, node.input(0), inLeft)
                        : left != null ? along(node, left, inLeft, node.input(1), inRight) : null;
            }
            // Every other operator has no weight whose inputs could be left out.
            default -> null;
        };
    }

    /** The parameter behind an operand: itself, or turned by nodes that only move its elements. */
    private static @Nullable Operand weight(Graph graph, String operand) {
        Initializer initializer = graph.initializers().get(operand);
        if (initializer != null) {
            Tensor tensor = initializer.tensor();
            boolean trained = initializer.kind() == Initializer.Kind.PARAMETER
                    && tensor.type().isFloat()
                    && tensor.size() > 0;
            return trained
                    ? new Operand(
                            operand,
                            tensor,
                            IntStream.range(0, tensor.rank()).boxed().toList())
                    : null;
        }
        Node producer = graph.producer(operand);
        if (producer == null) {
            return null;
        }
        return switch (producer.operator()) {
            case Transpose(List<Long> permutation) -> {
                Operand inner = weight(graph, producer.input(0));
                yield inner == null
                        ? null
                        : new Operand(
                                inner.parameter(),
                                inner.tensor(),
                                permutation.stream()
                                        .map(axis -> inner.axes().get(axis.intValue()))
                                        .toList());
            }
            case Unary(Unary.Function function)
            when function == Unary.Function.IDENTITY -> weight(graph, producer.input(0));
            // Anything else computes: its result is not the parameter.
            default -> null;
        };
    }

    private static InputChannels along(Node node, Operand weight, int axis, String activation, int activationAxis) {
        int own = weight.axes().get(axis);
        Groups groups = AxisGroups.along(own, weight.tensor().shape());
        return new InputChannels(node, weight.parameter(), own, activation, activationAxis, groups);
    }

    private static @Nullable InputChannels convolution(Node node, Conv conv, Operand weight) {
        if (conv.groups() == 1) {
            return along(node, weight, 1, node.input(0), 1);
        }
        boolean turned = weight.axes().get(0) != 0 || weight.axes().get(1) != 1;
        // No exporter turns the weight of a convolution in parts; its channels would lie along two axes at once.
        return turned
                ? null
                : new InputChannels(
                        node,
                        weight.parameter(),
                        1,
                        node.input(0),
                        1,
                        parts(conv.groups(), weight.tensor().shape()));
    }

    /**
     * The weights {@code [parts·out, in, window…]} of a convolution in parts: input channel {@code p·in + c} meets the
     * filters of part p only.
     */
    private static Groups parts(long parts, long... shape) {
        long out = shape[0] / parts;
        long in = shape[1];
        long window = Tensor.size(shape) / (shape[0] * in);
        if (out == 1) {
            return AxisGroups.along(1, 1, parts * in, window);
        }
        if (in == 1) {
            return AxisGroups.along(1, 1, parts, out * window);
        }
        List<List<Long>> indices = new ArrayList<>();
        for (long part = 0; part < parts; part++) {
            for (long channel = 0; channel < in; channel++) {
                List<Long> members = new ArrayList<>();
                for (long filter = part * out; filter < (part + 1) * out; filter++) {
                    long start = (filter * in + channel) * window;
                    for (long i = start; i < start + window; i++) {
                        members.add(i);
                    }
                }
                indices.add(members);
            }
        }
        return new IndexGroups(Tensor.size(shape), indices);
    }
}
