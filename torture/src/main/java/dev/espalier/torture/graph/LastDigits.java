package dev.espalier.torture.graph;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Changes numbers and models in what single precision may leave of them. */
final class LastDigits {
    /** What last digits are worth: models are not held to a digit that a change of this share of all numbers takes away. */
    private static final double WORTH = 0x1p-20;

    private static final Set<Unary.Function> SATURATING =
            Set.of(Unary.Function.ERF, Unary.Function.SIGMOID, Unary.Function.TANH);

    private final RandomGenerator random;

    LastDigits(RandomGenerator random) {
        this.random = random;
    }

    private double little() {
        return WORTH * random.nextDouble(-1, 1);
    }

    /** The same numbers but for the last digits of fractions. */
    Tensor moved(Tensor tensor) {
        return tensor.type().isFloat()
                ? Tensor.compute(tensor.type(), tensor.shape(), i -> tensor.getDouble(i) * (1 + little()))
                : tensor;
    }

    /**
     * The same model but for the last digits of its weights and of what is computed near one, which keeps the digits that one has:
     * a Gelu is zero where the exact one is but small, others are one where they are but near, an Elu or the logarithm of a share is off
     * by a digit of one where it is small itself, shares of numbers that are alike are the same, and nothing gets through a gate that is
     * almost closed. What is chosen from is moved number by number: of numbers that are the same but for how they were added up, any may be;
     * and the difference of two such may be zero or not.
     */
    Graph moved(Graph graph) {
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        graph.initializers()
                .forEach((name, old) -> initializers.put(name, new Initializer(moved(old.tensor()), old.kind())));
        List<Node> nodes = new ArrayList<>();
        for (Node node : graph.nodes()) {
            switch (node.operator()) {
                case Recurrent recurrent -> {
                    nodes.add(exact(node));
                    for (String output : node.outputs()) {
                        // Each unit by its own.
                        long[] units = {recurrent.hidden()};
                        nodes.add(sum(output, put(initializers, output, units)));
                    }
                }
                case Elementwise.Celu _, Elementwise.Elu _, Elementwise.Selu _ -> ofOne(node, initializers, nodes);
                case Softmax softmax when softmax.logarithm() -> ofOne(node, initializers, nodes);
                case Softmax _ -> {
                    String output = node.output();
                    nodes.add(exact(node));
                    nodes.add(product(output + ".share", any(node, initializers, nodes), put(initializers, output)));
                    nodes.add(product(output + ".part", output + ".share", output + ".exact"));
                    nodes.add(sum(output, output + ".part"));
                }
                case ArgReduce _, TopK _ -> chosen(graph, node, initializers, nodes);
                case Cast(var to)
                when to == DataType.BOOL && graph.fact(node.input(0)).data().isFloat() ->
                    told(node, initializers, nodes);
                case Gelu _ -> ofInput(node, initializers, nodes);
                case Unary(var function) when SATURATING.contains(function) -> ofInput(node, initializers, nodes);
                default -> nodes.add(node);
            }
        }
        return new Graph(graph.name(), graph.inputs(), initializers, nodes, graph.outputs());
    }

    private void chosen(Graph graph, Node node, SequencedMap<String, Initializer> initializers, List<Node> nodes) {
        String from = node.input(0);
        if (!graph.fact(from).data().isFloat()) {
            nodes.add(node);
            return;
        }
        String output = node.outputs().getFirst();
        long[] shape = graph.shape(from).dimensions().stream()
                .mapToLong(dimension -> dimension.isKnown() ? dimension.value() : 1)
                .toArray();
        nodes.add(product(output + ".part", largest(node, nodes), put(initializers, output, shape)));
        nodes.add(node(output + ".moved", new Binary(Binary.Function.ADD), from, output + ".part"));
        List<String> inputs = new ArrayList<>(node.inputs());
        inputs.set(0, output + ".moved");
        nodes.add(new Node(node.name(), node.operator(), inputs, node.outputs()));
    }

    /** The largest magnitude of a node's input: what is left where large numbers cancel out has no digits of its own. */
    private static String largest(Node node, List<Node> nodes) {
        String output = node.outputs().getFirst();
        nodes.add(node(output + ".size", new Unary(Unary.Function.ABS), node.input(0)));
        nodes.add(node(output + ".largest", new Reduce(Reduce.Function.MAX, List.of(), true), output + ".size"));
        return output + ".largest";
    }

    /** What is asked whether it is zero, is if it is but small. */
    private static void told(Node node, SequencedMap<String, Initializer> initializers, List<Node> nodes) {
        String output = node.output();
        Tensor worth = Tensor.scalar(DataType.FLOAT32, 1 / WORTH);
        initializers.put(output + ".worth", new Initializer(worth, Kind.CONSTANT));
        nodes.add(node(output + ".share", new Binary(Binary.Function.DIVIDE), node.input(0), largest(node, nodes)));
        nodes.add(product(output + ".digits", output + ".share", output + ".worth"));
        nodes.add(node(output + ".rounded", new Unary(Unary.Function.ROUND), output + ".digits"));
        nodes.add(new Node(node.name(), node.operator(), List.of(output + ".rounded"), node.outputs()));
    }

    private void ofOne(Node node, SequencedMap<String, Initializer> initializers, List<Node> nodes) {
        String output = node.output();
        nodes.add(exact(node));
        nodes.add(product(output + ".part", any(node, initializers, nodes), put(initializers, output)));
        nodes.add(sum(output, output + ".part"));
    }

    /** A number up to one for each element of a node's input: a cosine far from zero. */
    private String any(Node node, SequencedMap<String, Initializer> initializers, List<Node> nodes) {
        String output = node.output();
        Tensor far = Tensor.scalar(DataType.FLOAT32, random.nextDouble(1e9, 2e9));
        initializers.put(output + ".scale", new Initializer(far, Kind.CONSTANT));
        nodes.add(product(output + ".far", node.input(0), output + ".scale"));
        nodes.add(node(output + ".any", new Unary(Unary.Function.COS), output + ".far"));
        return output + ".any";
    }

    private void ofInput(Node node, SequencedMap<String, Initializer> initializers, List<Node> nodes) {
        String output = node.output();
        nodes.add(exact(node));
        nodes.add(product(output + ".part", node.input(0), put(initializers, output)));
        nodes.add(sum(output, output + ".part"));
    }

    private String put(SequencedMap<String, Initializer> initializers, String output, long... shape) {
        Tensor little = Tensor.compute(DataType.FLOAT32, shape, _ -> little());
        initializers.put(output + ".little", new Initializer(little, Kind.CONSTANT));
        return output + ".little";
    }

    private static Node exact(Node node) {
        List<String> outputs =
                node.outputs().stream().map(output -> output + ".exact").toList();
        return new Node(node.name(), node.operator(), node.inputs(), outputs);
    }

    private static Node node(String output, Operator operator, String... inputs) {
        return new Node(output, operator, List.of(inputs), List.of(output));
    }

    private static Node product(String output, String left, String right) {
        return node(output, new Binary(Binary.Function.MULTIPLY), left, right);
    }

    private static Node sum(String output, String part) {
        return new Node(
                output + ".moved", new Binary(Binary.Function.ADD), List.of(output + ".exact", part), List.of(output));
    }
}
