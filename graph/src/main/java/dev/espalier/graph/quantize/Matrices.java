package dev.espalier.graph.quantize;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Transpose;
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
import java.util.TreeMap;

/**
 * Dynamic quantisation: products with constant matrices become products of whole numbers, and the other factor is brought to whole
 * numbers while the model runs, by its own smallest and largest element.
 *
 * <p>{@code x W + b} becomes {@code MatMulInteger(DynamicQuantizeLinear(x), codes)}, cast, multiplied by the product of both scales,
 * plus {@code b}. In exactly this form, with the bias as the last operand, ONNX Runtime joins it to one operator.
 */
final class Matrices {
    /** Smaller ones gain nothing: rounding what they are multiplied with takes longer than the product. */
    static final long LEAST_ELEMENTS = 1024;

    /** Nothing is multiplied with rows of a table before they are fractions again: no product can be too large. */
    private static final int LARGEST_OF_TABLE = 127;

    private static final Binary ADD = new Binary(Binary.Function.ADD);
    private static final Binary MULTIPLY = new Binary(Binary.Function.MULTIPLY);
    private static final Cast WIDEN = new Cast(DataType.FLOAT32);

    private record Key(String weight, boolean transposed, double factor) {}

    /** A matrix of codes {@code [in, out]} and its scales {@code [out]}. */
    private record Stored(String codes, String scales) {}

    /** What flows into products, as codes with one scale. */
    private record Activation(String codes, String scale, String zero) {}

    private final Graph graph;
    private final Rewriting rewriting;
    private final int largest;
    private final Map<Key, Stored> stored = new HashMap<>();
    private final Map<String, Stored> tables = new HashMap<>();
    private final Map<String, Activation> activations = new HashMap<>();
    /** Results that a bias may be added to. */
    private final Set<String> products = new HashSet<>();

    private final List<String> left = new ArrayList<>();

    Matrices(Graph graph, int largest) {
        this.graph = graph;
        this.largest = largest;
        this.rewriting = new Rewriting(graph);
    }

    Graph run() {
        for (Node node : graph.nodes()) {
            switch (node.operator()) {
                case MatMul _ when isMatrix(node) -> product(node, node.input(0), node.input(1), false, 1, "");
                case Gemm gemm when isMatrix(node) -> gemm(node, gemm);
                case Gather(long axis) when isTable(node, axis) -> table(node);
                case Binary binary
                when isBias(node, binary) ->
                    rewriting.keep(new Node(node.name(), ADD, List.of(node.input(1), node.input(0)), node.outputs()));
                default -> rewriting.keep(node);
            }
        }
        return rewriting.finish();
    }

    /** How many matrices have become codes. */
    int matrices() {
        return stored.size();
    }

    /** How many tables have become codes. */
    int tables() {
        return tables.size();
    }

    /** Products that are left as they are, with the reason. */
    List<String> left() {
        return left;
    }

    private boolean isMatrix(Node node) {
        Tensor weight = graph.tensor(node.input(1));
        boolean constantLeft = graph.tensor(node.input(0)) != null;
        if (weight == null || constantLeft) {
            if (weight == null && constantLeft) {
                left.add(node.name() + ": its matrix stands on the left");
            }
            return false;
        }
        if (weight.rank() != 2 || graph.shape(node.input(0)).rank() < 2) {
            left.add(node.name() + ": its factors are " + graph.shape(node.input(0)) + " and " + weight
                    + ", but the second must be a matrix");
            return false;
        }
        return isWorthwhile(node, weight);
    }

    private boolean isWorthwhile(Node node, Tensor weight) {
        String reason = weight.type() != DataType.FLOAT32
                ? "its weight is " + weight.type() + ", not " + DataType.FLOAT32
                : weight.size() < LEAST_ELEMENTS
                        ? "its weight has fewer than " + LEAST_ELEMENTS + " elements"
                        : Finite.all(weight) ? "" : "its weight has elements that are no finite numbers";
        if (!reason.isEmpty()) {
            left.add(node.name() + ": " + reason);
        }
        return reason.isEmpty();
    }

    private boolean isTable(Node node, long axis) {
        Tensor table = graph.tensor(node.input(0));
        return table != null
                && graph.tensor(node.input(1)) == null
                && table.rank() == 2
                && graph.shape(node.input(0)).axis(axis) == 0
                && table.type() == DataType.FLOAT32
                && isWorthwhile(node, table);
    }

    /** Whether a bias is added to a product from the left. */
    private boolean isBias(Node node, Binary binary) {
        return binary.equals(ADD) && graph.tensor(node.input(0)) != null && products.contains(node.input(1));
    }

    private void gemm(Node node, Gemm gemm) {
        String factor = node.input(0);
        if (gemm.transposeA()) {
            Shape shape = graph.shape(factor);
            TensorType turned = new TensorType(DataType.FLOAT32, Shape.of(shape.get(1), shape.get(0)));
            factor = rewriting.add(factor + "/transposed", new Transpose(List.of(1L, 0L)), turned, factor);
        }
        String bias = node.has(2) && gemm.beta() != 0 ? bias(node, gemm.beta()) : "";
        product(node, factor, node.input(1), gemm.transposeB(), gemm.alpha(), bias);
    }

    private String bias(Node node, double factor) {
        String bias = node.input(2);
        Tensor contents = graph.tensor(bias);
        if (factor == 1) {
            return bias;
        }
        if (contents != null) {
            return rewriting.store(
                    node.name() + "/bias",
                    Tensor.compute(contents.type(), contents.shape(), i -> factor * contents.getDouble(i)));
        }
        String number = rewriting.store(node.name() + "/beta", Tensor.scalar(DataType.FLOAT32, factor));
        return rewriting.add(node.name() + "/bias", MULTIPLY, rewriting.type(bias), bias, number);
    }

    private void product(Node node, String factor, String weight, boolean transposed, double alpha, String bias) {
        Stored matrix = stored.computeIfAbsent(new Key(weight, transposed, alpha), this::store);
        Activation activation = activations.computeIfAbsent(factor, this::activation);
        TensorType type = graph.fact(node.output()).type();
        String name = node.name();
        String whole = rewriting.addOfCodes(
                name + "/codes",
                "MatMulInteger",
                List.of(activation.codes(), matrix.codes(), activation.zero()),
                DataType.INT32,
                type.shape());
        String cast = rewriting.add(name + "/cast", WIDEN, type, whole);
        String scale = rewriting.add(
                name + "/scale", MULTIPLY, rewriting.type(matrix.scales()), activation.scale(), matrix.scales());
        if (bias.isEmpty()) {
            rewriting.keep(new Node(name, MULTIPLY, List.of(cast, scale), node.outputs()));
            products.add(node.output());
        } else {
            String scaled = rewriting.add(name + "/product", MULTIPLY, type, cast, scale);
            rewriting.keep(new Node(name, ADD, List.of(scaled, bias), node.outputs()));
        }
    }

    private Stored store(Key key) {
        Tensor weight = rewriting.contents(key.weight());
        Tensor upright = key.transposed() ? transposed(weight) : weight;
        Codes codes = Codes.of(upright, 1, largest);
        Tensor scales = codes.scales();
        Tensor scaled = Tensor.compute(DataType.FLOAT32, scales.shape(), i -> key.factor() * scales.getDouble(i));
        return new Stored(
                rewriting.store(key.weight() + "_quantized", codes.codes()),
                rewriting.store(key.weight() + "_scale", scaled));
    }

    private static Tensor transposed(Tensor matrix) {
        long rows = matrix.shape()[0];
        long columns = matrix.shape()[1];
        return Tensor.compute(
                matrix.type(), new long[] {columns, rows}, i -> matrix.getDouble(i % rows * columns + i / rows));
    }

    private Activation activation(String tensor) {
        Activation made = new Activation(
                rewriting.fresh(tensor + "_quantized"),
                rewriting.fresh(tensor + "_scale"),
                rewriting.fresh(tensor + "_zero_point"));
        SequencedMap<String, TensorType> outputs = new LinkedHashMap<>();
        outputs.put(
                made.codes(),
                new TensorType(DataType.UINT8, rewriting.type(tensor).shape()));
        outputs.put(made.scale(), new TensorType(DataType.FLOAT32, Shape.of()));
        outputs.put(made.zero(), new TensorType(DataType.UINT8, Shape.of()));
        rewriting.addOfCodes(
                rewriting.fresh(tensor + "_QuantizeLinear"),
                "DynamicQuantizeLinear",
                Collections.emptySortedMap(),
                List.of(tensor),
                outputs);
        return made;
    }

    /** Rows of codes are looked up, and become fractions behind; every column has a scale of its own. */
    private void table(Node node) {
        Stored table = tables.computeIfAbsent(node.input(0), key -> {
            Codes codes = Codes.of(rewriting.contents(key), 1, LARGEST_OF_TABLE);
            return new Stored(
                    rewriting.store(key + "_quantized", codes.codes()),
                    rewriting.store(key + "_scale", codes.scales()));
        });
        TensorType type = graph.fact(node.output()).type();
        String codes = rewriting.add(
                node.name() + "/codes",
                node.operator(),
                new TensorType(DataType.INT8, type.shape()),
                table.codes(),
                node.input(1));
        rewriting.addOfCodes(
                node.name(),
                "DequantizeLinear",
                new TreeMap<>(Map.of("axis", -1L)),
                List.of(codes, table.scales()),
                Rewriting.one(node.output(), type));
    }
}
