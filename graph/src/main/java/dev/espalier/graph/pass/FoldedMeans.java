package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes a factor out of a normalisation by the root mean square, so that runtimes know it for one again and do it in one go:
 * {@code x / √(c·mean + ε) · γ = x / √(mean + ε/c) · γ/√c}.
 */
public final class FoldedMeans {
    private final Graph graph;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes;

    private FoldedMeans(Graph graph) {
        this.graph = graph;
        initializers = new LinkedHashMap<>(graph.initializers());
        nodes = new ArrayList<>(graph.nodes());
    }

    /**
     * {@return an equivalent graph without such factors; the very same if there is none}
     *
     * @param graph the graph
     */
    public static Graph fold(Graph graph) {
        FoldedMeans pass = new FoldedMeans(graph);
        boolean changed = false;
        for (Node node : graph.nodes()) {
            changed |= pass.fold(node);
        }
        return changed ? DeadNodes.remove(graph.with(pass.initializers, pass.nodes)) : graph;
    }

    private boolean fold(Node factor) {
        Tensor share = isBinary(factor, Binary.Function.MULTIPLY) ? number(factor.input(1)) : null;
        Node mean = share == null ? null : graph.producer(factor.input(0));
        boolean starts =
                mean != null && mean.operator() instanceof Reduce reduce && reduce.function() == Reduce.Function.MEAN;
        Node sum = starts ? next(factor, new Binary(Binary.Function.ADD)) : null;
        Node root = sum == null ? null : next(sum, new Unary(Unary.Function.SQRT));
        Node inverse = root == null ? null : next(root, new Unary(Unary.Function.RECIPROCAL));
        Node normal = inverse != null
                ? next(inverse, new Binary(Binary.Function.MULTIPLY))
                : root == null ? null : next(root, new Binary(Binary.Function.DIVIDE));
        Node scaled = normal == null ? null : next(normal, new Binary(Binary.Function.MULTIPLY));
        if (share == null || sum == null || root == null || normal == null || scaled == null) {
            return false;
        }
        boolean divides = inverse != null || normal.input(1).equals(root.output());
        String epsilon = other(sum, factor);
        String scale = other(scaled, normal);
        Tensor added = number(epsilon);
        Tensor factors = graph.tensor(scale);
        double c = share.getDouble(0);
        if (!divides || added == null || factors == null || graph.uses(scale).size() != 1 || c <= 0) {
            return false;
        }
        String folded = factor.output() + ".epsilon";
        if (graph.tensor(folded) != null || graph.producer(folded) != null) {
            return false;
        }
        initializers.put(
                folded,
                new Initializer(
                        Tensor.compute(added.type(), added.shape(), i -> added.getDouble(i) / c),
                        Initializer.Kind.CONSTANT));
        initializers.computeIfPresent(
                scale,
                (_, old) -> old.with(
                        Tensor.compute(factors.type(), factors.shape(), i -> factors.getDouble(i) / Math.sqrt(c))));
        nodes.replaceAll(node -> node.equals(sum)
                ? new Node(sum.name(), sum.operator(), List.of(factor.input(0), folded), sum.outputs())
                : node);
        return true;
    }

    private static boolean isBinary(Node node, Binary.Function function) {
        return node.operator().equals(new Binary(function));
    }

    private @Nullable Tensor number(String name) {
        Tensor tensor = graph.tensor(name);
        return tensor != null && tensor.size() == 1 ? tensor : null;
    }

    /** The only reader of what a node makes, if it does what is looked for. */
    private @Nullable Node next(Node node, Operator operator) {
        List<Use> uses = graph.uses(node.output());
        boolean alone = uses.size() == 1
                && !graph.isOutput(node.output())
                && uses.getFirst().node().operator().equals(operator);
        return alone ? uses.getFirst().node() : null;
    }

    private static String other(Node binary, Node operand) {
        return binary.input(binary.input(0).equals(operand.output()) ? 1 : 0);
    }
}
