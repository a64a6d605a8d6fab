package dev.espalier.graph.quantize;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.onnx.FileOperator;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.pass.DeadNodes;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;

/** A graph on its way to whole numbers: nodes are added one after the other, in place of those that it had. */
final class Rewriting {
    private static final SortedMap<String, Long> PLAIN = Collections.emptySortedMap();

    private final Graph graph;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private final Map<String, TensorType> types = new HashMap<>();

    Rewriting(Graph graph) {
        this.graph = graph;
        this.initializers = new LinkedHashMap<>(graph.initializers());
        taken.addAll(initializers.keySet());
        graph.inputs().forEach(input -> taken.add(input.name()));
        for (Node node : graph.nodes()) {
            taken.add(node.name());
            taken.addAll(node.outputs());
        }
    }

    /** A name that nothing has yet. */
    String fresh(String wanted) {
        String name = wanted;
        while (!taken.add(name)) {
            name += "'";
        }
        return name;
    }

    /** A tensor of the graph, or one that was made meanwhile. */
    TensorType type(String tensor) {
        TensorType made = types.get(tensor);
        return made != null ? made : graph.fact(tensor).type();
    }

    /** The contents of an initializer of the graph. */
    Tensor contents(String weight) {
        Tensor contents = graph.tensor(weight);
        if (contents == null) {
            throw new IllegalStateException(weight + " is no initializer");
        }
        return contents;
    }

    /** A weight, or what belongs to one. */
    String store(String wanted, Tensor contents) {
        String name = fresh(wanted);
        initializers.put(name, new Initializer(contents, Kind.PARAMETER));
        types.put(name, contents.tensorType());
        return name;
    }

    /** Says of what type a tensor is going to be that a node makes which is kept. */
    void declare(String tensor, TensorType type) {
        types.put(tensor, type);
    }

    void keep(Node node) {
        nodes.add(node);
    }

    /** A node of a known operator whose output is new. */
    String add(String wanted, Operator operator, TensorType type, String... inputs) {
        String name = fresh(wanted);
        types.put(name, type);
        nodes.add(new Node(name, operator, List.of(inputs), List.of(name)));
        return name;
    }

    /** A node of an operator of whole numbers. */
    void addOfCodes(
            String name,
            String operator,
            SortedMap<String, Long> attributes,
            List<String> inputs,
            SequencedMap<String, TensorType> outputs) {
        types.putAll(outputs);
        nodes.add(new Node(
                name,
                FileOperator.of(
                        operator, attributes, inputs.stream().map(this::type).toList(), List.copyOf(outputs.values())),
                inputs,
                List.copyOf(outputs.keySet())));
    }

    /** The same with one output, which is new and named like the node. */
    String addOfCodes(String wanted, String operator, List<String> inputs, DataType data, Shape shape) {
        String name = fresh(wanted);
        addOfCodes(name, operator, PLAIN, inputs, one(name, new TensorType(data, shape)));
        return name;
    }

    static SequencedMap<String, TensorType> one(String name, TensorType type) {
        SequencedMap<String, TensorType> outputs = new LinkedHashMap<>();
        outputs.put(name, type);
        return outputs;
    }

    /** The graph as it is now, without what nothing reads any more. */
    Graph finish() {
        return DeadNodes.remove(graph.with(initializers, nodes));
    }
}
