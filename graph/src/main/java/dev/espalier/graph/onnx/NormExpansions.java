package dev.espalier.graph.onnx;

import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.type.DataType;
import java.util.stream.LongStream;

/** Normalisations, read as the arithmetic that they are. */
final class NormExpansions {
    /** Since when scale and shift of a GroupNormalization are one for each channel; before, one for each group. */
    private static final int SCALES_OF_CHANNELS = 21;

    private NormExpansions() {}

    /** {@code (x − mean) / √(variance + epsilon) · scale + shift}, mean and variance over the axes behind the channels. */
    static void instance(NodeReading node, Steps steps) {
        int rank = node.shape(0).rank();
        node.require(rank > 2, "input of shape " + node.shape(0) + " has no axes behind the channels");
        String normal =
                normal(node, steps, steps.input(0), LongStream.range(2, rank).toArray());
        scaled(steps, normal, LongStream.range(1, rank - 1).toArray());
        steps.finish();
    }

    /** The same, mean and variance over the channels of a group and the axes behind. */
    static void group(NodeReading node, Steps steps) {
        int rank = node.shape(0).rank();
        long groups = node.whole("num_groups", 0);
        node.require(rank > 2, "input of shape " + node.shape(0) + " has no axes behind the channels");
        node.require(groups >= 1, "num_groups " + groups + " must be at least 1");
        String parts = steps.step("Reshape", steps.input(0), steps.list(0, groups, -1));
        String normal = normal(node, steps, parts, 2);
        String whole = steps.step("Shape", steps.input(0));
        if (node.opset() >= SCALES_OF_CHANNELS) {
            String channels = steps.step("Reshape", normal, whole);
            scaled(steps, channels, LongStream.range(1, rank - 1).toArray());
        } else {
            steps.step("Reshape", scaled(steps, normal, 1), whole);
        }
        steps.finish();
    }

    /** {@code x / √(mean of x² + epsilon) · scale}. */
    static void rootMeanSquare(NodeReading node, Steps steps) {
        long axis = node.shape(0).axis(node.whole("axis", -1));
        double epsilon = node.number("epsilon", 1e-5f);
        int rank = node.shape(0).rank();
        long[] axes = LongStream.range(axis, rank).toArray();
        steps.output(0, rootMeanSquare(steps, steps.input(0), steps.input(1), epsilon, node.data(0), axes));
    }

    /** The same of any tensor, over some axes. */
    static String rootMeanSquare(Steps steps, String x, String scale, double epsilon, DataType type, long... axes) {
        String squares = steps.mean(steps.step("Mul", x, x), axes);
        return steps.step("Mul", steps.step("Div", x, root(steps, squares, epsilon, type)), scale);
    }

    private static String normal(NodeReading node, Steps steps, String x, long... axes) {
        String centred = steps.step("Sub", x, steps.mean(x, axes));
        String variance = steps.mean(steps.step("Mul", centred, centred), axes);
        return steps.step("Div", centred, root(steps, variance, node.number("epsilon", 1e-5f), node.data(0)));
    }

    private static String root(Steps steps, String squares, double epsilon, DataType type) {
        return steps.step("Sqrt", steps.step("Add", squares, steps.number(epsilon, type)));
    }

    /** Scale and shift are one for each place along an axis, with axes behind it. */
    private static String scaled(Steps steps, String normal, long... added) {
        String behind = steps.list(added);
        String scaled = steps.step("Mul", normal, steps.step("Unsqueeze", steps.input(1), behind));
        return steps.step("Add", scaled, steps.step("Unsqueeze", steps.input(2), behind));
    }
}
