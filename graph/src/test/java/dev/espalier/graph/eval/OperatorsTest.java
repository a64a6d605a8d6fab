package dev.espalier.graph.eval;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The evaluator against what ONNX Runtime computed; {@code src/test/python/operators.py} wrote it down. {@code RoundTripTest} asks
 * ONNX Runtime itself, and sees to it that no operator is forgotten.
 */
class OperatorsTest {
    /** ONNX Runtime computes in single precision, and takes short cuts in Erf, Exp and Tanh. */
    private static final double TOLERANCE = 2e-6;

    record Case(JsonNode description, Operator operator, List<@Nullable Tensor> inputs, List<Tensor> outputs) {
        @Override
        public String toString() {
            return description.toString();
        }
    }

    static List<Case> cases() throws IOException {
        JsonMapper mapper = JsonMapper.builder()
                .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                .build();
        List<Case> cases = new ArrayList<>();
        try (InputStream file = present(OperatorsTest.class.getResourceAsStream("operators.json"))) {
            for (JsonNode node : mapper.readTree(file)) {
                List<@Nullable Tensor> inputs = new ArrayList<>();
                node.get("inputs").forEach(input -> inputs.add(input.isNull() ? null : tensor(input)));
                List<Tensor> outputs = new ArrayList<>();
                node.get("outputs").forEach(output -> outputs.add(tensor(output)));
                cases.add(new Case(node.get("operator"), operator(node.get("operator")), inputs, outputs));
            }
        }
        return cases;
    }

    private static <T> T present(@Nullable T value) {
        return Objects.requireNonNull(value);
    }

    private static Tensor tensor(JsonNode node) {
        DataType type = DataType.valueOf(node.get("type").asText());
        long[] shape =
                longs(node.get("shape")).stream().mapToLong(length -> length).toArray();
        JsonNode values = node.get("values");
        return switch (type) {
            case BOOL ->
                Tensor.computeLongs(type, shape, i -> values.get((int) i).asBoolean() ? 1 : 0);
            default ->
                type.isFloat()
                        ? Tensor.compute(type, shape, i -> values.get((int) i).asDouble())
                        : Tensor.computeLongs(
                                type, shape, i -> values.get((int) i).asLong());
        };
    }

    private static List<Long> longs(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false)
                .map(JsonNode::asLong)
                .toList();
    }

    private static <F extends Enum<F>> F named(F[] functions, String name, Function<F, String> label) {
        for (F function : functions) {
            if (label.apply(function).equals(name)) {
                return function;
            }
        }
        throw new IllegalArgumentException(name);
    }

    private static Windows windows(JsonNode node) {
        return new Windows(longs(node.get("strides")), longs(node.get("pads")), longs(node.get("dilations")));
    }

    private static Operator operator(JsonNode node) {
        String function = node.path("function").asText();
        long axis = node.path("axis").asLong();
        boolean keep = node.path("keep").asBoolean();
        String record = node.get("record").asText();
        return switch (record) {
            case "Unary" ->
                new Elementwise.Unary(named(
                        Elementwise.Unary.Function.values(), function, named -> new Elementwise.Unary(named).label()));
            case "LeakyRelu" -> new Elementwise.LeakyRelu(node.get("slope").asDouble());
            case "Elu" -> new Elementwise.Elu(node.get("scale").asDouble());
            case "Celu" -> new Elementwise.Celu(node.get("scale").asDouble());
            case "Selu" ->
                new Elementwise.Selu(
                        node.get("scale").asDouble(), node.get("gamma").asDouble());
            case "HardSigmoid" ->
                new Elementwise.HardSigmoid(
                        node.get("slope").asDouble(), node.get("shift").asDouble());
            case "Gelu" -> new Elementwise.Gelu(node.get("approximate").asBoolean());
            case "Clip" ->
                new Elementwise.Clip(
                        node.get("least").asDouble(), node.get("most").asDouble());
            case "Cast" -> new Elementwise.Cast(DataType.valueOf(node.get("to").asText()));
            case "Dropout" -> new Elementwise.Dropout(node.get("ratio").asDouble());
            case "Binary" -> new Binary(named(Binary.Function.values(), function, named -> new Binary(named).label()));
            case "Variadic" ->
                new Variadic(named(Variadic.Function.values(), function, named -> new Variadic(named).label()));
            case "Where" -> new Where();
            case "Conv" -> new Conv(windows(node), node.get("groups").asLong());
            case "Pool" ->
                new Pool(
                        Pool.Function.valueOf(function),
                        longs(node.get("kernel")),
                        windows(node),
                        node.get("roundUp").asBoolean(),
                        node.get("countPadding").asBoolean());
            case "GlobalPool" -> new GlobalPool(Pool.Function.valueOf(function));
            case "MatMul" -> new MatMul();
            case "Gemm" ->
                new Gemm(
                        node.get("alpha").asDouble(),
                        node.get("beta").asDouble(),
                        node.get("transposeA").asBoolean(),
                        node.get("transposeB").asBoolean());
            case "BatchNorm" ->
                new BatchNorm(
                        node.get("epsilon").asDouble(), node.get("momentum").asDouble());
            case "LayerNorm" -> new LayerNorm(axis, node.get("epsilon").asDouble());
            case "Softmax" -> new Softmax(axis, node.get("logarithm").asBoolean());
            case "Reduce" ->
                new Reduce(
                        named(Reduce.Function.values(), function, named -> new Reduce(named, List.of(), keep).label()),
                        longs(node.get("axes")),
                        keep);
            case "ArgReduce" -> new ArgReduce(node.get("largest").asBoolean(), axis, keep);
            case "CumSum" ->
                new CumSum(
                        axis,
                        node.get("exclusive").asBoolean(),
                        node.get("reverse").asBoolean());
            case "Concat" -> new Concat(axis);
            case "Split" -> new Split(axis, longs(node.get("sizes")));
            case "Slice" -> new Slice();
            case "Gather" -> new Gather(axis);
            case "GatherElements" -> new GatherElements(axis);
            case "Reshape" -> new Reshape(node.get("zeroIsZero").asBoolean());
            case "Flatten" -> new Flatten(axis);
            case "Transpose" -> new Transpose(longs(node.get("permutation")));
            case "Squeeze" -> new Squeeze(longs(node.get("axes")));
            case "Unsqueeze" -> new Unsqueeze(longs(node.get("axes")));
            case "Expand" -> new Expand();
            case "Tile" -> new Tile();
            case "Pad" ->
                new Pad(
                        Pad.Mode.valueOf(node.get("mode").asText()),
                        longs(node.get("pads")),
                        node.get("value").asDouble());
            case "ShapeOf" ->
                new ShapeOf(node.get("start").asLong(), node.get("end").asLong());
            case "Size" -> new Size();
            case "ConstantOfShape" ->
                new ConstantOfShape(
                        Tensor.scalar(DataType.FLOAT32, node.get("value").asDouble()));
            case "Range" -> new Range();
            case "Trilu" ->
                new Trilu(node.get("upper").asBoolean(), node.get("diagonal").asLong());
            default -> throw new IllegalArgumentException(record);
        };
    }

    @ParameterizedTest
    @MethodSource("cases")
    void computeWhatOnnxRuntimeComputes(Case given) {
        List<Tensor> results = present(Evaluator.evaluate(given.operator, given.inputs));
        assertEquals(given.outputs.size(), results.size());
        for (int i = 0; i < results.size(); i++) {
            Tensor expected = given.outputs.get(i);
            Tensor result = results.get(i);
            assertEquals(expected.toString(), result.toString(), "type and shape");
            if (expected.type().isFloat()) {
                for (long element = 0; element < expected.size(); element++) {
                    double number = expected.getDouble(element);
                    double difference = Math.abs(number - result.getDouble(element));
                    assertTrue(
                            Double.compare(number, result.getDouble(element)) == 0
                                    || difference <= TOLERANCE * Math.max(1, Math.abs(number)),
                            "element " + element + " is " + result.getDouble(element) + ", not " + number);
                }
            } else {
                assertArrayEquals(expected.toLongs(), result.toLongs());
            }
        }
    }
}
