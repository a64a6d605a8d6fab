package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Models of half precision, in single precision: there weights are trained, for what a step changes is less than half precision can
 * tell.
 */
public final class SinglePrecision {
    private static final Operator WIDEN = new Cast(DataType.FLOAT32);

    private SinglePrecision() {}

    /**
     * The type in which numbers of a type are computed and trained.
     *
     * @param type any type
     * @return single precision for half precision; all other types as they are
     */
    public static DataType of(DataType type) {
        return switch (type) {
            case FLOAT16, BFLOAT16 -> DataType.FLOAT32;
            case FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOL -> type;
        };
    }

    private static boolean isHalf(DataType type) {
        return of(type) != type;
    }

    /**
     * The same model in single precision throughout, inputs and outputs included.
     *
     * @param graph the model
     * @return a model of the same names; the same one if nothing in it is of half precision
     */
    public static Graph of(Graph graph) {
        boolean half = graph.initializers().values().stream()
                        .anyMatch(initializer -> isHalf(initializer.tensor().type()))
                || graph.inputs().stream().anyMatch(input -> isHalf(input.type().data()))
                || graph.nodes().stream().anyMatch(node -> !of(node.operator()).equals(node.operator()));
        if (!half) {
            return graph;
        }
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        graph.initializers().forEach((name, initializer) -> {
            Tensor tensor = initializer.tensor();
            initializers.put(name, new Initializer(tensor.cast(of(tensor.type())), initializer.kind()));
        });
        List<Node> nodes = graph.nodes().stream()
                .map(node -> new Node(node.name(), of(node.operator()), node.inputs(), node.outputs()))
                .toList();
        return new Graph(graph.name(), inputs(graph), initializers, nodes, graph.outputs())
                .withMetadata(graph.metadata());
    }

    private static Operator of(Operator operator) {
        return switch (operator) {
            case Cast(DataType to) -> new Cast(of(to));
            case ConstantOfShape(Tensor value) ->
                isHalf(value.type()) ? new ConstantOfShape(value.cast(of(value.type()))) : operator;
            default -> operator;
        };
    }

    private static List<Graph.Input> inputs(Graph graph) {
        return graph.inputs().stream()
                .map(input -> new Graph.Input(
                        input.name(),
                        new TensorType(of(input.type().data()), input.type().shape())))
                .toList();
    }

    /**
     * The same model with inputs and outputs in single precision, and casts behind and in front of them.
     *
     * @param graph the model
     * @return a model whose inputs and outputs have the same names; the same one if none is of half precision
     */
    public static Graph outside(Graph graph) {
        Set<String> taken = new HashSet<>(graph.initializers().keySet());
        graph.inputs().forEach(input -> taken.add(input.name()));
        graph.nodes().forEach(node -> taken.addAll(node.outputs()));
        Map<String, String> inner = new HashMap<>();
        List<Node> nodes = new ArrayList<>();
        for (Graph.Input input : graph.inputs()) {
            if (isHalf(input.type().data())) {
                String half = fresh(input.name(), taken);
                inner.put(input.name(), half);
                nodes.add(new Node(half, new Cast(input.type().data()), List.of(input.name()), List.of(half)));
            }
        }
        List<Node> behind = new ArrayList<>();
        for (String output : graph.outputs()) {
            if (isHalf(graph.fact(output).data()) && !inner.containsKey(output)) {
                String half = fresh(output, taken);
                inner.put(output, half);
                behind.add(new Node(fresh(output, taken), WIDEN, List.of(half), List.of(output)));
            }
        }
        if (inner.isEmpty()) {
            return graph;
        }
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        graph.initializers()
                .forEach((name, initializer) -> initializers.put(inner.getOrDefault(name, name), initializer));
        for (Node node : graph.nodes()) {
            nodes.add(new Node(
                    node.name(), node.operator(), renamed(node.inputs(), inner), renamed(node.outputs(), inner)));
        }
        nodes.addAll(behind);
        return new Graph(graph.name(), inputs(graph), initializers, nodes, graph.outputs())
                .withMetadata(graph.metadata());
    }

    private static List<String> renamed(List<String> names, Map<String, String> inner) {
        return names.stream().map(name -> inner.getOrDefault(name, name)).toList();
    }

    private static String fresh(String name, Set<String> taken) {
        String half = name + "/half";
        while (!taken.add(half)) {
            half += "'";
        }
        return half;
    }
}
