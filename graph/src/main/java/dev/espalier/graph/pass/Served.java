package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;

/**
 * A model as it is served. Batch normalisations go by their statistics: they are {@code a·x + b} for each channel. They are not made part
 * of the convolution before, whose weights would then be of any size, some a thousand times as large as others, and no step would be
 * right for all of them; runtimes do that when they load a model. Nothing is dropped out. What is left can be trained further, and
 * does in training what it does afterwards.
 */
public final class Served {
    private final Graph graph;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes = new ArrayList<>();

    private Served(Graph graph) {
        this.graph = graph;
        this.initializers = new LinkedHashMap<>(graph.initializers());
    }

    /**
     * The graph without batch normalisations and dropout.
     *
     * @param graph the graph
     * @return an equivalent graph for inference; normalisations whose statistics are no initializers stay
     */
    public static Graph of(Graph graph) {
        return new Served(graph).run();
    }

    private Graph run() {
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Dropout && node.outputs().size() == 1) {
                nodes.add(new Node(
                        node.name(), new Unary(Unary.Function.IDENTITY), List.of(node.input(0)), node.outputs()));
                continue;
            }
            if (!(node.operator() instanceof BatchNorm norm) || !isKnown(node)) {
                nodes.add(node);
                continue;
            }
            double[] factors = new double[Math.toIntExact(known(node, 1).size())];
            double[] shifts = new double[factors.length];
            for (int c = 0; c < factors.length; c++) {
                factors[c] =
                        known(node, 1).getDouble(c) / Math.sqrt(known(node, 4).getDouble(c) + norm.epsilon());
                shifts[c] = known(node, 2).getDouble(c) - known(node, 3).getDouble(c) * factors[c];
            }
            spell(node, factors, shifts);
        }
        return nodes.equals(graph.nodes()) ? graph : DeadNodes.remove(graph.with(initializers, nodes));
    }

    private boolean isKnown(Node node) {
        return node.outputs().size() == 1
                && node.inputs().stream().skip(1).allMatch(name -> graph.tensor(name) != null);
    }

    private Tensor known(Node node, int input) {
        return Objects.requireNonNull(graph.tensor(node.input(input)));
    }

    /** Along the second axis, whatever the others are. */
    private void spell(Node norm, double[] factors, double[] shifts) {
        int after = graph.shape(norm.input(0)).rank() - 2;
        Kind kind = initializers.containsKey(norm.input(1))
                ? Objects.requireNonNull(initializers.get(norm.input(1))).kind()
                : Kind.CONSTANT;
        Tensor scale = known(norm, 1);
        String factor = norm.name() + "/factor";
        String shift = norm.name() + "/shift";
        initializers.put(factor, new Initializer(shaped(scale, factors, after), kind));
        initializers.put(shift, new Initializer(shaped(scale, shifts, after), kind));
        nodes.add(new Node(
                norm.name() + "/scale",
                new Binary(Binary.Function.MULTIPLY),
                List.of(norm.input(0), factor),
                List.of(norm.name() + "/scaled")));
        nodes.add(new Node(
                norm.name(), new Binary(Binary.Function.ADD), List.of(norm.name() + "/scaled", shift), norm.outputs()));
    }

    private static Tensor shaped(Tensor like, double[] values, int after) {
        long[] shape = new long[1 + after];
        Arrays.fill(shape, 1);
        shape[0] = values.length;
        return Tensor.compute(like.type(), shape, i -> values[Math.toIntExact(i)]);
    }
}
