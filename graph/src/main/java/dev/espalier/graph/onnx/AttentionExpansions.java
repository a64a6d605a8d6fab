package dev.espalier.graph.onnx;

import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Attention as one operator, read as the products that it is made of. */
final class AttentionExpansions {
    /** What ONNX Runtime adds to the score of what is masked. */
    private static final double FILTER = -10000;

    /** The input of ONNX's own Attention that says which keys count. */
    private static final int MASK = 3;

    private AttentionExpansions() {}

    /** {@code [batch, words, heads · size]} as {@code [batch, heads, words, size]}. */
    private static String heads(Steps steps, String x, long heads, long size) {
        return steps.transposed(steps.step("Reshape", x, steps.list(0, 0, heads, size)), 0, 2, 1, 3);
    }

    /** The way back. */
    private static String joined(Steps steps, String x, long width) {
        return steps.step("Reshape", steps.transposed(x, 0, 2, 1, 3), steps.list(0, 0, width));
    }

    /** Softmax of scaled products of queries and keys, with what is added to these. */
    private static String attend(
            Steps steps, DataType type, double scale, String query, String key, String value, List<String> added) {
        String scores = steps.step("MatMul", query, steps.transposed(key, 0, 1, 3, 2));
        String scaled = steps.step("Mul", scores, steps.number(scale, type));
        for (String bias : added) {
            scaled = steps.step("Add", scaled, bias);
        }
        return steps.step("MatMul", steps.along("Softmax", -1, scaled), value);
    }

    private static double scale(NodeReading node, long size) {
        double given = node.number("scale", 0);
        return given == 0 ? 1 / Math.sqrt((double) size) : given;
    }

    private static long length(NodeReading node, int input, long axis) {
        Dimension length = node.shape(input).get(axis);
        node.require(length.isKnown(), "the length " + length + " of input " + input + " must be known");
        return length.value();
    }

    private static long heads(NodeReading node, String key, long width) {
        long heads = node.whole(key, 0);
        node.require(heads >= 1 && width % heads == 0, key + " " + heads + " must be a divisor of the width " + width);
        return heads;
    }

    /** Only what comes out first is made. */
    private static void requireOneOutput(NodeReading node) {
        for (int i = 1; i < node.outputs(); i++) {
            node.require(!node.isMade(i), "its output " + i + " is not supported");
        }
    }

    private static void requireAbsent(NodeReading node, int... inputs) {
        for (int input : inputs) {
            node.require(!node.has(input), "its input " + input + " is not supported");
        }
    }

    /** Zero where something counts, a number far below elsewhere. */
    private static String filter(Steps steps, String counts, DataType type, double below) {
        return steps.step("Where", counts, steps.number(0, type), steps.number(below, type));
    }

    /** The lowest number of a type, to which any score can be added. */
    private static double lowest(DataType type) {
        return switch (type) {
            case FLOAT16 -> -65504;
            case BFLOAT16 -> -0x1.fep127;
            default -> -Float.MAX_VALUE;
        };
    }

    /** What is added to the scores of ONNX's own Attention: zero or a number of the file's where a key counts, the lowest number elsewhere. */
    private static String standardMask(NodeReading node, Steps steps, String query, String key) {
        DataType type = node.data(0);
        boolean causal = node.flag("is_causal", false);
        if (!node.has(MASK)) {
            return causal ? filter(steps, causal(steps, query, key), type, lowest(type)) : "";
        }
        String mask = steps.input(MASK);
        if (node.data(MASK) == DataType.BOOL) {
            String counts = causal ? steps.step("And", causal(steps, query, key), mask) : mask;
            return filter(steps, counts, type, lowest(type));
        }
        String lowest = steps.number(lowest(type), type);
        // Not minus infinity, of which a softmax makes NaN.
        String finite = steps.step("Max", mask, lowest);
        return causal ? steps.step("Where", causal(steps, query, key), finite, lowest) : finite;
    }

    /** Whether each query has a key that counts, which is so without an input that says otherwise; as far as the file tells. */
    private static boolean everyQueryHasAKey(NodeReading node, DataType type) {
        Tensor mask = node.has(MASK) ? node.contents(MASK) : null;
        if (!node.has(MASK) || mask == null || node.flag("is_causal", false)) {
            return !node.has(MASK);
        }
        double masked = mask.type() == DataType.BOOL ? 0 : lowest(type);
        int keys = mask.rank() == 0 ? 1 : Math.toIntExact(Math.max(mask.shape()[mask.rank() - 1], 1));
        return LongStream.range(0, mask.size() / keys)
                .allMatch(row ->
                        LongStream.range(row * keys, (row + 1) * keys).anyMatch(i -> mask.getDouble(i) > masked));
    }

    /** A query of which no key counts gives zeros, in ONNX Runtime as here; a softmax alone would weigh all keys alike. */
    private static String zeroWithoutKeys(Steps steps, String result, String mask, DataType type) {
        String best = steps.reducedAlong("ReduceMax", mask, -1);
        String counts = steps.step("Greater", best, steps.number(lowest(type), type));
        return steps.step("Where", counts, result, steps.number(0, type));
    }

    /** Whether a key comes no later than a query. */
    private static String causal(Steps steps, String query, String key) {
        String rows = steps.step("Unsqueeze", places(steps, query), steps.list(1));
        return steps.step("LessOrEqual", places(steps, key), rows);
    }

    private static String places(Steps steps, String heads) {
        String count = steps.along("Gather", 0, steps.step("Shape", heads), steps.constant(2));
        return steps.step("Range", steps.constant(0), count, steps.constant(1));
    }

    /** Which keys count: an input that says so for each of them, or how many do of each sample. */
    private static String counted(NodeReading node, Steps steps, int input, String key) {
        Shape shape = node.shape(input);
        String mask = steps.cast(steps.input(input), DataType.INT64);
        String zero = steps.constant(0);
        switch (shape.rank()) {
            case 1 -> {
                node.require(
                        shape.get(0).equals(node.shape(0).get(0)),
                        "a mask of shape " + shape + " is not supported: there must be one number for each sample");
                return steps.step("Less", places(steps, key), steps.step("Unsqueeze", mask, steps.list(1, 2, 3)));
            }
            case 2 -> {
                return steps.step("Greater", steps.step("Unsqueeze", mask, steps.list(1, 2)), zero);
            }
            case 3 -> {
                return steps.step("Greater", steps.step("Unsqueeze", mask, steps.list(1)), zero);
            }
            default -> throw node.problem("a mask of shape " + shape + " is not supported");
        }
    }

    private static List<String> added(NodeReading node, Steps steps, int mask, int bias, String query, String key) {
        List<String> added = new ArrayList<>();
        double below = node.number("mask_filter_value", FILTER);
        if (node.has(mask)) {
            added.add(filter(steps, counted(node, steps, mask, key), node.data(0), below));
        }
        if (node.flag("unidirectional", false)) {
            added.add(filter(steps, causal(steps, query, key), node.data(0), lowest(node.data(0))));
        }
        if (node.has(bias)) {
            added.add(steps.input(bias));
        }
        return added;
    }

    /** ONNX Runtime's: one matrix makes queries, keys and values. */
    static void joined(NodeReading node, Steps steps) {
        requireOneOutput(node);
        requireAbsent(node, 4, 6);
        node.require(!node.flag("do_rotary", false), "do_rotary 1 is not supported");
        List<Long> widths = node.longs("qkv_hidden_sizes", List.of());
        if (widths.isEmpty()) {
            long third = length(node, 1, 1) / 3;
            widths = List.of(third, third, third);
        }
        long heads = heads(node, "num_heads", widths.get(0));
        String product = steps.step("MatMul", steps.input(0), steps.input(1));
        String sum = node.has(2) ? steps.step("Add", product, steps.input(2)) : product;
        List<String> parts = steps.split(sum, -1, widths);
        String query = heads(steps, parts.get(0), heads, widths.get(0) / heads);
        String key = heads(steps, parts.get(1), heads, widths.get(1) / heads);
        String value = heads(steps, parts.get(2), heads, widths.get(2) / heads);
        List<String> added = added(node, steps, 3, 5, query, key);
        String result = attend(steps, node.data(0), scale(node, widths.get(0) / heads), query, key, value, added);
        steps.output(0, joined(steps, result, widths.get(2)));
    }

    /** ONNX Runtime's: queries, keys and values are made already, but for their biases. */
    static void multiHead(NodeReading node, Steps steps) {
        requireOneOutput(node);
        requireAbsent(node, 6, 7, 8, 9);
        node.require(
                node.has(1)
                        && node.has(2)
                        && node.shape(1).rank() == 3
                        && node.shape(2).rank() == 3,
                "query, key and value must be tensors of their own with 3 axes");
        long width = length(node, 0, 2);
        long valueWidth = length(node, 2, 2);
        long heads = heads(node, "num_heads", width);
        List<String> made = List.of(steps.input(0), steps.input(1), steps.input(2));
        if (node.has(3)) {
            List<String> biases = steps.split(steps.input(3), 0, List.of(width, width, valueWidth));
            made = List.of(
                    steps.step("Add", made.get(0), biases.get(0)),
                    steps.step("Add", made.get(1), biases.get(1)),
                    steps.step("Add", made.get(2), biases.get(2)));
        }
        String query = heads(steps, made.get(0), heads, width / heads);
        String key = heads(steps, made.get(1), heads, width / heads);
        String value = heads(steps, made.get(2), heads, valueWidth / heads);
        List<String> added = added(node, steps, 4, 5, query, key);
        String result = attend(steps, node.data(0), scale(node, width / heads), query, key, value, added);
        steps.output(0, joined(steps, result, valueWidth));
    }

    /** ONNX's own, since version 23: heads stand as an axis or within the last one, and several queries may share a key. */
    static void standard(NodeReading node, Steps steps) {
        requireOneOutput(node);
        requireAbsent(node, 4, 5, 6);
        node.require(node.number("softcap", 0) == 0, "softcap is not supported");
        boolean apart = node.shape(0).rank() == 4;
        long heads = apart ? length(node, 0, 1) : heads(node, "q_num_heads", length(node, 0, 2));
        long keyHeads = apart ? length(node, 1, 1) : heads(node, "kv_num_heads", length(node, 1, 2));
        long size = apart ? length(node, 0, 3) : length(node, 0, 2) / heads;
        long valueSize = apart ? length(node, 2, 3) : length(node, 2, 2) / keyHeads;
        node.require(heads % keyHeads == 0, heads + " heads of queries cannot share " + keyHeads + " heads of keys");
        String query = apart ? steps.input(0) : heads(steps, steps.input(0), heads, size);
        String key = apart ? steps.input(1) : heads(steps, steps.input(1), keyHeads, size);
        String value = apart ? steps.input(2) : heads(steps, steps.input(2), keyHeads, valueSize);
        if (heads != keyHeads) {
            key = repeated(steps, key, keyHeads, heads, size);
            value = repeated(steps, value, keyHeads, heads, valueSize);
        }
        DataType type = node.data(0);
        String mask = standardMask(node, steps, query, key);
        List<String> added = mask.isEmpty() ? List.of() : List.of(mask);
        String result = attend(steps, type, scale(node, size), query, key, value, added);
        if (!everyQueryHasAKey(node, type)) {
            result = zeroWithoutKeys(steps, result, mask, type);
        }
        steps.output(0, apart ? result : joined(steps, result, heads * valueSize));
    }

    /** Every head as often as queries share it, one after the other. */
    private static String repeated(Steps steps, String x, long from, long to, long size) {
        String apart = steps.step("Unsqueeze", x, steps.list(2));
        String more = steps.step("Expand", apart, steps.list(1, 1, to / from, 1, 1));
        return steps.step("Reshape", more, steps.list(0, to, -1, size));
    }

    /** ONNX's own turning of pairs by angles that grow along the text. */
    static void rotary(NodeReading node, Steps steps) {
        String cosine = steps.input(1);
        String sine = steps.input(2);
        if (node.has(3)) {
            cosine = steps.along("Gather", 0, cosine, steps.input(3));
            sine = steps.along("Gather", 0, sine, steps.input(3));
        }
        rotary(node, steps, node.shape(1), cosine, sine);
    }

    /** ONNX Runtime's. */
    static void contributedRotary(NodeReading node, Steps steps) {
        node.require(
                node.shape(1).rank() == 2, "positions of shape " + node.shape(1) + " must be given for every word");
        node.require(
                node.number("scale", 1) == 1 && !node.flag("is_packed_batching", false),
                "neither scale nor is_packed_batching is supported");
        String cosine = steps.along("Gather", 0, steps.input(2), steps.input(1));
        String sine = steps.along("Gather", 0, steps.input(3), steps.input(1));
        rotary(node, steps, node.shape(2), cosine, sine);
    }

    private static void rotary(NodeReading node, Steps steps, Shape table, String cosine, String sine) {
        Dimension half = table.get(-1);
        node.require(half.isKnown(), "the length " + half + " of the angles must be known");
        long turned = 2 * half.value();
        boolean apart = node.shape(0).rank() == 4;
        long width = apart ? 0 : length(node, 0, 2);
        // Heads are as wide as what is turned, unless a file says how many there are.
        long heads = apart ? 1 : Math.max(node.whole("num_heads", 0), 0);
        long count = heads == 0 ? width / turned : heads;
        long size = apart ? length(node, 0, 3) : width / Math.max(count, 1);
        node.require(turned <= size, turned + " numbers of " + size + " cannot be turned");
        String x = apart ? steps.input(0) : heads(steps, steps.input(0), count, size);
        String rest = turned == size ? "" : steps.slice(x, 3, turned, size, 1);
        boolean pairs = node.flag("interleaved", false);
        String left = pairs ? steps.slice(x, 3, 0, turned, 2) : steps.slice(x, 3, 0, half.value(), 1);
        String right = pairs ? steps.slice(x, 3, 1, turned, 2) : steps.slice(x, 3, half.value(), turned, 1);
        String cos = steps.step("Unsqueeze", cosine, steps.list(1));
        String sin = steps.step("Unsqueeze", sine, steps.list(1));
        String first = steps.step("Sub", steps.step("Mul", cos, left), steps.step("Mul", sin, right));
        String second = steps.step("Add", steps.step("Mul", sin, left), steps.step("Mul", cos, right));
        String result = pairs ? woven(steps, first, second, turned) : steps.along("Concat", -1, first, second);
        String whole = rest.isEmpty() ? result : steps.along("Concat", -1, result, rest);
        steps.output(0, apart ? whole : joined(steps, whole, width));
    }

    /** Two tensors by turns along the last axis. */
    private static String woven(Steps steps, String first, String second, long width) {
        String last = steps.list(4);
        String both =
                steps.along("Concat", 4, steps.step("Unsqueeze", first, last), steps.step("Unsqueeze", second, last));
        return steps.step("Reshape", both, steps.list(0, 0, 0, width));
    }
}
