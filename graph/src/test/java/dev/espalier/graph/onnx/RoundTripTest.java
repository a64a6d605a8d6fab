package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.numbers;
import static dev.espalier.graph.onnx.OnnxBuilder.tensor;
import static dev.espalier.graph.onnx.OnnxBuilder.text;
import static dev.espalier.graph.onnx.OnnxBuilder.texts;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every operator: what is read computes what ONNX Runtime makes of the file, in the evaluator and, written again, in ONNX Runtime. */
class RoundTripTest {
    private static final int[] OPSETS = {7, 8, 9, 10, 11, 12, 13, 17, 18, 21, 24};

    private record Case(String name, int from, int to, Consumer<OnnxBuilder> body) {
        OnnxBuilder build(int opset) {
            OnnxBuilder builder = new OnnxBuilder(opset);
            body.accept(builder);
            return builder;
        }
    }

    private static Case all(String name, Consumer<OnnxBuilder> body) {
        return new Case(name, 13, 24, body);
    }

    private static Case from(int opset, String name, Consumer<OnnxBuilder> body) {
        return new Case(name, opset, 24, body);
    }

    private static Case until(int opset, String name, Consumer<OnnxBuilder> body) {
        return new Case(name, 13, opset, body);
    }

    @TestFactory
    Stream<DynamicTest> computesTheSame() {
        return cases().stream()
                .map(one -> DynamicTest.dynamicTest(one.name(), () -> {
                    for (int opset : OPSETS) {
                        if (opset >= one.from() && opset <= one.to()) {
                            check(one.build(opset));
                        }
                    }
                }));
    }

    static void check(OnnxBuilder builder) throws Exception {
        byte[] original = builder.bytes();
        List<Tensor> expected = OnnxRuntime.run(original, builder.feeds);
        Graph graph = OnnxReader.read(original).graph();
        OnnxRuntime.assertClose(
                expected, List.copyOf(Evaluator.run(graph, builder.feeds).values()), 1e-5);
        for (int opset : new int[] {0, 13, 21}) {
            byte[] written;
            try {
                written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT.withOpset(opset));
            } catch (GraphException tooNew) {
                assertEquals(13, opset, tooNew.getMessage());
                Checks.assertExplains(tooNew, "needs opset");
                continue;
            }
            OnnxRuntime.assertClose(expected, OnnxRuntime.run(written, builder.feeds), 1e-5);
            Graph again = OnnxReader.read(written).graph();
            OnnxRuntime.assertSameInitializers(graph, again, opset == 0);
        }
    }

    @Test
    void everyOperatorOfTheTableIsTried() {
        Set<String> missing = new TreeSet<>(OperatorTable.names());
        // Those compute only nearly the same: see QuantizedTest.
        missing.removeAll(QuantizedOperators.names());
        for (Case one : cases()) {
            for (NodeProto node : one.build(one.from()).proto().getGraph().getNodeList()) {
                missing.remove(node.getOpType());
            }
        }
        assertEquals(Set.of(), missing);
    }

    @Test
    void everyOperatorOfAGraphHasARow() {
        Set<Class<?>> written = new HashSet<>();
        for (String name : OperatorTable.names()) {
            OperatorTable.Row<?> row = OperatorTable.find(name);
            if (row != null) {
                written.add(row.type());
            }
        }
        // What is kept as it is has no row of its own: see BlackBoxTest.
        written.add(Foreign.class);
        assertEquals(records(Operator.class).collect(Collectors.toSet()), written);
    }

    private static Stream<Class<?>> records(Class<?> type) {
        Class<?>[] permitted = type.getPermittedSubclasses();
        return permitted == null ? Stream.of(type) : Stream.of(permitted).flatMap(RoundTripTest::records);
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        functions(cases);
        layers(cases);
        pools(cases);
        reductions(cases);
        shapes(cases);
        pieces(cases);
        constants(cases);
        resizes(cases);
        oldForms(cases);
        made(cases);
        recurrent(cases);
        attention(cases);
        return cases;
    }

    private static void attention(List<Case> cases) {
        cases.add(all(
                "SimplifiedLayerNormalization",
                b -> b.input("x", "N", "S", 4)
                        .weight("g", 4)
                        .node("SimplifiedLayerNormalization", "x g", "y", whole("axis", -1), number("epsilon", 1e-3f))
                        .output("y")));
        cases.add(from(
                23,
                "Attention",
                b -> b.input("q", "N", 2, "S", 4)
                        .input("k", "N", 2, 3, 4)
                        .input("v", "N", 2, 3, 5)
                        .node("Attention", "q k v", "y")
                        .output("y")));
        cases.add(from(
                23,
                "Attention, heads within, shared keys",
                b -> b.input("q", "N", "S", 8)
                        .input("k", "N", "S", 4)
                        .input("v", "N", "S", 6)
                        .input("m", "S", "S")
                        .node(
                                "Attention",
                                "q k v m",
                                "y",
                                whole("q_num_heads", 4),
                                whole("kv_num_heads", 2),
                                whole("is_causal", 1),
                                number("scale", 0.3f))
                        .output("y")));
        cases.add(from(
                23,
                "Attention, a mask of truth values",
                b -> b.input("q", "N", 2, "S", 4)
                        .input("k", "N", 2, "S", 4)
                        .input("v", "N", 2, "S", 4)
                        .typed("t", DataType.INT64, 3, "N", 1, "S", "S")
                        .node("Cast", "t", "m", whole("to", 9))
                        .node("Attention", "q k v m", "y")
                        .output("y")));
        for (long causal : new long[] {0, 1}) {
            cases.add(from(
                    23,
                    "Attention, queries without a key, causal: " + causal,
                    b -> b.input("q", "N", 2, 3, 4)
                            .input("k", "N", 2, 4, 4)
                            .input("v", "N", 2, 4, 4)
                            .typed("t", DataType.INT64, 2, "N", 1, 3, 4)
                            // The first query has none, the second one only the last, which comes after it.
                            .initializer("w", Tensor.of(new long[] {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3, 4))
                            .initializer("o", Tensor.of(new long[] {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0}, 3, 4))
                            .node("Mul", "t w", "tw")
                            .node("Max", "tw o", "two")
                            .node("Cast", "two", "m", whole("to", 9))
                            .node("Attention", "q k v m", "y", whole("is_causal", causal))
                            .output("y")));
            for (double below : new double[] {Double.NEGATIVE_INFINITY, -Float.MAX_VALUE}) {
                cases.add(from(
                        23,
                        "Attention, " + below + " added for a query, causal: " + causal,
                        b -> b.input("q", "N", 2, 3, 4)
                                .input("k", "N", 2, 4, 4)
                                .input("v", "N", 2, 4, 4)
                                .input("m", "N", 1, 3, 4)
                                .initializer("first", Tensor.of(new long[] {1, 0, 0}, 3, 1))
                                .scalar("below", below)
                                .node("Cast", "first", "c", whole("to", 9))
                                .node("Where", "c below m", "n")
                                .node("Attention", "q k v n", "y", whole("is_causal", causal))
                                .output("y")));
            }
            cases.add(from(
                    23,
                    "Attention, a mask that the file has, causal: " + causal,
                    b -> b.input("q", "N", 2, 3, 4)
                            .input("k", "N", 2, 4, 4)
                            .input("v", "N", 2, 4, 4)
                            .initializer(
                                    "m",
                                    Tensor.of(new long[] {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1}, 3, 4)
                                            .cast(DataType.BOOL))
                            .node("Attention", "q k v m", "y", whole("is_causal", causal))
                            .output("y")));
        }
        for (long pairs : new long[] {0, 1}) {
            cases.add(from(
                    23,
                    "RotaryEmbedding, pairs: " + pairs,
                    b -> b.input("x", "N", "S", 12)
                            .typed("p", DataType.INT64, 9, "N", "S")
                            .weight("c", 9, 2)
                            .weight("s", 9, 2)
                            .node(
                                    "RotaryEmbedding",
                                    "x c s p",
                                    "y",
                                    whole("interleaved", pairs),
                                    whole("num_heads", 2),
                                    whole("rotary_embedding_dim", 4))
                            .output("y")));
            cases.add(from(
                    23,
                    "RotaryEmbedding of heads, pairs: " + pairs,
                    b -> b.input("x", "N", 2, "S", 4)
                            .input("c", "N", "S", 2)
                            .input("s", "N", "S", 2)
                            .node("RotaryEmbedding", "x c s", "y", whole("interleaved", pairs))
                            .output("y")));
        }
    }

    private static void functions(List<Case> cases) {
        for (String name : List.of(
                "Abs",
                "Ceil",
                "Cos",
                "Erf",
                "Exp",
                "Floor",
                "HardSwish",
                "IsInf",
                "IsNaN",
                "Mish",
                "Neg",
                "Reciprocal",
                "Relu",
                "Round",
                "Sigmoid",
                "Sign",
                "Sin",
                "Softplus",
                "Softsign",
                "Tanh")) {
            int from = name.equals("HardSwish") ? 14 : name.equals("Mish") ? 18 : 13;
            cases.add(from(
                    from, name, b -> b.input("x", "N", 7).node(name, "x", "y").output("y")));
        }
        for (DataType half : List.of(DataType.FLOAT16, DataType.BFLOAT16)) {
            cases.add(from(
                    20,
                    "IsInf of " + half,
                    b -> b.input("x", 7)
                            .node("Relu", "x", "r")
                            .node("Div", "x r", "d")
                            .node("Cast", "d", "h", whole("to", half == DataType.FLOAT16 ? 10 : 16))
                            .node("IsInf", "h", "y")
                            .output("y")));
        }
        for (String name : List.of("ReduceMax", "ReduceMin")) {
            cases.add(from(
                    20,
                    name + " of truths",
                    b -> b.typed("x", DataType.BOOL, 2, "N", 3, 4)
                            .list("axes", -1)
                            .node(name, "x axes", "y", whole("keepdims", 0))
                            .node(name, "x", "z")
                            .output("y", "z")));
        }
        for (String name : List.of("Log", "Sqrt")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 7)
                            .node("Abs", "x", "a")
                            .node(name, "a", "y")
                            .output("y")));
        }
        cases.add(all(
                "Not",
                b -> b.typed("x", DataType.BOOL, 2, 7).node("Not", "x", "y").output("y")));
        cases.add(all(
                "Identity",
                b -> b.input("x", 3)
                        .node("Identity", "x", "i")
                        .node("Relu", "i", "r")
                        .node("Identity", "r", "y")
                        .output("y")));
        for (String name : List.of("Add", "Sub", "Mul", "Div", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 4)
                            .input("z", 4)
                            .weight("w", 4)
                            .node("Add", "z w", "sum")
                            .node(name, "x sum", "y")
                            .output("y")));
        }
        cases.add(all(
                "Equal",
                b -> b.typed("x", DataType.INT64, 3, "N", 9)
                        .typed("z", DataType.INT64, 3, 9)
                        .node("Equal", "x z", "y")
                        .output("y")));
        for (String name : List.of("And", "Or", "Xor")) {
            cases.add(all(
                    name,
                    b -> b.typed("x", DataType.BOOL, 2, 2, 8)
                            .typed("z", DataType.BOOL, 2, 8)
                            .node(name, "x z", "y")
                            .output("y")));
        }
        cases.add(all(
                "Pow",
                b -> b.input("x", 5).scalar("two", 2).node("Pow", "x two", "y").output("y")));
        cases.add(all(
                "Mod of whole numbers",
                b -> b.typed("x", DataType.INT64, 50, 9)
                        .list("k", 7)
                        .node("Mod", "x k", "y")
                        .output("y")));
        cases.add(all(
                "Mod of fractions",
                b -> b.input("x", 9)
                        .scalar("k", 0.7)
                        .node("Mod", "x k", "y", whole("fmod", 1))
                        .output("y")));
        cases.add(all(
                "PRelu",
                b -> b.input("x", "N", 3, 4)
                        .weight("slope", 3, 1)
                        .node("PRelu", "x slope", "y")
                        .output("y")));
        for (String name : List.of("Sum", "Mean", "Min", "Max")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 4)
                            .input("z", 4)
                            .weight("w", 1)
                            .node(name, "x z w", "y")
                            .output("y")));
        }
        cases.add(all(
                "Where",
                b -> b.typed("c", DataType.BOOL, 2, 4)
                        .input("x", 2, 4)
                        .weight("w", 1)
                        .node("Where", "c x w", "y")
                        .output("y")));
        cases.add(all(
                "Cast",
                b -> b.typed("x", DataType.INT64, 9, 4)
                        .node("Cast", "x", "y", whole("to", 1))
                        .output("y")));
        cases.add(from(
                15,
                "CastLike",
                b -> b.typed("x", DataType.INT64, 9, 4)
                        .scalar("like", 1)
                        .node("CastLike", "x like", "y")
                        .output("y")));
        activations(cases);
    }

    private static void activations(List<Case> cases) {
        for (String name : List.of("LeakyRelu", "Elu", "Celu")) {
            cases.add(all(
                    name,
                    b -> b.input("x", 9)
                            .node(name, "x", "a", number("alpha", 0.3f))
                            .node(name, "a", "y")
                            .output("y")));
        }
        cases.add(all(
                "Selu",
                b -> b.input("x", 9)
                        .node("Selu", "x", "a")
                        .node("Selu", "a", "y", number("alpha", 1.5f), number("gamma", 0.9f))
                        .output("y")));
        cases.add(all(
                "HardSigmoid",
                b -> b.input("x", 9)
                        .node("HardSigmoid", "x", "a")
                        .node("HardSigmoid", "a", "y", number("alpha", 0.3f), number("beta", 0.1f))
                        .output("y")));
        cases.add(from(
                20,
                "Gelu",
                b -> b.input("x", 9)
                        .node("Gelu", "x", "a")
                        .node("Gelu", "a", "y", text("approximate", "tanh"))
                        .output("y")));
        cases.add(all(
                "Clip",
                b -> b.input("x", 20)
                        .scalar("lo", -0.5)
                        .scalar("hi", 0.25)
                        .node("Clip", "x lo hi", "y0")
                        .node("Clip", "x - hi", "y1")
                        .node("Clip", "x lo", "y2")
                        .node("Clip", "x", "y3")
                        .output("y0", "y1", "y2", "y3")));
        cases.add(all(
                "Clip of whole numbers",
                b -> b.typed("x", DataType.INT64, 20, 9)
                        .initializer("lo", Tensor.scalar(DataType.INT64, 3))
                        .node("Clip", "x lo", "y")
                        .output("y")));
        cases.add(all(
                "Dropout",
                b -> b.input("x", 9)
                        .scalar("ratio", 0.3)
                        .node("Dropout", "x ratio", "a")
                        .node("Dropout", "a", "y mask")
                        .output("y")));
        for (String name : List.of("Softmax", "LogSoftmax")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 3, 4)
                            .node(name, "x", "a")
                            .node(name, "a", "y", whole("axis", 1))
                            .output("y")));
        }
    }

    private static void layers(List<Case> cases) {
        cases.add(all(
                "Conv",
                b -> b.input("x", "N", 4, 9, 8)
                        .weight("w", 6, 2, 3, 2)
                        .weight("bias", 6)
                        .node(
                                "Conv",
                                "x w bias",
                                "y",
                                longs("strides", 2L, 1L),
                                longs("pads", 1L, 0L, 2L, 1L),
                                longs("dilations", 2L, 1L),
                                whole("group", 2))
                        .output("y")));
        for (String mode : List.of("SAME_UPPER", "SAME_LOWER", "VALID")) {
            cases.add(all(
                    "Conv " + mode,
                    b -> b.input("x", "N", 2, 8, 7)
                            .weight("w", 3, 2, 4, 3)
                            .node("Conv", "x w", "y", longs("strides", 2L, 3L), text("auto_pad", mode))
                            .node("MaxPool", "x", "z", longs("kernel_shape", 2L, 3L), text("auto_pad", mode))
                            .output("y", "z")));
        }
        cases.add(all(
                "Conv of one axis",
                b -> b.input("x", "N", 2, "S")
                        .weight("w", 3, 2, 3)
                        .node("Conv", "x w", "y")
                        .output("y")));
        cases.add(all(
                "ConvTranspose",
                b -> b.input("x", "N", 4, 5, 3)
                        .weight("w", 4, 3, 3, 2)
                        .weight("bias", 6)
                        .node(
                                "ConvTranspose",
                                "x w bias",
                                "y",
                                longs("strides", 2L, 3L),
                                longs("pads", 1L, 0L, 2L, 1L),
                                longs("output_padding", 1L, 2L),
                                longs("dilations", 2L, 1L),
                                whole("group", 2))
                        .output("y")));
        cases.add(all(
                "ConvTranspose of one axis",
                b -> b.input("x", "N", 2, "S")
                        .weight("w", 2, 3, 4)
                        .node("ConvTranspose", "x w", "y", longs("strides", 2L), longs("pads", 1L, 1L))
                        .output("y")));
        for (String mode : List.of("SAME_UPPER", "SAME_LOWER", "VALID")) {
            cases.add(all(
                    "ConvTranspose " + mode,
                    b -> b.input("x", "N", 2, 4, 7)
                            .weight("w", 2, 3, 4, 3)
                            .node("ConvTranspose", "x w", "y", longs("strides", 3L, 2L), text("auto_pad", mode))
                            .output("y")));
        }
        cases.add(all(
                "ConvTranspose to a shape",
                b -> b.input("x", "N", 2, 4, 7)
                        .weight("w", 2, 3, 4, 3)
                        .node("ConvTranspose", "x w", "y", longs("strides", 3L, 2L), longs("output_shape", 10L, 14L))
                        .output("y")));
        cases.add(all(
                "Gemm",
                b -> b.input("x", "N", 4)
                        .weight("w", 5, 4)
                        .weight("b", 5)
                        .weight("v", 5, 3)
                        .node("Gemm", "x w b", "h", whole("transB", 1), number("alpha", 0.5f), number("beta", 2))
                        .node("Gemm", "h v", "y")
                        .output("y")));
        cases.add(all(
                "MatMul",
                b -> b.input("x", "N", "S", 4)
                        .weight("w", 4, 3)
                        .node("MatMul", "x w", "y")
                        .output("y")));
        cases.add(all(
                "BatchNormalization",
                b -> b.input("x", "N", 3, 4)
                        .weight("s", 3)
                        .weight("b", 3)
                        .weight("m", 3)
                        .weight("v", 3)
                        .node(
                                "BatchNormalization",
                                "x s b m v",
                                "y",
                                number("epsilon", 1e-3f),
                                number("momentum", 0.8f))
                        .output("y")));
        cases.add(all(
                "InstanceNormalization",
                b -> b.input("x", "N", 3, 4, 5)
                        .weight("s", 3)
                        .weight("b", 3)
                        .node("InstanceNormalization", "x s b", "y", number("epsilon", 1e-3f))
                        .output("y")));
        cases.add(from(
                17,
                "LayerNormalization",
                b -> b.input("x", "N", 3, 4)
                        .weight("s", 4)
                        .weight("b", 4)
                        .weight("t", 3, 4)
                        .node("LayerNormalization", "x s b", "h")
                        .node("LayerNormalization", "h t", "y", whole("axis", 1), number("epsilon", 1e-2f))
                        .output("y")));
    }

    private static void pools(List<Case> cases) {
        for (String name : List.of("MaxPool", "AveragePool")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 2, 9, 8)
                            .node(
                                    name,
                                    "x",
                                    "y",
                                    longs("kernel_shape", 3L, 2L),
                                    longs("strides", 2L, 2L),
                                    longs("pads", 1L, 0L, 1L, 1L))
                            .node(
                                    name,
                                    "x",
                                    "z",
                                    longs("kernel_shape", 2L, 2L),
                                    whole("ceil_mode", 1),
                                    longs("strides", 2L, 2L))
                            .output("y", "z")));
        }
        cases.add(all(
                "MaxPool with dilation",
                b -> b.input("x", 1, 2, 9)
                        .node("MaxPool", "x", "y indices", longs("kernel_shape", 3L), longs("dilations", 2L))
                        .output("y")));
        cases.add(from(
                19,
                "AveragePool with dilation",
                b -> b.input("x", 1, 2, 9)
                        .node("AveragePool", "x", "y", longs("kernel_shape", 3L), longs("dilations", 2L))
                        .output("y")));
        cases.add(all(
                "AveragePool that counts padding",
                b -> b.input("x", 1, 2, 5)
                        .node(
                                "AveragePool",
                                "x",
                                "y",
                                longs("kernel_shape", 3L),
                                longs("pads", 1L, 1L),
                                whole("count_include_pad", 1))
                        .output("y")));
        for (String name : List.of("GlobalMaxPool", "GlobalAveragePool")) {
            cases.add(all(
                    name, b -> b.input("x", "N", 2, 5, 3).node(name, "x", "y").output("y")));
        }
    }

    private static void reductions(List<Case> cases) {
        for (String name : List.of(
                "ReduceMean",
                "ReduceSum",
                "ReduceMax",
                "ReduceMin",
                "ReduceProd",
                "ReduceL1",
                "ReduceL2",
                "ReduceSumSquare",
                "ReduceLogSumExp")) {
            cases.add(all(
                    name + " of everything",
                    b -> b.input("x", "N", 3, 4).node(name, "x", "y").output("y")));
            if (!name.equals("ReduceSum")) {
                cases.add(until(
                        17,
                        name + " with an attribute",
                        b -> b.input("x", "N", 3, 4)
                                .node(name, "x", "y", longs("axes", -1L, 1L), whole("keepdims", 0))
                                .output("y")));
            }
            cases.add(from(
                    name.equals("ReduceSum") ? 13 : 18,
                    name + " with an input",
                    b -> b.input("x", "N", 3, 4)
                            .list("axes", -1, 1)
                            .node(name, "x axes", "y", whole("keepdims", 0))
                            .output("y")));
        }
        for (String name : List.of("ReduceMean", "ReduceL2")) {
            cases.add(from(
                    18,
                    name + " of nothing",
                    b -> b.input("x", "N", 3)
                            .node(name, "x", "y", whole("noop_with_empty_axes", 1))
                            .output("y")));
        }
        for (String name : List.of("ArgMax", "ArgMin")) {
            cases.add(all(
                    name,
                    b -> b.input("x", "N", 3, 4)
                            .node(name, "x", "y", whole("axis", -1), whole("keepdims", 0))
                            .node(name, "x", "z")
                            .output("y", "z")));
        }
        cases.add(all(
                "CumSum",
                b -> b.input("x", "N", 4)
                        .initializer("axis", Tensor.scalar(DataType.INT64, 1))
                        .node("CumSum", "x axis", "h")
                        .node("CumSum", "h axis", "y", whole("exclusive", 1), whole("reverse", 1))
                        .output("y")));
    }

    private static void shapes(List<Case> cases) {
        cases.add(all(
                "Reshape",
                b -> b.input("x", "N", 3, 4)
                        .list("shape", 0, -1)
                        .node("Reshape", "x shape", "y")
                        .output("y")));
        cases.add(from(
                14,
                "Reshape to nothing",
                b -> b.input("x", 0, 3)
                        .list("shape", 3, 0)
                        .node("Reshape", "x shape", "y", whole("allowzero", 1))
                        .output("y")));
        cases.add(all(
                "Flatten",
                b -> b.input("x", "N", 3, 4)
                        .node("Flatten", "x", "y")
                        .node("Flatten", "x", "z", whole("axis", 2))
                        .output("y", "z")));
        cases.add(all(
                "Transpose",
                b -> b.input("x", "N", 3, 4)
                        .node("Transpose", "x", "y")
                        .node("Transpose", "x", "z", longs("perm", 0L, 2L, 1L))
                        .output("y", "z")));
        cases.add(all(
                "Squeeze and Unsqueeze",
                b -> b.input("x", 2, 1, 4, 1)
                        .list("axes", -1)
                        .list("more", 0, 2)
                        .node("Squeeze", "x axes", "h")
                        .node("Squeeze", "x", "z")
                        .node("Unsqueeze", "h more", "y")
                        .output("y", "z")));
        cases.add(all(
                "Expand",
                b -> b.input("x", "N", 1)
                        .list("shape", 3, 1, 4)
                        .node("Expand", "x shape", "y")
                        .output("y")));
        cases.add(all(
                "Tile",
                b -> b.input("x", "N", 2)
                        .list("copies", 2, 3)
                        .node("Tile", "x copies", "y")
                        .output("y")));
        cases.add(all(
                "Shape arithmetic",
                b -> b.input("x", "N", "S", 6)
                        .initializer("one", Tensor.computeLongs(DataType.INT64, new long[0], i -> 1))
                        .list("zero", 0)
                        .list("three", 3)
                        .list("minus", -1)
                        .node("Shape", "x", "shape")
                        .node("Gather", "shape one", "length")
                        .node("Unsqueeze", "length zero", "lengths")
                        .node("Concat", "lengths minus three", "target", whole("axis", 0))
                        .node("Reshape", "x target", "y")
                        .node("Size", "x", "size")
                        .output("y", "size")));
        cases.add(from(
                15,
                "Shape of some axes",
                b -> b.input("x", "N", "S", 6)
                        .node("Shape", "x", "y", whole("start", -2), whole("end", 2))
                        .output("y")));
    }

    private static void pieces(List<Case> cases) {
        cases.add(all(
                "Concat",
                b -> b.input("x", "N", 2)
                        .input("z", "N", 3)
                        .node("Concat", "x z x", "y", whole("axis", -1))
                        .output("y")));
        cases.add(all(
                "Split",
                b -> b.input("x", "N", 6)
                        .list("sizes", 1, 5)
                        .node("Split", "x sizes", "a b", whole("axis", 1))
                        .output("a", "b")));
        cases.add(until(
                17,
                "Split into equal pieces",
                b -> b.input("x", "N", 6)
                        .node("Split", "x", "a b c", whole("axis", 1))
                        .output("a", "c")));
        cases.add(from(
                18,
                "Split into a number of pieces",
                b -> b.input("x", "N", 7)
                        .node("Split", "x", "a b c", whole("axis", 1), whole("num_outputs", 3))
                        .output("a", "b", "c")));
        cases.add(all(
                "a split through a sequence",
                b -> b.input("x", "N", 6)
                        .list("sizes", 1, 5)
                        .initializer("three", Tensor.scalar(DataType.INT64, 3))
                        .initializer("one", Tensor.scalar(DataType.INT64, 1))
                        .initializer("first", Tensor.scalar(DataType.INT64, -2))
                        .node("SplitToSequence", "x sizes", "s", whole("axis", 1))
                        .node("SplitToSequence", "x three", "t", whole("axis", -1))
                        .node("SequenceAt", "s one", "y")
                        .node("SequenceAt", "t first", "z")
                        .output("y", "z")));
        cases.add(all(
                "Slice",
                b -> b.input("x", "N", 9, 5)
                        .list("starts", -2, 4)
                        .list("ends", -8, 1000)
                        .list("axes", 1, 2)
                        .list("steps", -2, 1)
                        .node("Slice", "x starts ends axes steps", "y")
                        .output("y")));
        cases.add(all(
                "Slice with few inputs",
                b -> b.input("x", 4, 9)
                        .list("starts", 1, 2)
                        .list("ends", 3, -1)
                        .list("steps", 1, 3)
                        .node("Slice", "x starts ends", "y")
                        .node("Slice", "x starts ends - steps", "z")
                        .output("y", "z")));
        cases.add(all(
                "Gather",
                b -> b.weight("table", 7, 3)
                        .typed("ids", DataType.INT64, 7, "N", "S")
                        .node("Gather", "table ids", "y")
                        .output("y")));
        cases.add(all(
                "GatherND",
                b -> b.input("x", "N", 3, 4)
                        .list("pairs", 0, 2, 1, -1)
                        .list("shape", 1, 2, 2)
                        .list("all", 1, 2, -1)
                        .node("Reshape", "pairs shape", "i")
                        .node("GatherND", "x i", "y")
                        .node("GatherND", "x all", "z")
                        .node("Constant", "", "one", longs("value_ints", 1L))
                        .node("GatherND", "x one", "w")
                        .output("y", "z", "w")));
        cases.add(all(
                "GatherElements",
                b -> b.input("x", 3, 4)
                        .typed("i", DataType.INT64, 4, 3, 2)
                        .node("GatherElements", "x i", "y", whole("axis", 1))
                        .output("y")));
        cases.add(all(
                "Pad",
                b -> b.input("x", "N", 4)
                        .list("pads", 0, 1, 0, 2)
                        .list("cut", 0, -1, 1, 2)
                        .scalar("value", 7)
                        .node("Pad", "x pads value", "y0")
                        .node("Pad", "x cut", "y1")
                        .node("Pad", "x pads", "y2", text("mode", "reflect"))
                        .node("Pad", "x pads", "y3", text("mode", "edge"))
                        .output("y0", "y1", "y2", "y3")));
        cases.add(from(
                19,
                "Pad of some axes",
                b -> b.input("x", "N", 4)
                        .list("pads", 1, 2)
                        .list("axes", -1)
                        .node("Pad", "x pads - axes", "y", text("mode", "wrap"))
                        .output("y")));
        cases.add(from(
                19,
                "Pad, wrapping what is left of a cut axis",
                b -> b.input("x", "N", 4)
                        .list("pads", 0, 2, 0, -1)
                        .node("Pad", "x pads", "y", text("mode", "wrap"))
                        .output("y")));
        cases.add(from(
                14,
                "Trilu",
                b -> b.input("x", 4, 5)
                        .initializer("k", Tensor.scalar(DataType.INT64, -1))
                        .node("Trilu", "x", "y")
                        .node("Trilu", "x k", "z", whole("upper", 0))
                        .output("y", "z")));
    }

    private static void constants(List<Case> cases) {
        cases.add(all(
                "Constant in all forms",
                b -> b.input("x", 2)
                        .node("Constant", "", "a", tensor("value", Tensor.of(new float[] {1, 2})))
                        .node("Constant", "", "b", number("value_float", 0.5f))
                        .node("Constant", "", "c", numbers("value_floats", 3f, 4f))
                        .node("Constant", "", "d", whole("value_int", 5))
                        .node("Constant", "", "e", longs("value_ints", 1L, 2L))
                        .node("Add", "x a", "xa")
                        .node("Mul", "xa b", "xb")
                        .node("Add", "xb c", "y")
                        .output("y", "d", "e")));
        cases.add(all(
                "ConstantOfShape",
                b -> b.input("x", "N", "S")
                        .node("Shape", "x", "s")
                        .node("ConstantOfShape", "s", "y")
                        .node("ConstantOfShape", "s", "z", tensor("value", Tensor.of(new long[] {3})))
                        .output("y", "z")));
        cases.add(all(
                "Range",
                b -> b.input("x", "S")
                        .initializer("zero", Tensor.scalar(DataType.INT64, 0))
                        .initializer("two", Tensor.scalar(DataType.INT64, 2))
                        .node("Size", "x", "n")
                        .node("Range", "zero n two", "y")
                        .output("y")));
        cases.add(all(
                "folded constants",
                b -> b.input("x", 2, 6)
                        .node("Constant", "", "n", longs("value_ints", 2L, 3L))
                        .node("ConstantOfShape", "n", "c", tensor("value", Tensor.of(new float[] {2})))
                        .node("Exp", "c", "e")
                        .node("Constant", "", "s", longs("value_ints", 1L, 6L))
                        .node("Reshape", "e s", "r")
                        .node("Add", "x r", "y")
                        .output("y")));
        cases.add(all(
                "weights laid out otherwise",
                b -> b.input("x", "N", 4)
                        .weight("w", 3, 4)
                        .weight("shared", 3, 3)
                        .node("Transpose", "w", "wt")
                        .node("MatMul", "x wt", "h")
                        .node("Transpose", "shared", "st")
                        .node("MatMul", "h st", "g")
                        .node("MatMul", "g shared", "y")
                        .output("y")));
        cases.add(all(
                "inputs and constants that come out",
                b -> b.input("x", 3)
                        .weight("w", 3)
                        .node("Constant", "", "c", number("value_float", 1))
                        .node("Add", "x w", "y")
                        .output("y", "c", "w")));
    }

    private static void resizes(List<Case> cases) {
        for (String coordinates : List.of("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")) {
            for (String rounding : List.of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")) {
                cases.add(all("Resize nearest " + coordinates + " " + rounding, b -> {
                    b.input("x", 1, 2, 6, 7).initializer("scales", Tensor.of(new float[] {1, 1, 2, 0.6f}));
                    resize(b, "x - scales", "y0", coordinates, "nearest", rounding);
                    for (int i = 1; i <= 6; i++) {
                        b.list("sizes" + i, 1, 2, new long[] {12, 20, 3, 1, 9, 6}[i - 1], 3L * i);
                        resize(b, "x - - sizes" + i, "y" + i, coordinates, "nearest", rounding);
                    }
                    b.output("y0", "y1", "y2", "y3", "y4", "y5", "y6");
                }));
            }
            cases.add(all("Resize linear " + coordinates, b -> {
                b.input("x", "N", 2, 5, 7)
                        .initializer("scales", Tensor.of(new float[] {1, 1, 1.7f, 0.6f}))
                        .list("sizes", 2, 2, 3, 1);
                resize(b, "x - scales", "y", coordinates, "linear", "floor");
                resize(b, "x - - sizes", "z", coordinates, "linear", "floor");
                b.output("y", "z");
            }));
            cases.add(all(
                    "Resize cubic " + coordinates,
                    b -> b.input("x", "N", 2, 5, 7)
                            .initializer("scales", Tensor.of(new float[] {1, 1, 1.7f, 0.6f}))
                            .node(
                                    "Resize",
                                    "x - scales",
                                    "y",
                                    text("mode", "cubic"),
                                    text("coordinate_transformation_mode", coordinates))
                            .node(
                                    "Resize",
                                    "x - scales",
                                    "z",
                                    text("mode", "cubic"),
                                    number("cubic_coeff_a", -0.5f),
                                    whole("exclude_outside", 1),
                                    text("coordinate_transformation_mode", coordinates))
                            .output("y", "z")));
        }
        cases.add(from(
                19,
                "Resize of some axes",
                b -> b.input("x", "N", 2, 5, 7)
                        .list("sizes", 8, 6)
                        .initializer("scales", Tensor.of(new float[] {1.3f, 2.9f}))
                        .node("Resize", "x - - sizes", "y", longs("axes", 2L, 3L), text("mode", "linear"))
                        .node(
                                "Resize",
                                "x - scales",
                                "z",
                                longs("axes", -1L, 2L),
                                text("coordinate_transformation_mode", "half_pixel_symmetric"))
                        .output("y", "z")));
        cases.add(all(
                "Resize to the lengths of another tensor",
                b -> b.input("x", "N", 2, "H", "W")
                        .input("like", "N", 3, 6, 5)
                        .list("two", 2)
                        .list("zero", 0)
                        .list("four", 4)
                        .node("Shape", "x", "xs")
                        .node("Shape", "like", "ls")
                        .node("Slice", "xs zero two", "first")
                        .node("Slice", "ls two four", "last")
                        .node("Concat", "first last", "sizes", whole("axis", 0))
                        .node("Resize", "x - - sizes", "y", text("mode", "nearest"))
                        .output("y")));
        cases.add(before(11, "Upsample and Resize by scales", b -> {
            b.input("x", "N", 2, 3, 4);
            int opset = (int) b.model.getOpsetImport(0).getVersion();
            b.initializer("scales", Tensor.of(new float[] {1, 1, 2, 3}));
            AttributeProto attribute = numbers("scales", 1f, 1f, 2f, 3f);
            String name = opset < 10 ? "Upsample" : "Resize";
            for (String mode : List.of("nearest", "linear")) {
                if (opset < 9) {
                    b.node(name, "x", mode, attribute, text("mode", mode));
                } else {
                    b.node(name, "x scales", mode, text("mode", mode));
                }
            }
            b.output("nearest", "linear");
        }));
    }

    /** Operators that are read as several others, and those that pick and place. */
    private static void made(List<Case> cases) {
        for (String mode : List.of("DCR", "CRD")) {
            cases.add(all(
                    "DepthToSpace " + mode,
                    b -> b.input("x", "N", 8, 3, "S")
                            .node("DepthToSpace", "x", "y", whole("blocksize", 2), text("mode", mode))
                            .output("y")));
        }
        cases.add(all(
                "SpaceToDepth",
                b -> b.input("x", "N", 3, 4, 6)
                        .node("SpaceToDepth", "x", "y", whole("blocksize", 2))
                        .output("y")));
        for (int opset : new int[] {18, 21}) {
            cases.add(new Case(
                    "GroupNormalization of opset " + opset,
                    opset,
                    opset == 18 ? 20 : 24,
                    b -> b.input("x", "N", 6, 4, "S")
                            .weight("s", opset == 18 ? 3 : 6)
                            .weight("b", opset == 18 ? 3 : 6)
                            .node("GroupNormalization", "x s b", "y", whole("num_groups", 3), number("epsilon", 1e-3f))
                            .output("y")));
        }
        cases.add(from(
                23,
                "RMSNormalization",
                b -> b.input("x", "N", 3, 4)
                        .weight("s", 4)
                        .weight("t", 3, 4)
                        .node("RMSNormalization", "x s", "h", number("epsilon", 1e-3f))
                        .node("RMSNormalization", "h t", "y", whole("axis", 1))
                        .output("y")));
        cases.add(all(
                "OneHot",
                b -> b.typed("x", DataType.INT64, 7, "N", 3)
                        .initializer("depth", Tensor.scalar(DataType.INT64, 5))
                        .initializer("values", Tensor.of(new float[] {-1, 2}))
                        .node("OneHot", "x depth values", "y")
                        .node("OneHot", "x depth values", "z", whole("axis", 1))
                        .output("y", "z")));
        cases.add(all(
                "TopK",
                b -> b.input("x", "N", 5, 4)
                        .typed("w", DataType.INT64, 3, 2, 6)
                        .list("k", 3)
                        .node("TopK", "x k", "a b", whole("axis", 1))
                        .node("TopK", "x k", "c d", whole("largest", 0))
                        .node("TopK", "w k", "e f")
                        .output("a", "b", "c", "d", "e", "f")));
        cases.add(before(
                10,
                "TopK with an attribute",
                b -> b.input("x", "N", 5)
                        .node("TopK", "x", "y i", whole("k", 2))
                        .output("y", "i")));
        cases.add(all(
                "ScatterElements",
                b -> b.input("x", 3, 4)
                        .input("u", 2, 4)
                        .initializer("i", Tensor.of(new long[] {0, -1, 2, 1, 2, 0, 0, 0}, 2, 4))
                        .node("ScatterElements", "x i u", "y")
                        .output("y")));
        for (String reduction : List.of("add", "mul", "max", "min")) {
            cases.add(from(
                    reduction.startsWith("m") && !reduction.equals("mul") ? 18 : 16,
                    "ScatterElements " + reduction,
                    b -> b.input("x", 4, 3)
                            .input("u", 4, 2)
                            .initializer("i", Tensor.of(new long[] {0, 0, 2, 1, 2, 2, -1, 0}, 4, 2))
                            .node("ScatterElements", "x i u", "y", whole("axis", 1), text("reduction", reduction))
                            .output("y")));
        }
        cases.add(all(
                "ScatterND",
                b -> b.input("x", "N", 4, 3)
                        .input("u", 3, 3)
                        .input("v", 2, 2)
                        .initializer("i", Tensor.of(new long[] {0, 1, 1, -1, 1, 0}, 3, 2))
                        .initializer("j", Tensor.of(new long[] {0, 1, 2, 1, 3, 0, 1, 0, 0, 0, 0, 0}, 2, 2, 3))
                        .node("ScatterND", "x i u", "y")
                        .node("ScatterND", "x j v", "z")
                        .output("y", "z")));
        for (String equation : List.of(
                "ij,jk->ik",
                "bij,bkj->bik",
                "bhid,bhjd->bhij",
                "bij,jkl->bikl",
                "abcd,cde->eab",
                "bi,bi->b",
                "i,j->ji",
                "b i c, c k -> k b i")) {
            cases.add(all("Einsum " + equation, b -> {
                String[] inputs = equation.replace(" ", "").split("->", -1)[0].split(",", -1);
                for (int i = 0; i < 2; i++) {
                    Object[] shape = inputs[i]
                            .chars()
                            .mapToObj(axis -> axis == 'b' ? (Object) "N" : (Object) (2 + axis % 4))
                            .toArray();
                    b.input("x" + i, shape);
                }
                b.node("Einsum", "x0 x1", "y", text("equation", equation)).output("y");
            }));
        }
    }

    private static void recurrent(List<Case> cases) {
        for (String name : List.of("RNN", "GRU", "LSTM")) {
            int rows = 3 * (name.equals("LSTM") ? 4 : name.equals("GRU") ? 3 : 1);
            boolean cells = name.equals("LSTM");
            for (String direction : List.of("forward", "reverse", "bidirectional")) {
                int both = direction.equals("bidirectional") ? 2 : 1;
                AttributeProto[] attributes = {whole("hidden_size", 3), text("direction", direction)};
                cases.add(all(name + " " + direction, b -> {
                    b.input("x", "S", "N", 4).weight("w", both, rows, 4).weight("r", both, rows, 3);
                    b.node(name, "x w r", cells ? "y h c" : "y h", attributes);
                    b.output("y", "h");
                    if (cells) {
                        b.output("c");
                    }
                }));
                cases.add(all(name + " " + direction + " with everything", b -> {
                    b.input("x", "S", 3, 4).weight("w", both, rows, 4).weight("r", both, rows, 3);
                    b.weight("b", both, 2L * rows).input("h0", both, 3, 3).input("c0", both, 3, 3);
                    b.initializer("lengths", Tensor.of(new long[] {5, 2, 4}).cast(DataType.INT32));
                    b.weight("p", both, 9);
                    b.node(name, "x w r b lengths h0" + (cells ? " c0 p" : ""), cells ? "y - c" : "y", attributes);
                    b.node(name, "x w r b - h0", "- h", attributes);
                    b.node("Identity", "c0", "used").output("y", "h", "used");
                    if (cells) {
                        b.output("c");
                    }
                }));
            }
        }
        cases.add(all(
                "GRU that is linear before it resets",
                b -> b.input("x", "S", "N", 4)
                        .weight("w", 1, 9, 4)
                        .weight("r", 1, 9, 3)
                        .weight("b", 1, 18)
                        .node("GRU", "x w r b", "y h", whole("hidden_size", 3), whole("linear_before_reset", 1))
                        .output("y", "h")));
        cases.add(all(
                "RNN with rectifiers",
                b -> b.input("x", "S", "N", 4)
                        .weight("w", 2, 3, 4)
                        .weight("r", 2, 3, 3)
                        .node(
                                "RNN",
                                "x w r",
                                "y",
                                whole("hidden_size", 3),
                                text("direction", "bidirectional"),
                                texts("activations", "Relu", "Relu"))
                        .output("y")));
    }

    private static void resize(
            OnnxBuilder b, String inputs, String output, String coordinates, String mode, String rounding) {
        b.node(
                "Resize",
                inputs,
                output,
                text("mode", mode),
                text("coordinate_transformation_mode", coordinates),
                text("nearest_mode", rounding));
    }

    private static Case before(int opset, String name, Consumer<OnnxBuilder> body) {
        return new Case(name + " before opset " + opset, 7, opset - 1, body);
    }

    /** As older versions wrote them. */
    private static void oldForms(List<Case> cases) {
        cases.add(before(
                13,
                "axes as attributes",
                b -> b.input("x", "N", 1, 3, 1)
                        .node("Squeeze", "x", "s", longs("axes", 1L, 3L))
                        .node("Unsqueeze", "s", "u", longs("axes", 0L, 2L))
                        .node("ReduceSum", "u", "r", longs("axes", 3L), whole("keepdims", 0))
                        .node("Squeeze", "r", "y", longs("axes", 0L))
                        .output("y")));
        cases.add(before(
                13,
                "a sum of everything",
                b -> b.input("x", 2, 3).node("ReduceSum", "x", "y").output("y")));
        cases.add(before(
                13,
                "pieces as attributes",
                b -> b.input("x", "N", 6)
                        .node("Split", "x", "a b c", longs("split", 1L, 2L, 3L), whole("axis", 1))
                        .node("Split", "c", "d e f", whole("axis", 1))
                        .node("Concat", "f b a e d", "y", whole("axis", 1))
                        .output("y")));
        for (String softmax : List.of("Softmax", "LogSoftmax")) {
            for (Integer axis : Arrays.asList(null, 0, 1, 2, 3)) {
                cases.add(before(
                        13,
                        softmax + " over axis " + axis + " and all behind it",
                        b -> b.input("x", "N", 3, 4, 2)
                                .node(
                                        softmax,
                                        "x",
                                        "y",
                                        axis == null
                                                ? new AttributeProto[0]
                                                : new AttributeProto[] {whole("axis", axis)})
                                .output("y")));
            }
        }
        cases.add(before(
                12,
                "a ratio as an attribute",
                b -> b.input("x", "N", 3)
                        .node("Dropout", "x", "y", number("ratio", 0.3f))
                        .output("y")));
        cases.add(before(
                11,
                "bounds as attributes",
                b -> b.input("x", "N", 5)
                        .node("Clip", "x", "a", number("min", -0.2f), number("max", 0.3f))
                        .node("Clip", "a", "c", number("max", 0.2f))
                        .node("Clip", "c", "y")
                        .output("y")));
        for (String mode : List.of("constant", "reflect", "edge")) {
            cases.add(before(
                    11,
                    "pads as attributes, " + mode,
                    b -> b.input("x", "N", 4)
                            .node(
                                    "Pad",
                                    "x",
                                    "y",
                                    longs("pads", 0L, 2L, 0L, 1L),
                                    text("mode", mode),
                                    number("value", 3))
                            .output("y")));
        }
        cases.add(before(
                10,
                "slices as attributes",
                b -> b.input("x", "N", 6, 4)
                        .node(
                                "Slice",
                                "x",
                                "a",
                                longs("starts", 1L, -3L),
                                longs("ends", 5L, 99L),
                                longs("axes", 1L, 2L))
                        .node("Slice", "a", "y", longs("starts", 0L, 1L), longs("ends", 2L, 3L))
                        .output("y")));
        cases.add(before(
                9,
                "statistics of whole channels",
                b -> b.input("x", "N", 3, 2, 2)
                        .weight("scale", 3)
                        .weight("shift", 3)
                        .weight("mean", 3)
                        .initializer("variance", Tensor.of(new float[] {1, 2, 3}))
                        .node("BatchNormalization", "x scale shift mean variance", "y")
                        .output("y")));
    }
}
