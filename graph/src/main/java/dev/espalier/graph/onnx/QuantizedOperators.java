package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.onnx.Quantized.Work;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The operators that make or read codes, each as the operator on fractions that it stands for. */
final class QuantizedOperators {
    /** Makes of a node what computes the same without codes. */
    @FunctionalInterface
    interface Rule {
        void read(Work work);
    }

    /** Of ONNX's own domain. */
    private static final Map<String, Rule> STANDARD = Map.of(
            "QuantizeLinear", QuantizedOperators::quantize,
            "DequantizeLinear", QuantizedOperators::dequantize,
            "DynamicQuantizeLinear", work -> work.dynamic(work.input(0)),
            "MatMulInteger", work -> work.product("MatMul", -1),
            "ConvInteger", work -> work.product("Conv", 0),
            "QLinearMatMul", QuantizedOperators::matMul,
            "QLinearConv", QuantizedOperators::conv);

    /** Of ONNX Runtime's. */
    private static final Map<String, Rule> CONTRIBUTED = Map.ofEntries(
            Map.entry("QuantizeLinear", QuantizedOperators::quantize),
            Map.entry("DequantizeLinear", QuantizedOperators::dequantize),
            Map.entry("QLinearConv", QuantizedOperators::conv),
            Map.entry("QLinearAdd", work -> binary(work, "Add")),
            Map.entry("QLinearMul", work -> binary(work, "Mul")),
            Map.entry("QLinearLeakyRelu", work -> unary(work, "LeakyRelu")),
            Map.entry("QLinearSigmoid", work -> unary(work, "Sigmoid")),
            Map.entry("QLinearSoftmax", work -> unary(work, "Softmax")),
            Map.entry("QLinearAveragePool", work -> unary(work, "AveragePool")),
            Map.entry("QLinearGlobalAveragePool", work -> unary(work, "GlobalAveragePool")),
            Map.entry("QLinearConcat", QuantizedOperators::concat),
            Map.entry("QGemm", QuantizedOperators::gemm),
            Map.entry("QAttention", QuantizedOperators::attention),
            Map.entry("QEmbedLayerNormalization", QuantizedOperators::embeddings),
            Map.entry("MatMulNBits", QuantizedOperators::matMulOfBits),
            Map.entry("MatMulIntegerToFloat", QuantizedOperators::matMulToFloat),
            Map.entry("DynamicQuantizeMatMul", QuantizedOperators::dynamicMatMul),
            Map.entry("DynamicQuantizeLSTM", QuantizedOperators::dynamicLstm));

    private QuantizedOperators() {}

    /** What a node is read by; null if it has nothing to do with codes. */
    static @Nullable Rule find(NodeProto node) {
        return switch (Functions.domain(node.getDomain())) {
            case "" -> STANDARD.get(node.getOpType());
            case Functions.MICROSOFT -> CONTRIBUTED.get(node.getOpType());
            default -> null;
        };
    }

    /** The names of ONNX's own domain. */
    static Set<String> names() {
        return STANDARD.keySet();
    }

    /** All names, each behind its domain and a colon. */
    static Set<String> allNames() {
        Set<String> names = new TreeSet<>();
        STANDARD.keySet().forEach(name -> names.add(":" + name));
        CONTRIBUTED.keySet().forEach(name -> names.add(Functions.MICROSOFT + ":" + name));
        return names;
    }

    /**
     * {@code scale · (code − zero)}: one scale for all, one for each place along an axis, or one for each of some places along it.
     */
    static Tensor dequantized(NodeReading node, Tensor codes, Tensor scale, Tensor zero, int axis, long block) {
        node.require(codes.type().isInteger(), "what is quantised must be whole numbers but is " + codes);
        node.require(scale.type().isFloat(), "the scale must be a fraction but is " + scale);
        Places places = Places.of(node, codes, scale, axis, block);
        node.require(
                zero.size() == 1 || zero.size() == scale.size(),
                "there are " + zero.size() + " zero points for " + scale.size() + " scales");
        return Tensor.compute(scale.type(), codes.shape(), i -> {
            long place = places.of(i);
            return scale.getDouble(scale.size() == 1 ? 0 : place)
                    * (codes.getLong(i) - zero.getLong(zero.size() == 1 ? 0 : place));
        });
    }

    /** {@code round(value / scale) + zero}, within what the type can hold. */
    private static Tensor quantized(
            NodeReading node, Tensor values, Tensor scale, @Nullable Tensor zero, DataType type, int axis, long block) {
        Places places = Places.of(node, values, scale, axis, block);
        return Tensor.computeLongs(type, values.shape(), i -> {
            long place = scale.size() == 1 ? 0 : places.of(i);
            long from = zero == null ? 0 : zero.getLong(zero.size() == 1 ? 0 : place);
            // The quotient is one of single precision in every runtime.
            long code = (long) Math.rint((float) values.getDouble(i) / (float) scale.getDouble(place)) + from;
            return Math.clamp(code, CodeSteps.least(type), CodeSteps.most(type));
        });
    }

    /** Which scale an element has. */
    private record Places(long inner, long length, long block, long blocks, boolean one) {

        static Places of(NodeReading node, Tensor tensor, Tensor scale, int axis, long block) {
            if (scale.size() == 1) {
                return new Places(1, 1, 1, 1, true);
            }
            node.require(
                    axis >= 0 && axis < tensor.rank(),
                    "axis " + axis + " is none of a tensor of rank " + tensor.rank());
            long[] shape = tensor.shape();
            long length = shape[axis];
            long size = Math.max(block, 1);
            long blocks = Math.ceilDiv(length, size);
            long inner = Tensor.size(Arrays.copyOfRange(shape, axis + 1, shape.length));
            long wanted = block == 0 ? length : tensor.size() / Math.max(length, 1) * blocks;
            node.require(
                    scale.size() == wanted,
                    "there are " + scale.size() + " scales, but there must be one or " + wanted + " for " + tensor);
            // Without blocks a scale is for a place along the axis, whatever is before and behind.
            return new Places(inner, length, size, block == 0 ? 0 : blocks, false);
        }

        long of(long element) {
            if (one) {
                return 0;
            }
            long place = element / inner % length / block;
            return blocks == 0 ? place : (element / inner / length * blocks + place) * inner + element % inner;
        }
    }

    private static void quantize(Work work) {
        NodeReading node = work.reading();
        DataType type = node.hasAttribute("output_dtype") && node.whole("output_dtype", 0) != 0
                ? node.type("output_dtype")
                : work.codeType(2);
        node.require(type.isInteger(), "codes of type " + type + " are not supported");
        String x = work.input(0);
        boolean zeroKnown = work.input(2).isEmpty() || work.isKnown(work.input(2));
        if (work.isKnown(x) && work.isKnown(work.input(1)) && zeroKnown) {
            Tensor values = work.contents(x);
            Tensor zero = work.input(2).isEmpty() ? null : work.contents(work.input(2));
            long block = node.whole("block_size", 0);
            Tensor scale = work.contents(work.input(1));
            int axis = scale.size() == 1 ? 0 : Shape.axis(node.whole("axis", 1), values.rank());
            work.constant(quantized(node, values, scale, zero, type, axis, block));
            return;
        }
        work.codes(x, 1, 2, type);
    }

    private static void dequantize(Work work) {
        NodeReading node = work.reading();
        int axis = (int) node.whole("axis", 1);
        work.fractions(work.value(work.input(0), work.input(1), work.input(2), axis, node.whole("block_size", 0)));
    }

    private static void matMul(Work work) {
        String product = work.steps().step("MatMul", work.value(0, 1, 2, 0), work.value(3, 4, 5, -1));
        work.codes(product, 6, 7, work.codeType(7));
    }

    private static void conv(Work work) {
        requireChannelsFirst(work);
        String x = work.value(0, 1, 2, 0);
        String weight = work.value(3, 4, 5, 0);
        String bias = work.input(8).isEmpty() ? "" : bias(work, 8, 1, 4);
        Steps steps = work.steps();
        String result = bias.isEmpty() ? steps.copied("Conv", x, weight) : steps.copied("Conv", x, weight, bias);
        work.codes(result, 6, 7, work.codeType(7));
    }

    private static void requireChannelsFirst(Work work) {
        work.reading().require(!work.reading().flag("channels_last", false), "channels_last 1 is not supported");
    }

    /** A bias has the product of the scales of what it is added to. */
    private static String bias(Work work, int bias, int left, int right) {
        Tensor first = work.contents(work.input(left));
        Tensor second = work.contents(work.input(right));
        Tensor scale = Tensor.compute(second.type(), second.shape(), i -> second.getDouble(i) * first.getDouble(0));
        return work.value(work.input(bias), work.constant("scale", scale), "", 0, 0);
    }

    private static void binary(Work work, String operator) {
        String result = work.steps().step(operator, work.value(0, 1, 2, 0), work.value(3, 4, 5, 0));
        work.codes(result, 6, 7, work.codeType(7));
    }

    private static void unary(Work work, String operator) {
        requireChannelsFirst(work);
        NodeReading node = work.reading();
        List<AttributeProto> kept = work.attributes("channels_last", "opset");
        long axis = node.whole("axis", -1);
        boolean last = axis == -1 || axis == node.shape(0).rank() - 1;
        node.require(
                !operator.equals("Softmax") || last || node.whole("opset", 13) >= 13,
                "axis " + axis + " of opset " + node.whole("opset", 13) + " is not supported");
        String result = work.steps()
                .add(NodeProto.newBuilder()
                        .setOpType(operator)
                        .addInput(work.value(0, 1, 2, 0))
                        .addAllAttribute(kept));
        work.codes(result, 3, 4, work.codeType(4));
    }

    private static void concat(Work work) {
        List<String> pieces = new ArrayList<>();
        for (int i = 2; i + 1 < work.inputs(); i += 3) {
            pieces.add(work.value(i, i + 1, i + 2, 0));
        }
        String joined = work.steps().copied("Concat", pieces.toArray(String[]::new));
        work.codes(joined, 0, 1, work.codeType(1));
    }

    private static void gemm(Work work) {
        NodeReading node = work.reading();
        String left = work.value(0, 1, 2, 0);
        String right = work.value(3, 4, 5, node.flag("transB", false) ? 0 : 1);
        // The bias is added as it is, and is not multiplied by alpha.
        String product = work.steps().copied("Gemm", left, right);
        String sum = work.input(6).isEmpty() ? product : work.steps().step("Add", product, gemmBias(work, node));
        if (work.input(7).isEmpty()) {
            work.fractions(sum);
        } else {
            work.codes(sum, 7, 8, work.codeType(8));
        }
    }

    private static String gemmBias(Work work, NodeReading node) {
        double alpha = node.number("alpha", 1);
        String bias = bias(work, 6, 1, 4);
        return alpha == 1 ? bias : work.steps().step("Mul", bias, work.steps().number(alpha, DataType.FLOAT32));
    }

    private static void matMulToFloat(Work work) {
        String product = work.steps().step("MatMul", work.value(0, 2, 4, 0), work.value(1, 3, 5, -1));
        work.fractions(work.input(6).isEmpty() ? product : work.steps().step("Add", product, work.input(6)));
    }

    private static void dynamicMatMul(Work work) {
        String weight = work.value(1, 2, 3, -1);
        work.unrounded(work.input(0));
        String product = work.steps().step("MatMul", work.input(0), weight);
        work.fractions(work.input(4).isEmpty() ? product : work.steps().step("Add", product, work.input(4)));
    }

    /** Matrices stand with the gates last here, and in front in an LSTM. */
    private static void dynamicLstm(Work work) {
        Steps steps = work.steps();
        String weight = steps.transposed(gates(work, 1, 8, 9), 0, 2, 1);
        String recurrence = steps.transposed(gates(work, 2, 10, 11), 0, 2, 1);
        work.unrounded(work.input(0));
        NodeProto.Builder lstm = steps.copy().setOpType("LSTM").clearDomain().clearInput();
        lstm.addInput(work.input(0)).addInput(weight).addInput(recurrence);
        for (int i = 3; i <= 7; i++) {
            lstm.addInput(work.input(i));
        }
        steps.last(lstm);
    }

    /** One scale for a direction, or one for each gate of it. */
    private static String gates(Work work, int codes, int scale, int zero) {
        Tensor scales = work.contents(work.input(scale));
        if (scales.rank() < 2) {
            return work.value(codes, scale, zero, 0);
        }
        Tensor matrices = work.contents(work.input(codes));
        return work.value(work.input(codes), work.input(scale), work.input(zero), 1, matrices.shape()[1]);
    }

    private static void attention(Work work) {
        work.reading().require(work.input(8).isEmpty(), "past keys and values are not supported");
        String x = work.value(0, 3, 6, 0);
        String weight = work.value(1, 4, 7, -1);
        work.steps()
                .last(work.steps()
                        .copy()
                        .setOpType("Attention")
                        .clearInput()
                        .addAllInput(List.of(x, weight, work.input(2), work.input(5))));
    }

    private static void embeddings(Work work) {
        NodeProto.Builder sum = work.steps()
                .copy()
                .setOpType("EmbedLayerNormalization")
                .clearInput()
                .addInput(work.input(0))
                .addInput(work.input(1));
        for (int i = 2; i <= 6; i++) {
            sum.addInput(work.input(i).isEmpty() ? "" : work.value(i, i + 6, i + 11, 0));
        }
        work.steps().last(sum.addInput(work.input(7)));
    }

    /** A matrix whose columns are stored one after the other, in blocks with a scale each, with several codes in a byte. */
    private static void matMulOfBits(Work work) {
        NodeReading node = work.reading();
        int bits = (int) node.whole("bits", 4);
        long rows = node.whole("K", 0);
        long columns = node.whole("N", 0);
        long block = node.whole("block_size", 0);
        node.require(bits == 2 || bits == 4 || bits == 8, "bits " + bits + " must be 2, 4 or 8");
        node.require(
                block >= 16 && rows >= 1 && columns >= 1,
                "block_size " + block + " must be at least 16, and K " + rows + " and N " + columns + " at least 1");
        node.require(work.input(4).isEmpty(), "g_idx is not supported");
        long blocks = Math.ceilDiv(rows, block);
        Tensor codes = work.contents(work.input(1));
        Tensor scales = work.contents(work.input(2));
        Tensor zeros = work.input(3).isEmpty() ? null : work.contents(work.input(3));
        long zeroBytes = Math.ceilDiv(blocks * bits, 8);
        node.require(
                codes.size() == columns * blocks * block * bits / 8 && scales.size() == columns * blocks,
                "codes " + codes + " and scales " + scales + " do not fit K, N and block_size");
        boolean whole = zeros != null && zeros.type().isInteger();
        node.require(
                zeros == null || zeros.size() == columns * (whole ? zeroBytes : blocks),
                "zero points " + zeros + " do not fit K, N and block_size");
        String weight = work.packed(
                1,
                2,
                3,
                bits,
                () -> Tensor.compute(scales.type(), new long[] {rows, columns}, i -> {
                    long row = i / columns;
                    long column = i % columns;
                    long place = column * blocks + row / block;
                    double zero = zeros == null
                            ? 1 << (bits - 1)
                            : whole ? bits(zeros, column * zeroBytes, row / block, bits) : zeros.getDouble(place);
                    return scales.getDouble(place) * (bits(codes, place * block * bits / 8, row % block, bits) - zero);
                }));
        String product = work.steps().step("MatMul", work.input(0), weight);
        work.fractions(work.input(5).isEmpty() ? product : work.steps().step("Add", product, work.input(5)));
    }

    /** One of the codes that begin at a byte, the first in its lowest bits. */
    private static long bits(Tensor bytes, long start, long index, int bits) {
        long in = bytes.getLong(start + index * bits / 8);
        return in >> (index * bits % 8) & ((1 << bits) - 1);
    }
}
