package dev.espalier.graph;

import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Builds a graph from front to back; a node that does not fit fails where it is added.
 *
 * <pre>{@code
 * GraphBuilder graph = new GraphBuilder("xor");
 * Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
 * Value weight = graph.parameter("hidden.weight", Tensor.of(new float[] {1, -1, -1, 1}, 2, 2));
 * Value hidden = graph.add("hidden", Gemm.LINEAR, x, weight);
 * Graph model = graph.outputs(graph.add("relu", new Unary(RELU), hidden));
 * }</pre>
 */
public final class GraphBuilder {
    private final String name;
    private final List<Input> inputs = new ArrayList<>();
    private final SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Map<String, Fact> facts = new HashMap<>();

    /**
     * An empty graph.
     *
     * @param name what it is called
     */
    public GraphBuilder(String name) {
        this.name = name;
    }

    /**
     * A graph that begins as another one, to be gone on with. Its outputs are not outputs any more, unless they are named again.
     *
     * @param graph what it begins with
     * @return the builder
     */
    public static GraphBuilder from(Graph graph) {
        GraphBuilder builder = new GraphBuilder(graph.name());
        builder.inputs.addAll(graph.inputs());
        builder.initializers.putAll(graph.initializers());
        builder.nodes.addAll(graph.nodes());
        graph.inputs().forEach(input -> builder.learn(input.name(), graph.fact(input.name())));
        graph.initializers().keySet().forEach(key -> builder.learn(key, graph.fact(key)));
        graph.nodes().forEach(node -> node.outputs().forEach(output -> builder.learn(output, graph.fact(output))));
        return builder;
    }

    /**
     * {@return a tensor that is there already}
     *
     * @param tensor its name
     * @throws GraphException if there is none of that name
     */
    public Value value(String tensor) {
        return new Value(tensor, fact(tensor).shape());
    }

    /**
     * How the numbers of a tensor are stored.
     *
     * @param value the tensor
     * @return the type of its numbers
     */
    public DataType data(Value value) {
        return fact(value.name()).type().data();
    }

    private Fact fact(String tensor) {
        Fact fact = facts.get(tensor);
        if (fact == null) {
            throw new GraphException("there is no tensor " + tensor);
        }
        return fact;
    }

    /**
     * Adds an input.
     *
     * @param input its name
     * @param data how its numbers are stored
     * @param shape for each axis a whole number, the name of a symbol, or a dimension
     * @return the tensor
     */
    public Value input(String input, DataType data, Object... shape) {
        TensorType type = new TensorType(data, Shape.of(shape));
        Value learned = learn(input, Fact.of(type));
        inputs.add(new Input(input, type));
        return learned;
    }

    /**
     * Adds a tensor that is trained.
     *
     * @param parameter its name
     * @param contents what it starts from
     * @return the tensor
     */
    public Value parameter(String parameter, Tensor contents) {
        return initializer(parameter, contents, Kind.PARAMETER);
    }

    /**
     * Adds a tensor that training follows along without a gradient.
     *
     * @param buffer its name
     * @param contents what it starts from
     * @return the tensor
     */
    public Value buffer(String buffer, Tensor contents) {
        return initializer(buffer, contents, Kind.BUFFER);
    }

    /**
     * Adds a tensor that stays as it is.
     *
     * @param constant its name
     * @param contents its contents
     * @return the tensor
     */
    public Value constant(String constant, Tensor contents) {
        return initializer(constant, contents, Kind.CONSTANT);
    }

    private Value initializer(String key, Tensor contents, Kind kind) {
        Value learned = learn(key, Fact.of(contents));
        initializers.put(key, new Initializer(contents, kind));
        return learned;
    }

    /**
     * Adds a node with one output, which is named like it.
     *
     * @param node its name
     * @param operator what it does
     * @param from the tensors it reads
     * @return the tensor it makes
     */
    public Value add(String node, Operator operator, Value... from) {
        return addAll(new Node(
                        node, operator, List.of(from).stream().map(Value::name).toList(), List.of(node)))
                .getFirst();
    }

    /**
     * Adds a node.
     *
     * @param node the node
     * @return the tensors it makes
     */
    public List<Value> addAll(Node node) {
        List<@Nullable Fact> known = new ArrayList<>();
        for (String input : node.inputs()) {
            if (!input.isEmpty() && !facts.containsKey(input)) {
                throw new GraphException("node " + node + " reads " + input + ", which nothing makes yet");
            }
            known.add(facts.get(input));
        }
        List<Value> made = new ArrayList<>();
        try {
            List<Fact> results = Graph.infer(node, new Operands(known, node.name()));
            for (int i = 0; i < results.size(); i++) {
                made.add(learn(node.outputs().get(i), results.get(i)));
            }
        } catch (GraphException alreadyExplained) {
            throw alreadyExplained;
        } catch (IllegalArgumentException | ArithmeticException | IllegalStateException problem) {
            throw new GraphException(node, problem);
        }
        nodes.add(node);
        return made;
    }

    private Value learn(String tensor, Fact fact) {
        if (facts.putIfAbsent(tensor, fact) != null) {
            throw new GraphException("there is a tensor " + tensor + " already");
        }
        return new Value(tensor, fact.shape());
    }

    /**
     * Ends the graph.
     *
     * @param outputs what comes out
     * @return the graph
     */
    public Graph outputs(Value... outputs) {
        return new Graph(
                name,
                inputs,
                initializers,
                nodes,
                List.of(outputs).stream().map(Value::name).toList());
    }
}
