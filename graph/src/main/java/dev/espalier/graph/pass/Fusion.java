package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Names patterns that exporters write out: a layer normalisation and a GELU, each as one node instead of nine or five.
 * Training them is faster, and pruning understands them.
 */
public final class Fusion {
    private static final double TOLERANCE = 1e-4;

    private final Graph graph;
    /** From the last node of a pattern to what takes its place. */
    private final Map<Node, Node> replaced = new HashMap<>();

    private final Set<Node> absorbed = new HashSet<>();

    private Fusion(Graph graph) {
        this.graph = graph;
    }

    /**
     * The graph with its patterns named.
     *
     * @param graph the graph
     * @return an equivalent graph
     */
    public static Graph fuse(Graph graph) {
        return new Fusion(graph).run();
    }

    private Graph run() {
        for (Node node : graph.nodes()) {
            if (isBinary(node, Binary.Function.DIVIDE)) {
                layerNorm(node);
            } else if (isUnary(node, Unary.Function.ERF)) {
                gelu(node);
            }
        }
        if (replaced.isEmpty()) {
            return graph;
        }
        List<Node> nodes = new ArrayList<>();
        for (Node node : graph.nodes()) {
            if (replaced.containsKey(node)) {
                nodes.add(replaced.get(node));
            } else if (!absorbed.contains(node)) {
                nodes.add(node);
            }
        }
        return DeadNodes.remove(graph.with(graph.initializers(), nodes));
    }

    /**
     * {@code (x − mean(x)) / √(mean((x − mean(x))²) + ε) · scale + shift}. The nodes before the quotient are left to
     * {@link DeadNodes}: another node may read them.
     */
    private void layerNorm(Node quotient) {
        Node root = graph.producer(quotient.input(1));
        Node sum = root == null || !isUnary(root, Unary.Function.SQRT) ? null : graph.producer(root.input(0));
        Operand variance = sum == null ? null : constantOperand(sum, Binary.Function.ADD);
        Node square = variance == null ? null : meanOf(graph.producer(variance.other()));
        String centred = quotient.input(0);
        if (variance == null || square == null || !isSquareOf(square, centred)) {
            return;
        }
        Node difference = graph.producer(centred);
        if (difference == null || !isBinary(difference, Binary.Function.SUBTRACT)) {
            return;
        }
        String input = difference.input(0);
        Node mean = graph.producer(difference.input(1));
        Node variancesMean = graph.producer(variance.other());
        if (mean == null
                || variancesMean == null
                || !isMean(mean)
                || !mean.input(0).equals(input)) {
            return;
        }
        Integer axis = firstOfLastAxes(mean, graph.shape(input));
        if (axis == null || !axis.equals(firstOfLastAxes(variancesMean, graph.shape(input)))) {
            return;
        }
        Node scaled = onlyUse(quotient, Binary.Function.MULTIPLY);
        String scale = scaled == null ? null : affine(scaled, quotient.output(), input, axis);
        if (scaled == null || scale == null) {
            return;
        }
        List<String> inputs = new ArrayList<>(List.of(input, scale));
        Node last = scaled;
        Node shifted = onlyUse(scaled, Binary.Function.ADD);
        String shift = shifted == null ? null : affine(shifted, scaled.output(), input, axis);
        if (shifted != null && shift != null) {
            inputs.add(shift);
            last = shifted;
            absorbed.add(scaled);
        }
        absorbed.add(quotient);
        // Counted from the end, so that the node stays right if an axis is added in front.
        long fromEnd = axis - (long) graph.shape(input).rank();
        replaced.put(last, new Node(last.name(), new LayerNorm(fromEnd, variance.constant()), inputs, last.outputs()));
    }

    /** {@code x/2 · (1 + erf(x/√2))}, whichever way the three factors are multiplied. */
    private void gelu(Node erf) {
        String input = scaledInput(graph.producer(erf.input(0)));
        Node sum = onlyUse(erf, Binary.Function.ADD);
        Operand one = sum == null ? null : constantOperand(sum, Binary.Function.ADD);
        if (input == null || sum == null || one == null || !isClose(one.constant(), 1)) {
            return;
        }
        Node first = onlyUse(sum, Binary.Function.MULTIPLY);
        if (first == null) {
            return;
        }
        String factor = other(first, sum.output());
        if (isHalf(graph.producer(factor), input)) {
            replace(first, input, List.of(sum));
            return;
        }
        Node second = onlyUse(first, Binary.Function.MULTIPLY);
        if (second == null) {
            return;
        }
        Operand half = constantOperand(second, Binary.Function.MULTIPLY);
        Double firstConstant = scalar(factor);
        boolean inputFirst = factor.equals(input) && half != null && isClose(half.constant(), 0.5);
        boolean halfFirst = firstConstant != null
                && isClose(firstConstant, 0.5)
                && other(second, first.output()).equals(input);
        if (inputFirst || halfFirst) {
            replace(second, input, List.of(sum, first));
        }
    }

    private void replace(Node last, String input, List<Node> before) {
        absorbed.addAll(before);
        replaced.put(last, new Node(last.name(), new Gelu(false), List.of(input), last.outputs()));
    }

    /** The x of {@code x / √2} or {@code x · (1/√2)}. */
    private @Nullable String scaledInput(@Nullable Node node) {
        if (node == null) {
            return null;
        }
        Double divisor = isBinary(node, Binary.Function.DIVIDE) ? scalar(node.input(1)) : null;
        if (divisor != null) {
            return isClose(divisor, Math.sqrt(2)) ? node.input(0) : null;
        }
        Operand factor = constantOperand(node, Binary.Function.MULTIPLY);
        return factor != null && isClose(factor.constant(), Math.sqrt(0.5)) ? factor.other() : null;
    }

    private boolean isHalf(@Nullable Node node, String input) {
        Operand half = node == null ? null : constantOperand(node, Binary.Function.MULTIPLY);
        return half != null && isClose(half.constant(), 0.5) && half.other().equals(input);
    }

    private boolean isSquareOf(Node node, String tensor) {
        if (isBinary(node, Binary.Function.POWER)) {
            Double exponent = scalar(node.input(1));
            return exponent != null && exponent == 2 && sameDifference(node.input(0), tensor);
        }
        return isBinary(node, Binary.Function.MULTIPLY)
                && node.input(0).equals(node.input(1))
                && sameDifference(node.input(0), tensor);
    }

    /** Some exporters subtract the mean twice, once for the variance. */
    private boolean sameDifference(String left, String right) {
        if (left.equals(right)) {
            return true;
        }
        Node one = graph.producer(left);
        Node other = graph.producer(right);
        return one != null
                && other != null
                && isBinary(one, Binary.Function.SUBTRACT)
                && one.operator().equals(other.operator())
                && one.inputs().equals(other.inputs());
    }

    /** The node whose mean a node takes. */
    private @Nullable Node meanOf(@Nullable Node mean) {
        return mean != null && isMean(mean) ? graph.producer(mean.input(0)) : null;
    }

    private static boolean isMean(Node node) {
        return node.operator() instanceof Reduce(Reduce.Function function, List<Long> axes, boolean keep)
                && function == Reduce.Function.MEAN
                && keep
                && !axes.isEmpty();
    }

    /** The first of the axes that a mean is over, if they are the last ones; otherwise null. */
    private static @Nullable Integer firstOfLastAxes(Node mean, Shape shape) {
        if (!(mean.operator() instanceof Reduce reduce)) {
            return null;
        }
        List<Integer> axes = new ArrayList<>(reduce.resolvedAxes(shape.rank()));
        boolean last = axes.getFirst() + axes.size() == shape.rank();
        return last ? axes.getFirst() : null;
    }

    /** The initializer that a node combines a tensor with, if it has the shape of the axes that are averaged over. */
    private @Nullable String affine(Node node, String tensor, String input, int axis) {
        String parameter = other(node, tensor);
        Tensor contents = graph.tensor(parameter);
        Shape shape = graph.shape(input);
        boolean fits = contents != null
                && contents.tensorType()
                        .shape()
                        .dimensions()
                        .equals(shape.dimensions().subList(axis, shape.rank()));
        return fits ? parameter : null;
    }

    private record Operand(double constant, String other) {}

    /** The constant of a sum or product, on whichever side it stands, and the other side. */
    private @Nullable Operand constantOperand(Node node, Binary.Function function) {
        if (!isBinary(node, function)) {
            return null;
        }
        Double right = scalar(node.input(1));
        if (right != null) {
            return new Operand(right, node.input(0));
        }
        Double left = scalar(node.input(0));
        return left == null ? null : new Operand(left, node.input(1));
    }

    private @Nullable Double scalar(String tensor) {
        Tensor contents = graph.tensor(tensor);
        return contents != null && contents.size() == 1 ? contents.getDouble(0) : null;
    }

    private @Nullable Node onlyUse(Node node, Binary.Function function) {
        List<Use> uses = graph.uses(node.output());
        boolean once = uses.size() == 1 && !graph.isOutput(node.output());
        return once && isBinary(uses.getFirst().node(), function)
                ? uses.getFirst().node()
                : null;
    }

    private static String other(Node binary, String tensor) {
        return binary.input(binary.input(0).equals(tensor) ? 1 : 0);
    }

    private static boolean isBinary(Node node, Binary.Function function) {
        return node.operator() instanceof Binary binary && binary.function() == function;
    }

    private static boolean isUnary(Node node, Unary.Function function) {
        return node.operator() instanceof Unary unary && unary.function() == function;
    }

    private static boolean isClose(double value, double target) {
        return Math.abs(value - target) <= TOLERANCE * target;
    }
}
