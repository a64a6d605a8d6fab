package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.text;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.GraphPrinter;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models of whole numbers are read as models of fractions. What is fed lies on the grid that codes can express, so that no rounding
 * is left out where something comes in, and outputs differ from ONNX Runtime's by no more than half a step of theirs.
 */
final class QuantizedTest {
    private static final int[] OPSETS = {10, 11, 13, 17, 19, 21, 24};

    /** Powers of two: codes are exact. */
    private static final double STEP = 1.0 / 64;

    private static final double WEIGHT_STEP = 1.0 / 32;

    private static final int ZERO = 120;

    /** The step of outputs that are rounded. */
    private static final double OUT = 1.0 / 2;

    /** A model, the first version that has its operators, and the step of its outputs; zero where they are not rounded. */
    private record Case(String name, int from, double step, int weights, Consumer<OnnxBuilder> body) {
        OnnxBuilder build(int opset) {
            OnnxBuilder builder = new OnnxBuilder(opset);
            builder.model.addOpsetImport(OperatorSetIdProto.newBuilder()
                    .setDomain(Functions.MICROSOFT)
                    .setVersion(1));
            body.accept(builder);
            return builder;
        }
    }

    @TestFactory
    Stream<DynamicTest> computesNearlyTheSame() {
        return cases().stream()
                .map(one -> DynamicTest.dynamicTest(one.name(), () -> {
                    for (int opset : OPSETS) {
                        if (opset >= one.from()) {
                            check(one, one.build(opset));
                        }
                    }
                }));
    }

    private static void check(Case one, OnnxBuilder builder) throws Exception {
        byte[] original = builder.bytes();
        List<Tensor> expected = OnnxRuntime.run(original, builder.feeds);
        OnnxModel model = OnnxReader.read(original);
        Graph graph = model.graph();
        assertEquals(one.weights(), model.dequantization().weights(), GraphPrinter.table(graph));
        List<Tensor> found = List.copyOf(Evaluator.run(graph, builder.feeds).values());
        for (int i = 0; i < expected.size(); i++) {
            for (long j = 0; j < expected.get(i).size(); j++) {
                assertEquals(
                        expected.get(i).getDouble(j),
                        found.get(i).getDouble(j),
                        0.5001 * one.step() + 1e-4,
                        "output " + i + " at " + j + " of " + GraphPrinter.table(graph));
            }
        }
        byte[] written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
        OnnxRuntime.assertClose(found, OnnxRuntime.run(written, builder.feeds), 1e-5);
        assertEquals(Dequantization.NONE, OnnxReader.read(written).dequantization());
    }

    private static OnnxBuilder largest(String outputs) {
        OnnxBuilder builder = new OnnxBuilder(17);
        grids(fed(builder, "x", 1, 2, 4, 4))
                .node("QuantizeLinear", "x xs xz", "q")
                .node("MaxPool", "q", outputs, longs("kernel_shape", 2L, 2L), longs("strides", 2L, 2L))
                .node("DequantizeLinear", "p xs xz", "y");
        return builder;
    }

    /** Indices are no codes, and fractions have others: where two of them round to the same code. */
    @Test
    void indicesOfAPoolOfCodesAreRefusedLikeThoseOfFloats() {
        byte[] model = largest("p i").output("y", "i").bytes();
        String problem =
                assertThrows(GraphException.class, () -> OnnxReader.read(model)).getMessage();
        assertTrue(String.valueOf(problem).contains("its output 1, i, is used"), problem);
    }

    @Test
    void poolOfCodesWithIndicesIsKeptIfItsTypesAreKnown(@TempDir Path folder) throws Exception {
        OnnxBuilder builder = largest("p i").output("y", "i");
        Path file = folder.resolve("model.onnx");
        Files.write(file, builder.bytes());
        TypeProbe probe = (_, _, _) -> Map.of(
                "p", new TensorType(DataType.UINT8, Shape.of(1, 2, 2, 2)),
                "i", new TensorType(DataType.INT64, Shape.of(1, 2, 2, 2)));
        Graph graph = OnnxReader.read(file, probe).graph();
        assertEquals(Map.of("MaxPool", 1), graph.foreign());
        byte[] written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds), OnnxRuntime.run(written, builder.feeds), 1e-5);
    }

    @Test
    void indicesThatNobodyReadsAreNotMissed() throws Exception {
        OnnxBuilder builder = largest("p i").output("y");
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds),
                List.copyOf(Evaluator.run(graph, builder.feeds).values()),
                1e-5);
    }

    @Test
    void everyOperatorIsTried() {
        Set<String> missing = new TreeSet<>(QuantizedOperators.allNames());
        for (Case one : cases()) {
            for (NodeProto node : one.build(21).proto().getGraph().getNodeList()) {
                missing.remove(node.getDomain() + ":" + node.getOpType());
            }
        }
        assertEquals(Set.of(), missing);
    }

    /** An input of numbers that codes from 0 to 255 express, the least and the largest among them. */
    private static OnnxBuilder fed(OnnxBuilder builder, String name, long... shape) {
        Random random = new Random(name.hashCode());
        builder.input(name, LongStream.of(shape).boxed().toArray());
        builder.feeds.put(
                name,
                Tensor.compute(
                        DataType.FLOAT32,
                        shape,
                        i -> STEP * ((i == 0 ? 0 : i == 1 ? 255 : random.nextInt(256)) - ZERO)));
        return builder;
    }

    /**
     * Signed codes have six bits: where a processor adds up pairs of products in sixteen bits, ONNX Runtime cuts off what larger
     * ones come to.
     */
    private static OnnxBuilder codes(OnnxBuilder builder, String name, DataType type, long... shape) {
        Random random = new Random(name.hashCode());
        int codes = type == DataType.INT8 ? 64 : 128;
        return builder.initializer(name, Tensor.computeLongs(type, shape, i -> random.nextInt(codes)));
    }

    private static OnnxBuilder whole32(OnnxBuilder builder, String name, long... shape) {
        Random random = new Random(name.hashCode());
        return builder.initializer(name, Tensor.computeLongs(DataType.INT32, shape, i -> random.nextInt(2000) - 1000));
    }

    private static OnnxBuilder zero(OnnxBuilder builder, String name, DataType type, long value) {
        return builder.initializer(name, Tensor.computeLongs(type, new long[0], i -> value));
    }

    private static OnnxBuilder scales(OnnxBuilder builder, String name, long... shape) {
        return builder.initializer(name, Tensor.compute(DataType.FLOAT32, shape, i -> WEIGHT_STEP * (1 + i % 3)));
    }

    /** Scale and zero point of what is fed, of a weight and of what comes out. */
    private static OnnxBuilder grids(OnnxBuilder builder) {
        builder.scalar("xs", STEP).scalar("ws", WEIGHT_STEP).scalar("ys", OUT);
        zero(builder, "xz", DataType.UINT8, ZERO);
        zero(builder, "wz", DataType.UINT8, 60);
        return zero(builder, "yz", DataType.UINT8, 128);
    }

    private static OnnxBuilder contributed(
            OnnxBuilder builder, String operator, String inputs, String outputs, AttributeProto... attributes) {
        builder.graph.addNode(
                OnnxBuilder.nodeProto(operator, inputs, outputs, attributes).setDomain(Functions.MICROSOFT));
        return builder;
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        pairs(cases);
        integers(cases);
        linear(cases);
        fused(cases);
        return cases;
    }

    private static void pairs(List<Case> cases) {
        cases.add(new Case("weights only", 10, 0, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            b.node("DequantizeLinear", "w ws wz", "v")
                    .node("MatMul", "x v", "y")
                    .output("y");
        }));
        cases.add(new Case("one scale a channel, transposed", 13, 0, 1, b -> {
            codes(scales(fed(b, "x", 2, 4), "s", 3), "w", DataType.INT8, 3, 4);
            b.node("DequantizeLinear", "w s", "v", whole("axis", 0))
                    .node("Transpose", "v", "t", longs("perm", 1L, 0L))
                    .node("MatMul", "x t", "y")
                    .output("y");
        }));
        cases.add(new Case("blocks", 21, 0, 1, b -> {
            codes(scales(fed(b, "x", 2, 6), "s", 3, 3), "w", DataType.INT8, 6, 3);
            b.node("DequantizeLinear", "w s", "v", whole("axis", 0), whole("block_size", 2))
                    .node("MatMul", "x v", "y")
                    .output("y");
        }));
        cases.add(new Case("what flows is rounded too", 10, 0, 2, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            whole32(b, "b", 3).scalar("bs", STEP * WEIGHT_STEP);
            b.node("QuantizeLinear", "x xs xz", "q")
                    .node("DequantizeLinear", "q xs xz", "r")
                    .node("DequantizeLinear", "w ws wz", "v")
                    .node("DequantizeLinear", "b bs", "c")
                    .node("Gemm", "r v c", "y")
                    .output("y");
        }));
        cases.add(new Case("a weight that the file rounds itself", 13, 0, 1, b -> {
            scales(fed(b, "x", 2, 4), "s", 3).weight("w", 4, 3);
            b.initializer("z", Tensor.computeLongs(DataType.INT8, new long[] {3}, i -> i));
            b.node("QuantizeLinear", "w s z", "q", whole("axis", 1))
                    .node("DequantizeLinear", "q s z", "v", whole("axis", 1))
                    .node("MatMul", "x v", "y")
                    .output("y");
        }));
        cases.add(new Case("codes that are moved", 13, 0, 0, b -> {
            grids(fed(b, "x", 1, 2, 4, 4)).list("shape", 4, 8);
            zero(b, "xz2", DataType.UINT8, ZERO).scalar("xs2", STEP);
            b.node("QuantizeLinear", "x xs xz", "q")
                    .node("MaxPool", "q", "p", longs("kernel_shape", 1L, 1L))
                    .node("Reshape", "p shape", "r")
                    .node("Concat", "r r", "c", whole("axis", 0))
                    .node("Transpose", "c", "t", longs("perm", 1L, 0L))
                    .node("DequantizeLinear", "t xs2 xz2", "y")
                    .output("y");
        }));
        cases.add(new Case("what goes in and comes out is codes", 13, 1, 1, b -> {
            b.typed("x", DataType.UINT8, 256, 2, 4);
            codes(grids(b), "w", DataType.UINT8, 4, 3);
            b.node("DequantizeLinear", "x xs xz", "f")
                    .node("DequantizeLinear", "w ws wz", "v")
                    .node("MatMul", "f v", "m")
                    .node("QuantizeLinear", "m ys yz", "y")
                    .output("y");
        }));
        cases.add(new Case("codes that an operator needs as they are", 13, 0, 0, b -> {
            grids(fed(b, "x", 2, 4));
            b.node("QuantizeLinear", "x xs xz", "q")
                    .node("Cast", "q", "y", whole("to", 6))
                    .node("DynamicQuantizeLinear", "x", "d ds dz")
                    .node("Cast", "d", "e", whole("to", 6))
                    .node("Cast", "dz", "f", whole("to", 6))
                    .node("Neg", "ds", "g")
                    .output("y", "e", "f", "g");
        }));
        cases.add(new Case("rows of a table of codes", 11, 0, 1, b -> {
            b.typed("x", DataType.INT64, 7, 2, 3);
            codes(grids(b), "w", DataType.UINT8, 7, 4);
            b.node("Gather", "w x", "q")
                    .node("DequantizeLinear", "q ws wz", "y")
                    .output("y");
        }));
        cases.add(new Case("the same in ONNX Runtime's domain", 13, 0, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            contributed(b, "QuantizeLinear", "x xs xz", "q");
            contributed(b, "DequantizeLinear", "q xs xz", "r");
            contributed(b, "DequantizeLinear", "w ws wz", "v");
            b.node("MatMul", "r v", "y").output("y");
        }));
    }

    private static void integers(List<Case> cases) {
        cases.add(new Case("a product of codes", 11, 0, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3).weight("b", 3);
            b.node("DynamicQuantizeLinear", "x", "q qs qz")
                    .node("MatMulInteger", "q w qz wz", "m")
                    .node("Cast", "m", "f", whole("to", 1))
                    .node("Mul", "qs ws", "s")
                    .node("Mul", "f s", "p")
                    .node("Add", "p b", "y")
                    .output("y");
        }));
        cases.add(new Case("one scale a column", 11, 0, 2, b -> {
            codes(scales(fed(b, "x", 2, 4), "s", 3), "w", DataType.INT8, 4, 3);
            codes(scales(b, "s2", 3), "w2", DataType.INT8, 4, 3);
            b.node("Mul", "qs s", "m1")
                    .node("Mul", "s2 qs", "m2")
                    .node("DynamicQuantizeLinear", "x", "q qs qz")
                    .node("MatMulInteger", "q w qz", "i1")
                    .node("MatMulInteger", "q w2 qz", "i2")
                    .node("Cast", "i1", "f1", whole("to", 1))
                    .node("Cast", "i2", "f2", whole("to", 1))
                    .node("Mul", "f1 m1", "y1")
                    .node("Mul", "m2 f2", "y2")
                    .output("y1", "y2");
        }));
        cases.add(new Case("of two tensors that flow", 11, 0, 0, b -> {
            fed(fed(b, "x", 2, 4), "z", 4, 3);
            b.node("DynamicQuantizeLinear", "x", "q qs qz")
                    .node("DynamicQuantizeLinear", "z", "p ps pz")
                    .node("MatMulInteger", "q p qz pz", "m")
                    .node("Cast", "m", "f", whole("to", 1))
                    .node("Mul", "qs ps", "s")
                    .node("Mul", "f s", "y")
                    .output("y");
        }));
        cases.add(new Case("whose scales are not multiplied", 11, 0, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            b.node("DynamicQuantizeLinear", "x", "q qs qz")
                    .node("MatMulInteger", "q w qz wz", "m")
                    .node("Cast", "m", "f", whole("to", 1))
                    .output("f", "m");
        }));
        cases.add(new Case("a convolution of codes, with a bias of codes", 11, STEP, 1, b -> {
            codes(grids(fed(b, "x", 1, 2, 4, 4)), "w", DataType.UINT8, 3, 2, 3, 3)
                    .weight("b", 3);
            b.list("shape", 1, -1, 1, 1);
            b.node("DynamicQuantizeLinear", "x", "q qs qz")
                    .node("Mul", "qs ws", "bs")
                    .node("Div", "b bs", "bq")
                    .node("Floor", "bq", "br")
                    .node("Cast", "br", "bi", whole("to", 6))
                    .node("ConvInteger", "q w qz wz", "m", longs("pads", 1L, 1L, 1L, 1L))
                    .node("Reshape", "bi shape", "bb")
                    .node("Add", "m bb", "a")
                    .node("Cast", "a", "f", whole("to", 1))
                    .node("Mul", "qs ws", "s")
                    .node("Mul", "f s", "y")
                    .output("y");
        }));
    }

    private static void linear(List<Case> cases) {
        cases.add(new Case("QLinearConv", 10, OUT, 2, b -> {
            codes(grids(fed(b, "x", 1, 2, 4, 4)), "w", DataType.INT8, 3, 2, 3, 3);
            scales(b, "s", 3).initializer("z", Tensor.computeLongs(DataType.INT8, new long[] {3}, i -> 0));
            whole32(b, "b", 3);
            b.node("QuantizeLinear", "x xs xz", "q")
                    .node("QLinearConv", "q xs xz w s z ys yz b", "r", longs("strides", 2L, 2L))
                    .node("DequantizeLinear", "r ys yz", "y")
                    .output("y");
        }));
        cases.add(new Case("QLinearMatMul", 10, OUT, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            b.node("QuantizeLinear", "x xs xz", "q")
                    .node("QLinearMatMul", "q xs xz w ws wz ys yz", "r")
                    .node("DequantizeLinear", "r ys yz", "y")
                    .output("y");
        }));
        cases.add(new Case("com.microsoft's QLinearConv", 13, OUT, 1, b -> {
            codes(grids(fed(b, "x", 1, 2, 4, 4)), "w", DataType.UINT8, 3, 2, 1, 1);
            b.node("QuantizeLinear", "x xs xz", "q");
            contributed(b, "QLinearConv", "q xs xz w ws wz ys yz", "r");
            b.node("DequantizeLinear", "r ys yz", "y").output("y");
        }));
        for (String operator : List.of("QLinearAdd", "QLinearMul")) {
            cases.add(new Case(operator, 13, STEP, 0, b -> {
                grids(fed(fed(b, "x", 2, 4), "u", 2, 4));
                b.node("QuantizeLinear", "x xs xz", "q").node("QuantizeLinear", "u xs xz", "p");
                contributed(b, operator, "q xs xz p xs xz xs xz", "r");
                b.node("DequantizeLinear", "r xs xz", "y").output("y");
            }));
        }
        unary(cases, "QLinearLeakyRelu", number("alpha", 0.25f));
        unary(cases, "QLinearSigmoid");
        unary(cases, "QLinearSoftmax", whole("axis", -1), whole("opset", 13));
        unary(cases, "QLinearAveragePool", longs("kernel_shape", 2L, 2L), text("auto_pad", "NOTSET"));
        unary(cases, "QLinearGlobalAveragePool", whole("channels_last", 0));
        cases.add(new Case("QLinearConcat", 13, STEP, 0, b -> {
            grids(fed(fed(b, "x", 2, 4), "u", 2, 4));
            b.node("QuantizeLinear", "x xs xz", "q").node("QuantizeLinear", "u ys yz", "p");
            contributed(b, "QLinearConcat", "xs xz q xs xz p ys yz", "r", whole("axis", 1));
            b.node("DequantizeLinear", "r xs xz", "y").output("y");
            // Nothing may be rounded on the way in.
            b.feeds.put("u", Tensor.compute(DataType.FLOAT32, new long[] {2, 4}, i -> OUT * (i % 5 - 2)));
        }));
    }

    private static void unary(List<Case> cases, String operator, AttributeProto... attributes) {
        cases.add(new Case(operator, 13, 2 * STEP, 0, b -> {
            grids(fed(b, "x", 1, 2, 4, 4));
            b.node("QuantizeLinear", "x xs xz", "q");
            contributed(b, operator, "q xs xz xs xz", "r", attributes);
            b.node("DequantizeLinear", "r xs xz", "y").output("y");
        }));
    }

    private static void fused(List<Case> cases) {
        cases.add(new Case("QGemm", 13, OUT, 2, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 3, 4);
            whole32(b, "b", 3);
            b.node("QuantizeLinear", "x xs xz", "q");
            contributed(b, "QGemm", "q xs xz w ws wz b ys yz", "r", whole("transB", 1), number("alpha", 0.5f));
            b.node("DequantizeLinear", "r ys yz", "y").output("y");
        }));
        cases.add(new Case("QGemm to fractions", 13, 0, 1, b -> {
            codes(grids(fed(b, "x", 2, 4)), "w", DataType.UINT8, 4, 3);
            b.node("QuantizeLinear", "x xs xz", "q");
            contributed(b, "QGemm", "q xs xz w ws wz", "y").output("y");
        }));
        cases.add(new Case("MatMulIntegerToFloat", 13, 0, 1, b -> {
            codes(scales(fed(b, "x", 2, 4), "s", 3), "w", DataType.INT8, 4, 3).weight("b", 3);
            b.node("DynamicQuantizeLinear", "x", "q qs qz");
            contributed(b, "MatMulIntegerToFloat", "q w qs s qz - b", "y").output("y");
        }));
        cases.add(new Case("DynamicQuantizeMatMul", 13, 0, 1, b -> {
            codes(scales(fed(b, "x", 2, 4), "s", 3), "w", DataType.INT8, 4, 3).weight("b", 3);
            contributed(b, "DynamicQuantizeMatMul", "x w s - b", "y").output("y");
        }));
        cases.add(new Case("QAttention", 13, 0, 1, b -> {
            // What is masked and what is rounded do not change which key a query chooses here.
            codes(grids(fed(b, "x", 1, 3, 4)), "w", DataType.UINT8, 4, 12).weight("b", 12);
            b.initializer("m", Tensor.of(new long[] {2}).cast(DataType.INT32));
            b.node("QuantizeLinear", "x xs xz", "q");
            contributed(b, "QAttention", "q w b xs ws m xz wz", "y", whole("num_heads", 2))
                    .output("y");
        }));
        cases.add(new Case("QEmbedLayerNormalization", 13, 0, 5, b -> {
            b.typed("x", DataType.INT32, 7, 2, 3).typed("t", DataType.INT32, 2, 2, 3);
            codes(
                    codes(codes(grids(b), "w", DataType.UINT8, 7, 4), "p", DataType.UINT8, 9, 4),
                    "s",
                    DataType.UINT8,
                    2,
                    4);
            codes(codes(b, "g", DataType.UINT8, 4), "h", DataType.UINT8, 4);
            contributed(
                            b,
                            "QEmbedLayerNormalization",
                            "x t w p s g h - ws ws ws ws ws wz wz wz wz wz",
                            "y l",
                            number("epsilon", 1e-3f))
                    .output("y");
        }));
        for (int bits : new int[] {4, 8}) {
            for (boolean zeros : new boolean[] {false, true}) {
                cases.add(new Case("MatMulNBits, " + bits + ", zero points: " + zeros, 13, 0, 1, b -> {
                    fed(b, "x", 2, 40).weight("b", 3);
                    b.initializer(
                            "w_Q" + bits,
                            Tensor.computeLongs(
                                    DataType.UINT8, new long[] {3, 2, 32 * bits / 8}, i -> (i * 37 + 11) % 256));
                    b.initializer("s", Tensor.compute(DataType.FLOAT32, new long[] {6}, i -> STEP * (1 + i)));
                    b.initializer(
                            "z",
                            Tensor.computeLongs(DataType.UINT8, new long[] {3L * bits / 4}, i -> (i * 91 + 7) % 256));
                    contributed(
                                    b,
                                    "MatMulNBits",
                                    "x w_Q" + bits + " s " + (zeros ? "z" : "-") + " - b",
                                    "y",
                                    whole("K", 40),
                                    whole("N", 3),
                                    whole("bits", bits),
                                    whole("block_size", 32))
                            .output("y");
                }));
            }
        }
        for (boolean gates : new boolean[] {false, true}) {
            // States are rounded in every step there, and are not here.
            cases.add(new Case("DynamicQuantizeLSTM, a scale a gate: " + gates, 13, 0.05, 2, b -> {
                codes(fed(b, "x", 3, 1, 4), "w", DataType.INT8, 2, 4, 8);
                codes(b, "r", DataType.INT8, 2, 2, 8).weight("b", 2, 16);
                long[] shape = gates ? new long[] {2, 8} : new long[] {2};
                b.initializer("s", Tensor.compute(DataType.FLOAT32, shape, i -> (1 + i % 3) / 1024.0));
                b.initializer("z", Tensor.computeLongs(DataType.INT8, shape, i -> 0));
                contributed(
                        b,
                        "DynamicQuantizeLSTM",
                        "x w r b - - - - s z s z",
                        "y h c",
                        text("direction", "bidirectional"),
                        whole("hidden_size", 2));
                b.output("y", "h", "c");
            }));
        }
    }

    /** Quantisers leave out a Relu in front of codes that start at zero. */
    @Test
    void saturationIsKept() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(13).input("x", 2, 4);
        zero(builder, "z", DataType.UINT8, 0).scalar("s", 1.0 / 128);
        builder.node("QuantizeLinear", "x s z", "q")
                .node("DequantizeLinear", "q s z", "y")
                .output("y");
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        assertEquals(new Clip(0, 255.0 / 128), graph.nodes().getFirst().operator());
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds),
                List.copyOf(Evaluator.run(graph, builder.feeds).values()),
                0.5001 / 128);
    }

    /** Nothing of scales and codes is left where they cancel out, and weights have their names and scales. */
    @Test
    void whatIsReadIsTheModelThatWasQuantised() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(11);
        codes(grids(fed(builder, "x", 1, 2, 4, 4)), "w_quantized", DataType.UINT8, 3, 2, 3, 3);
        codes(builder, "u_quantized", DataType.UINT8, 4, 3).scalar("vs", WEIGHT_STEP);
        builder.node("DynamicQuantizeLinear", "x", "q qs qz")
                .node("ConvInteger", "q w_quantized qz wz", "m", longs("pads", 1L, 1L, 1L, 1L))
                .node("Cast", "m", "f", whole("to", 1))
                .node("Mul", "qs ws", "s")
                .node("Mul", "f s", "y")
                .node("DynamicQuantizeLinear", "y", "p ps pz")
                .node("MatMulInteger", "p u_quantized pz wz", "n")
                .node("Cast", "n", "g", whole("to", 1))
                .node("Mul", "ps vs", "t")
                .node("Mul", "g t", "l")
                .node("Relu", "l", "v")
                .output("v");
        OnnxModel model = OnnxReader.read(builder.bytes());
        assertEquals(
                List.of(Conv.class, MatMul.class, Unary.class),
                model.graph().nodes().stream()
                        .map(node -> node.operator().getClass())
                        .toList());
        assertEquals(Set.of("w", "u"), model.graph().tensors(Kind.PARAMETER).keySet());
        assertEquals(
                WEIGHT_STEP * (new Random("u_quantized".hashCode()).nextInt(128) - 60),
                Checks.contents(model.graph(), "u").getDouble(0));
        assertEquals(new Dequantization(2, 2), model.dequantization());
        assertTrue(
                model.dequantization().note().startsWith("int8 model, read as float32: 2 weights; outputs may differ"));
    }
}
