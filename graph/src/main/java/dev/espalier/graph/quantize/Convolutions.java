package dev.espalier.graph.quantize;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.LeakyRelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Static quantisation: what convolutions read and make is rounded to whole numbers, in ranges that were measured, and so is what
 * flows through the nodes between them. Everywhere a {@code QuantizeLinear} is followed by a {@code DequantizeLinear}; ONNX Runtime
 * joins these with the nodes between them to operators of whole numbers.
 */
final class Convolutions {
    /** Far from the largest whole number of 32 bits, as products are added to it. */
    private static final double LARGEST_BIAS = 1 << 30;

    private final Graph graph;
    private final Map<String, Range> ranges;
    private final Set<String> floats;
    private final int largest;
    private final Rewriting rewriting;

    /** Nodes that work on whole numbers, with the tensors that they make once what comes behind is taken in. */
    private final Map<Node, String> whole = new LinkedHashMap<>();

    private final Set<Node> absorbed = new HashSet<>();
    /** Tensors that are rounded. */
    private final Map<String, Range> rounded = new LinkedHashMap<>();

    private final Map<String, String> roundedNames = new HashMap<>();
    private final List<String> left = new ArrayList<>();
    private int convolutions;

    /**
     * @param graph with nothing left to fold behind convolutions
     * @param ranges what was measured, by the names of tensors
     * @param floats the names of nodes that are left as they are
     * @param largest the largest code of a weight
     */
    Convolutions(Graph graph, Map<String, Range> ranges, Set<String> floats, int largest) {
        this.graph = graph;
        this.ranges = ranges;
        this.floats = floats;
        this.largest = largest;
        this.rewriting = new Rewriting(graph);
    }

    /** The tensors whose ranges have to be known. */
    static Set<String> measured(Graph graph) {
        Set<String> tensors = new LinkedHashSet<>();
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Conv || isBetween(node.operator())) {
                List<String> all = new ArrayList<>(node.inputs());
                all.add(node.output());
                graph.uses(node.output()).forEach(use -> all.add(use.node().output()));
                all.removeIf(tensor -> tensor.isEmpty()
                        || graph.tensor(tensor) != null
                        || graph.fact(tensor).data() != DataType.FLOAT32);
                tensors.addAll(all);
            }
        }
        return tensors;
    }

    /** The names of the convolutions whose weights could become codes. */
    static List<String> candidates(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.operator() instanceof Conv
                        && objection(graph, node).isEmpty())
                .map(Node::name)
                .toList();
    }

    Graph run() {
        plan();
        for (Graph.Input input : graph.inputs()) {
            if (rounded.containsKey(input.name())) {
                round(input.name());
            }
        }
        for (Node node : graph.nodes()) {
            String result = whole.get(node);
            if (absorbed.contains(node)) {
                continue;
            }
            if (result == null) {
                rewriting.keep(node);
                node.outputs().stream().filter(rounded::containsKey).forEach(this::round);
            } else {
                write(node, result);
            }
        }
        return rewriting.finish();
    }

    int convolutions() {
        return convolutions;
    }

    List<String> left() {
        return left;
    }

    private void plan() {
        for (Node node : graph.nodes()) {
            if (node.operator() instanceof Conv) {
                String result = result(node);
                String objection = objection(graph, node);
                if (objection.isEmpty() && (!ranges.containsKey(node.input(0)) || !ranges.containsKey(result))) {
                    objection = "what it reads or makes was not measured";
                }
                if (objection.isEmpty() && !floats.contains(node.name())) {
                    convolutions++;
                    whole.put(node, result);
                    rounded.put(node.input(0), range(node.input(0)));
                    rounded.put(result, resultRange(node, result));
                } else {
                    left.add(node.name() + ": "
                            + (objection.isEmpty() ? "rounding it changes the outputs too much" : objection));
                }
            }
        }
        Set<String> ends = Set.copyOf(rounded.keySet());
        graph.nodes().forEach(node -> between(node, ends));
        whole.forEach((node, result) -> {
            if (!node.output().equals(result)) {
                absorbed.add(graph.uses(node.output()).getFirst().node());
            }
        });
    }

    private static String objection(Graph graph, Node conv) {
        Tensor weight = graph.tensor(conv.input(1));
        Tensor bias = graph.tensor(conv.input(2));
        if (weight == null || (conv.has(2) && bias == null)) {
            return "its weights are computed";
        }
        if (weight.type() != DataType.FLOAT32) {
            return "its weight is " + weight.type() + ", not " + DataType.FLOAT32;
        }
        return Finite.all(weight) && (bias == null || Finite.all(bias))
                ? ""
                : "it has weights that are no finite numbers";
    }

    /** What a node makes, an activation behind it included that cuts off at zero: saturation does the same. */
    private String result(Node node) {
        List<Use> uses = graph.uses(node.output());
        if (uses.size() == 1 && !graph.isOutput(node.output())) {
            Node next = uses.getFirst().node();
            boolean cuts = next.operator().equals(new Unary(Unary.Function.RELU))
                    || (next.operator() instanceof Clip(double least, double most) && least == 0 && most > 0);
            if (cuts && ranges.containsKey(next.output())) {
                return next.output();
            }
        }
        return node.output();
    }

    private Range resultRange(Node node, String result) {
        Range range = range(result);
        return node.output().equals(result) ? range : range.positive();
    }

    private Range range(String tensor) {
        Range range = ranges.get(tensor);
        if (range == null) {
            throw new IllegalStateException("the range of " + tensor + " was not measured");
        }
        return range;
    }

    /** Keeps whole numbers whole through a node between convolutions. */
    private void between(Node node, Set<String> ends) {
        if (!isBetween(node.operator()) || graph.fact(node.output()).data() != DataType.FLOAT32) {
            return;
        }
        List<String> inputs = operands(node);
        boolean some = inputs.stream().anyMatch(rounded::containsKey);
        boolean all = inputs.stream().allMatch(ranges::containsKey);
        boolean moves = isMove(node.operator());
        String result = moves ? node.output() : result(node);
        boolean wanted = ends.contains(result)
                || graph.uses(result).stream()
                        .anyMatch(use -> isBetween(use.node().operator()));
        if (some && all && wanted && ranges.containsKey(result)) {
            inputs.forEach(input -> rounded.putIfAbsent(input, range(input)));
            whole.put(node, result);
            Range same = rounded.get(inputs.getFirst());
            rounded.put(result, moves && same != null ? same : resultRange(node, result));
        }
    }

    /** Inputs that hold elements, rather than lengths and the like. */
    private static List<String> operands(Node node) {
        return switch (node.operator()) {
            case Binary _, Concat _ -> node.inputs();
            default -> node.inputs().subList(0, 1);
        };
    }

    private static boolean isBetween(Operator operator) {
        return isMove(operator)
                || switch (operator) {
                    case Concat _, LeakyRelu _ -> true;
                    case GlobalPool(Pool.Function function) -> function == Pool.Function.AVERAGE;
                    case Pool pool -> pool.function() == Pool.Function.AVERAGE;
                    case Binary(Binary.Function function) ->
                        function == Binary.Function.ADD || function == Binary.Function.MULTIPLY;
                    case Unary(Unary.Function function) -> function == Unary.Function.SIGMOID;
                    default -> false;
                };
    }

    /** Whether elements are picked or moved, so that what comes out is in the same range. */
    private static boolean isMove(Operator operator) {
        return switch (operator) {
            case Reshape _, Flatten _, Transpose _, Squeeze _, Unsqueeze _, Resize _ -> true;
            case Pool pool -> pool.function() == Pool.Function.MAX;
            default -> false;
        };
    }

    private void write(Node node, String result) {
        List<String> inputs = new ArrayList<>(node.inputs());
        inputs.replaceAll(input -> roundedNames.getOrDefault(input, input));
        if (node.operator() instanceof Conv) {
            weights(node, inputs);
        }
        String raw = rewriting.fresh(result + "/raw");
        rewriting.declare(raw, graph.fact(result).type());
        rewriting.keep(new Node(node.name(), node.operator(), inputs, List.of(raw)));
        round(raw, result, result);
    }

    /** Behind what is computed in fractions, or fed in: whoever works on whole numbers reads it rounded. */
    private void round(String tensor) {
        String name = rewriting.fresh(tensor + "/rounded");
        roundedNames.put(tensor, name);
        round(tensor, tensor, name);
    }

    private void round(String from, String tensor, String to) {
        Range range = rounded.get(tensor);
        if (range == null) {
            throw new IllegalStateException(tensor + " is not rounded");
        }
        TensorType type = graph.fact(tensor).type();
        String scale = rewriting.store(tensor + "_scale", Tensor.scalar(DataType.FLOAT32, range.scale()));
        String zero = rewriting.store(tensor + "_zero_point", Tensor.scalar(DataType.UINT8, range.zero()));
        String codes = rewriting.addOfCodes(
                tensor + "_quantized", "QuantizeLinear", List.of(from, scale, zero), DataType.UINT8, type.shape());
        dequantize(codes, scale, zero, to, type, new TreeMap<>());
    }

    private void dequantize(
            String codes, String scale, String zero, String to, TensorType type, SortedMap<String, Long> attributes) {
        rewriting.addOfCodes(
                rewriting.fresh(to + "_DequantizeLinear"),
                "DequantizeLinear",
                attributes,
                List.of(codes, scale, zero),
                Rewriting.one(to, type));
    }

    /** Codes for the weights, one scale for a channel; and for the bias, with the product of both scales. */
    private void weights(Node conv, List<String> inputs) {
        Tensor weight = rewriting.contents(conv.input(1));
        Tensor bias = conv.has(2) ? rewriting.contents(conv.input(2)) : null;
        Range input = rounded.get(conv.input(0));
        if (input == null) {
            throw new IllegalStateException(conv.input(0) + " is not rounded");
        }
        Codes codes = Codes.of(
                weight,
                0,
                largest,
                channel -> bias == null ? 0 : Math.abs(bias.getDouble(channel)) / (LARGEST_BIAS * input.scale()));
        inputs.set(1, stored(conv.input(1), codes.codes(), codes.scales()));
        if (bias != null) {
            Tensor scales = Tensor.compute(
                    DataType.FLOAT32,
                    codes.scales().shape(),
                    i -> input.scale() * codes.scales().getDouble(i));
            Tensor whole = Tensor.computeLongs(
                    DataType.INT32, bias.shape(), i -> Math.round(bias.getDouble(i) / scales.getDouble(i)));
            inputs.set(2, stored(conv.name() + "/bias", whole, scales));
        }
    }

    private String stored(String weight, Tensor codes, Tensor scales) {
        String quantized = rewriting.store(weight + "_quantized", codes);
        String scale = rewriting.store(weight + "_scale", scales);
        String zero = rewriting.store(weight + "_zero_point", Tensor.compute(codes.type(), scales.shape(), i -> 0));
        String name = rewriting.fresh(weight + "_dequantized");
        dequantize(
                quantized,
                scale,
                zero,
                name,
                new TensorType(DataType.FLOAT32, Shape.ofLengths(codes.shape())),
                new TreeMap<>(Map.of("axis", 0L)));
        return name;
    }
}
