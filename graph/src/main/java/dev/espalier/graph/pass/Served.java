package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A model as it is served. Batch normalisations have their statistics folded: they are {@code a·x + b} for each channel, part of the
 * convolution before where there is one. Nothing is dropped out. What is left can be trained further, and does in training what it does
 * afterwards.
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
            Node before = convolution(node);
            if (before == null) {
                spell(node, factors, shifts);
            } else {
                fold(before, node, factors, shifts);
            }
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

    /** The convolution that only this normalisation reads, with weights that only it has. */
    private @Nullable Node convolution(Node node) {
        Node producer = graph.producer(node.input(0));
        boolean sole = producer != null
                && producer.operator() instanceof Conv
                && !graph.isOutput(producer.output())
                && graph.uses(producer.output()).size() == 1
                && producer.inputs().stream()
                        .skip(1)
                        .filter(name -> !name.isEmpty())
                        .allMatch(name -> initializers.containsKey(name)
                                && graph.uses(name).size() == 1
                                && !graph.isOutput(name));
        return sole ? producer : null;
    }

    private void fold(Node convolution, Node norm, double[] factors, double[] shifts) {
        Tensor weight = Objects.requireNonNull(graph.tensor(convolution.input(1)));
        long filter = weight.size() / factors.length;
        Kind kind =
                Objects.requireNonNull(initializers.get(convolution.input(1))).kind();
        initializers.put(
                convolution.input(1),
                new Initializer(
                        Tensor.compute(
                                weight.type(),
                                weight.shape(),
                                i -> weight.getDouble(i) * factors[Math.toIntExact(i / filter)]),
                        kind));
        String bias = convolution.has(2) ? convolution.input(2) : norm.name() + "/shift";
        Tensor old = convolution.has(2) ? graph.tensor(bias) : null;
        initializers.put(
                bias,
                new Initializer(
                        channels(
                                weight,
                                c -> shifts[c] + (old == null ? 0 : old.getDouble(c) * factors[c]),
                                factors.length),
                        kind));
        nodes.set(
                nodes.indexOf(convolution),
                new Node(
                        convolution.name(),
                        convolution.operator(),
                        List.of(convolution.input(0), convolution.input(1), bias),
                        norm.outputs()));
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

    private static Tensor channels(Tensor like, IntToDoubleFunction value, int count) {
        return Tensor.compute(like.type(), new long[] {count}, i -> value.applyAsDouble(Math.toIntExact(i)));
    }
}
