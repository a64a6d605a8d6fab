package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.numbers;
import static dev.espalier.graph.onnx.OnnxBuilder.text;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Operators that ONNX Runtime's optimizer joins others to compute what those compute. */
final class ContributedTest {
    private record Case(String name, Consumer<OnnxBuilder> body) {
        OnnxBuilder build() {
            OnnxBuilder builder = new OnnxBuilder(17);
            builder.model.addOpsetImport(OperatorSetIdProto.newBuilder()
                    .setDomain(Functions.MICROSOFT)
                    .setVersion(1));
            body.accept(builder);
            return builder;
        }
    }

    @TestFactory
    Stream<DynamicTest> computesTheSame() {
        return cases().stream()
                .map(one -> DynamicTest.dynamicTest(one.name(), () -> {
                    OnnxBuilder builder = one.build();
                    assertEquals(
                            new TreeMap<>(),
                            OnnxReader.read(builder.bytes()).graph().foreign());
                    RoundTripTest.check(builder);
                }));
    }

    @Test
    void everyOperatorIsTried() {
        Set<String> missing = new TreeSet<>(Contributed.names());
        // The old name of FusedMatMul, which ONNX Runtime does not run any more.
        missing.remove("TransposeMatMul");
        for (Case one : cases()) {
            for (NodeProto node : one.build().proto().getGraph().getNodeList()) {
                missing.remove(node.getOpType());
            }
        }
        assertEquals(Set.of(), missing);
    }

    private static OnnxBuilder node(
            OnnxBuilder builder, String operator, String inputs, String outputs, AttributeProto... attributes) {
        builder.graph.addNode(
                OnnxBuilder.nodeProto(operator, inputs, outputs, attributes).setDomain(Functions.MICROSOFT));
        return builder.output(Stream.of(outputs.split(" ", -1))
                .filter(name -> !name.equals("-"))
                .toArray(String[]::new));
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        layers(cases);
        norms(cases);
        attention(cases);
        return cases;
    }

    private static void layers(List<Case> cases) {
        cases.add(new Case(
                "FusedMatMul",
                b -> node(
                        b.input("x", "N", 4, 3).weight("w", 5, 4),
                        "FusedMatMul",
                        "x w",
                        "y",
                        whole("transA", 1),
                        whole("transB", 1),
                        number("alpha", 0.5f))));
        for (String activation : List.of("Relu", "LeakyRelu", "Tanh")) {
            cases.add(new Case(
                    "FusedGemm, " + activation,
                    b -> node(
                            b.input("x", "N", 4).weight("w", 5, 4).weight("b", 5),
                            "FusedGemm",
                            "x w b",
                            "y",
                            whole("transB", 1),
                            number("alpha", 0.5f),
                            number("beta", -2f),
                            text("activation", activation),
                            number("activation_alpha", 0.2f))));
        }
        cases.add(new Case(
                "FusedConv, LeakyRelu",
                b -> node(
                        b.input("x", "N", 4, 5, 5).weight("w", 6, 4, 3, 3).weight("b", 6),
                        "FusedConv",
                        "x w b",
                        "y",
                        longs("pads", 1L, 1L, 1L, 1L),
                        longs("strides", 2L, 2L),
                        text("activation", "LeakyRelu"),
                        numbers("activation_params", 0.3f))));
        cases.add(new Case(
                "FusedConv, a tensor added, clipped",
                b -> node(
                        b.input("x", "N", 4, 5, 5).input("z", "N", 6, 5, 5).weight("w", 6, 2, 1, 1),
                        "FusedConv",
                        "x w - z",
                        "y",
                        whole("group", 2),
                        text("activation", "Clip"),
                        numbers("activation_params", -0.5f, 2f))));
        cases.add(new Case(
                "FusedConv, HardSigmoid",
                b -> node(
                        b.input("x", "N", 4, 5).weight("w", 6, 4, 1),
                        "FusedConv",
                        "x w",
                        "y",
                        text("activation", "HardSigmoid"),
                        numbers("activation_params", 0.25f, 0.4f))));
        cases.add(new Case("Gelu", b -> node(b.input("x", "N", 4), "Gelu", "x", "y")));
        cases.add(new Case("FastGelu", b -> node(b.input("x", "N", 4).weight("b", 4), "FastGelu", "x b", "y")));
        cases.add(new Case("FastGelu without bias", b -> node(b.input("x", "N", 4), "FastGelu", "x", "y")));
        cases.add(new Case("BiasGelu", b -> node(b.input("x", "N", 4).weight("b", 4), "BiasGelu", "x b", "y")));
        cases.add(new Case("QuickGelu", b -> node(b.input("x", "N", 4), "QuickGelu", "x", "y", number("alpha", 1.5f))));
    }

    private static void norms(List<Case> cases) {
        cases.add(new Case(
                "SkipLayerNormalization",
                b -> node(
                        b.input("x", "N", "S", 4)
                                .input("z", "N", "S", 4)
                                .weight("g", 4)
                                .weight("h", 4)
                                .weight("b", 4),
                        "SkipLayerNormalization",
                        "x z g h b",
                        "y - - s",
                        number("epsilon", 1e-3f))));
        cases.add(new Case(
                "SkipLayerNormalization, no bias",
                b -> node(
                        b.input("x", "N", "S", 4).input("z", "N", "S", 4).weight("g", 4),
                        "SkipLayerNormalization",
                        "x z g",
                        "y")));
        cases.add(new Case(
                "SkipSimplifiedLayerNormalization",
                b -> node(
                        b.input("x", "N", "S", 4)
                                .input("z", "N", "S", 4)
                                .weight("g", 4)
                                .weight("b", 4),
                        "SkipSimplifiedLayerNormalization",
                        "x z g b",
                        "y - - s",
                        number("epsilon", 1e-3f))));
        cases.add(new Case("EmbedLayerNormalization", b -> {
            b.typed("x", DataType.INT32, 7, "N", "S").typed("t", DataType.INT32, 2, "N", "S");
            b.typed("m", DataType.INT32, 2, "N", "S");
            b.weight("w", 7, 4)
                    .weight("p", 9, 4)
                    .weight("s", 2, 4)
                    .weight("g", 4)
                    .weight("h", 4);
            node(b, "EmbedLayerNormalization", "x t w p s g h m", "y l e", number("epsilon", 1e-3f));
        }));
        cases.add(new Case("EmbedLayerNormalization without segments", b -> {
            b.typed("x", DataType.INT32, 7, "N", "S").weight("w", 7, 4).weight("p", 9, 4);
            node(b.weight("g", 4).weight("h", 4), "EmbedLayerNormalization", "x - w p - g h", "y l");
        }));
    }

    /** One number for each sample: how many keys count. */
    private static OnnxBuilder lengths(OnnxBuilder builder) {
        builder.typed("m", DataType.INT32, 2, "N");
        builder.feeds.put("m", Tensor.of(new long[] {3, 5}).cast(DataType.INT32));
        return builder;
    }

    private static void attention(List<Case> cases) {
        cases.add(new Case(
                "Attention",
                b -> node(
                        b.input("x", "N", "S", 6).weight("w", 6, 12).weight("b", 12),
                        "Attention",
                        "x w b",
                        "y",
                        whole("num_heads", 2))));
        cases.add(new Case(
                "Attention, the first words count",
                b -> node(
                        lengths(b.input("x", "N", "S", 6).weight("w", 6, 12).weight("b", 12)),
                        "Attention",
                        "x w b m",
                        "y",
                        whole("num_heads", 2))));
        cases.add(new Case(
                "Attention, some words count, backwards only, other widths",
                b -> node(
                        b.input("x", "N", "S", 6)
                                .weight("w", 6, 14)
                                .weight("b", 14)
                                .typed("m", DataType.INT32, 2, "N", "S")
                                .input("z", "N", 2, "S", "S"),
                        "Attention",
                        "x w b m - z",
                        "y",
                        whole("num_heads", 2),
                        whole("unidirectional", 1),
                        longs("qkv_hidden_sizes", 4L, 4L, 6L),
                        number("scale", 0.7f))));
        cases.add(new Case(
                "MultiHeadAttention",
                b -> node(
                        b.input("q", "N", "S", 4).input("k", "N", 3, 4).input("v", "N", 3, 6),
                        "MultiHeadAttention",
                        "q k v",
                        "y",
                        whole("num_heads", 2))));
        cases.add(new Case(
                "MultiHeadAttention, biases and a mask",
                b -> node(
                        b.input("q", "N", "S", 4)
                                .input("k", "N", 3, 4)
                                .input("v", "N", 3, 4)
                                .weight("b", 12)
                                .typed("m", DataType.INT32, 2, "N", 3),
                        "MultiHeadAttention",
                        "q k v b m",
                        "y",
                        whole("num_heads", 2))));
        for (boolean pairs : new boolean[] {false, true}) {
            cases.add(new Case("RotaryEmbedding, pairs: " + pairs, b -> {
                rotations(b.input("x", "N", "S", 8).typed("p", DataType.INT64, 9, "N", "S"));
                node(b, "RotaryEmbedding", "x p c s", "y", whole("interleaved", pairs ? 1 : 0));
            }));
            cases.add(new Case("RotaryEmbedding of heads, pairs: " + pairs, b -> {
                rotations(b.input("x", "N", 2, "S", 4).typed("p", DataType.INT64, 9, "N", "S"));
                node(b, "RotaryEmbedding", "x p c s", "y", whole("interleaved", pairs ? 1 : 0));
            }));
        }
    }

    private static void rotations(OnnxBuilder builder) {
        Random random = new Random(1);
        builder.initializer("c", Tensor.compute(DataType.FLOAT32, new long[] {9, 2}, i -> random.nextGaussian()));
        builder.initializer("s", Tensor.compute(DataType.FLOAT32, new long[] {9, 2}, i -> random.nextGaussian()));
    }
}
