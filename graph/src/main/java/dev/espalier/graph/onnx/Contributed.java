package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.type.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operators of fractions that ONNX Runtime's optimizer joins others to, read as those others again. */
final class Contributed {
    /** What ONNX Runtime adds to squares and variances if a file does not say. */
    private static final double EPSILON = 1e-12;

    private static final Map<String, OperatorTable.Expansion> EXPANSIONS = Map.ofEntries(
            Map.entry("Attention", AttentionExpansions::joined),
            Map.entry("BiasGelu", (node, steps) -> gelu(steps, "none")),
            Map.entry("EmbedLayerNormalization", Contributed::embeddings),
            Map.entry("FastGelu", (node, steps) -> gelu(steps, "tanh")),
            Map.entry("FusedConv", Contributed::conv),
            Map.entry("FusedGemm", Contributed::gemm),
            Map.entry("FusedMatMul", Contributed::matMul),
            Map.entry("Gelu", (node, steps) -> gelu(steps, "none")),
            Map.entry("MultiHeadAttention", AttentionExpansions::multiHead),
            Map.entry("QuickGelu", Contributed::quickGelu),
            Map.entry("RotaryEmbedding", AttentionExpansions::contributedRotary),
            Map.entry("SkipLayerNormalization", (node, steps) -> skip(node, steps, 4, true)),
            Map.entry("SkipSimplifiedLayerNormalization", (node, steps) -> skip(node, steps, 3, false)),
            Map.entry("TransposeMatMul", Contributed::matMul));

    private Contributed() {}

    /** What to put in place of a node; null if it is none of these. */
    static OperatorTable.@Nullable Expansion find(NodeProto node) {
        return Functions.domain(node.getDomain()).equals(Functions.MICROSOFT) ? EXPANSIONS.get(node.getOpType()) : null;
    }

    static Set<String> names() {
        return EXPANSIONS.keySet();
    }

    private static void gelu(Steps steps, String approximate) {
        String x = steps.input(0);
        String sum = steps.input(1).isEmpty() ? x : steps.step("Add", x, steps.input(1));
        steps.add(NodeProto.newBuilder()
                .setOpType("Gelu")
                .addInput(sum)
                .addAttribute(Expansions.text("approximate", approximate)));
        steps.finish();
    }

    /** {@code x · sigmoid(alpha · x)}. */
    private static void quickGelu(NodeReading node, Steps steps) {
        String scaled = steps.step("Mul", steps.input(0), steps.number(node.number("alpha", 1.702f), node.data(0)));
        steps.step("Mul", steps.input(0), steps.step("Sigmoid", scaled));
        steps.finish();
    }

    /** {@code alpha · A · B}, either with its last two axes exchanged. */
    private static void matMul(NodeReading node, Steps steps) {
        node.require(
                !node.flag("transBatchA", false) && !node.flag("transBatchB", false),
                "transBatchA and transBatchB must be 0");
        String product = steps.step("MatMul", turned(node, steps, 0, "transA"), turned(node, steps, 1, "transB"));
        steps.output(0, scaled(node, steps, product));
    }

    private static String scaled(NodeReading node, Steps steps, String product) {
        double alpha = node.number("alpha", 1);
        return alpha == 1 ? product : steps.step("Mul", product, steps.number(alpha, node.data(0)));
    }

    private static String turned(NodeReading node, Steps steps, int index, String key) {
        int rank = node.shape(index).rank();
        if (!node.flag(key, false) || rank < 2) {
            return steps.input(index);
        }
        long[] permutation = new long[rank];
        for (int axis = 0; axis < rank; axis++) {
            permutation[axis] = axis;
        }
        permutation[rank - 2] = rank - 1L;
        permutation[rank - 1] = rank - 2L;
        return steps.transposed(steps.input(index), permutation);
    }

    private static void gemm(NodeReading node, Steps steps) {
        String sum = steps.add(steps.copy()
                .clearDomain()
                .setOpType("Gemm")
                .clearOutput()
                .clearAttribute()
                .addAllAttribute(steps.attributes("alpha", "beta", "transA", "transB")));
        List<Float> parameters =
                List.of((float) node.number("activation_alpha", 0), (float) node.number("activation_beta", 0), (float)
                        node.number("activation_gamma", 0));
        steps.output(0, activated(node, steps, sum, parameters));
    }

    /** A convolution, to which a tensor is added before its activation. */
    private static void conv(NodeReading node, Steps steps) {
        NodeProto.Builder conv = NodeProto.newBuilder()
                .setOpType("Conv")
                .addInput(steps.input(0))
                .addInput(steps.input(1));
        if (!steps.input(2).isEmpty()) {
            conv.addInput(steps.input(2));
        }
        String sum = steps.add(conv.addAllAttribute(
                steps.attributes("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")));
        String added = steps.input(3).isEmpty() ? sum : steps.step("Add", sum, steps.input(3));
        steps.output(0, activated(node, steps, added, node.numbers("activation_params")));
    }

    private static String activated(NodeReading node, Steps steps, String x, List<Float> parameters) {
        String function = node.text("activation", "");
        NodeProto.Builder step = NodeProto.newBuilder().setOpType(function).addInput(x);
        return switch (function) {
            case "" -> x;
            case "Relu", "Tanh", "Sigmoid" -> steps.add(step);
            case "LeakyRelu" -> steps.add(step.addAttribute(Steps.number("alpha", parameters.get(0))));
            case "HardSigmoid" ->
                steps.add(step.addAttribute(Steps.number("alpha", parameters.get(0)))
                        .addAttribute(Steps.number("beta", parameters.get(1))));
            case "Clip" ->
                steps.step(
                        "Clip",
                        x,
                        steps.number(parameters.get(0), node.data(0)),
                        steps.number(parameters.get(1), node.data(0)));
            default -> throw node.problem("activation " + function + " is not supported");
        };
    }

    /** A sum that is normalised, and wanted itself now and then. */
    private static void skip(NodeReading node, Steps steps, int bias, boolean centred) {
        requireOutputs(node, 0, 3);
        String skipped = steps.step("Add", steps.input(0), steps.input(1));
        String sum = steps.input(bias).isEmpty() ? skipped : steps.step("Add", skipped, steps.input(bias));
        double epsilon = node.number("epsilon", EPSILON);
        String normal = centred
                ? layerNorm(steps, epsilon, sum, steps.input(2), steps.input(3))
                : NormExpansions.rootMeanSquare(
                        steps,
                        sum,
                        steps.input(2),
                        epsilon,
                        node.data(0),
                        node.shape(0).rank() - 1L);
        steps.output(0, normal);
        steps.output(3, sum);
    }

    /** Means and deviations that training wants are not made. */
    private static void requireOutputs(NodeReading node, int... made) {
        for (int i = 0; i < node.outputs(); i++) {
            int index = i;
            node.require(
                    !node.isMade(i) || Arrays.stream(made).anyMatch(one -> one == index),
                    "its output " + i + " is not supported");
        }
    }

    private static String layerNorm(Steps steps, double epsilon, String x, String scale, String shift) {
        NodeProto.Builder norm = NodeProto.newBuilder()
                .setOpType("LayerNormalization")
                .addInput(x)
                .addInput(scale);
        if (!shift.isEmpty()) {
            norm.addInput(shift);
        }
        return steps.add(norm.addAttribute(Steps.whole("axis", -1)).addAttribute(Steps.number("epsilon", epsilon)));
    }

    /** What a text model begins with: words, places and segments, looked up, added and normalised. */
    private static void embeddings(NodeReading node, Steps steps) {
        String words = steps.along("Gather", 0, steps.input(2), steps.input(0));
        String places = steps.input(8);
        if (places.isEmpty()) {
            String count = steps.along("Gather", 0, steps.step("Shape", steps.input(0)), steps.constant(1));
            places = steps.step("Range", steps.constant(0), count, steps.constant(1));
        }
        String sum = steps.step("Add", words, steps.along("Gather", 0, steps.input(3), places));
        if (!steps.input(1).isEmpty()) {
            sum = steps.step("Add", sum, steps.along("Gather", 0, steps.input(4), steps.input(1)));
        }
        steps.output(0, layerNorm(steps, node.number("epsilon", EPSILON), sum, steps.input(5), steps.input(6)));
        if (node.isMade(1)) {
            steps.output(1, lengths(steps));
        }
        steps.output(2, sum);
    }

    /** How many words of each text are there. */
    private static String lengths(Steps steps) {
        String one = steps.number(1, DataType.INT32);
        if (steps.input(7).isEmpty()) {
            String first = steps.along("Gather", 1, steps.cast(steps.input(0), DataType.INT32), steps.constant(0));
            return steps.step("Mul", first, steps.number(0, DataType.INT32));
        }
        String there = steps.step("Equal", steps.cast(steps.input(7), DataType.INT32), one);
        AttributeProto whole = Steps.whole("keepdims", 0);
        return steps.add(NodeProto.newBuilder()
                .setOpType("ReduceSum")
                .addInput(steps.cast(there, DataType.INT32))
                .addInput(steps.list(1))
                .addAttribute(whole));
    }
}
