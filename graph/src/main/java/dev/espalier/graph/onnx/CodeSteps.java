package dev.espalier.graph.onnx;

import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.type.DataType;

/** Codes and their scales, computed as a file says, for the few who need them as they are. */
final class CodeSteps {
    private CodeSteps() {}

    /** A product multiplied by a scale, or divided by it, so many times; empty for one. */
    static String power(Steps steps, String product, String scale, int power) {
        String result = product.isEmpty() ? steps.number(1, DataType.FLOAT32) : product;
        for (int i = 0; i < Math.abs(power); i++) {
            result = steps.step(power > 0 ? "Mul" : "Div", result, scale);
        }
        return result;
    }

    /** The least number of a tensor, or zero, and the scale that follows. */
    record Range(String low, String scale) {}

    /** As DynamicQuantizeLinear has it: 255 steps from the least number to the largest, with zero among them. */
    static Range range(Steps steps, String input) {
        String zero = steps.number(0, DataType.FLOAT32);
        String low = steps.step("Min", steps.reduced("ReduceMin", input), zero);
        String high = steps.step("Max", steps.reduced("ReduceMax", input), zero);
        String scale = steps.step("Div", steps.step("Sub", high, low), steps.number(255, DataType.FLOAT32));
        String one = steps.number(1, DataType.FLOAT32);
        return new Range(low, steps.step("Where", steps.step("Equal", scale, zero), one, scale));
    }

    static String clip(Steps steps, String input, double low, double high) {
        return steps.step("Clip", input, steps.number(low, DataType.FLOAT32), steps.number(high, DataType.FLOAT32));
    }

    /** Codes as fractions that are whole. */
    static String codes(Steps steps, String value, String scale, String zero, DataType type) {
        String rounded = steps.step("Round", steps.step("Div", value, scale));
        String moved = zero.isEmpty() ? rounded : steps.step("Add", rounded, steps.cast(zero, DataType.FLOAT32));
        return clip(steps, moved, (double) least(type), (double) most(type));
    }

    /** The least code of a type. */
    static long least(DataType type) {
        return switch (type) {
            case INT8 -> Byte.MIN_VALUE;
            case INT16 -> Short.MIN_VALUE;
            case INT32 -> Integer.MIN_VALUE;
            default -> 0;
        };
    }

    /** The largest code of a type. */
    static long most(DataType type) {
        return switch (type) {
            case INT8 -> Byte.MAX_VALUE;
            case UINT8 -> 0xff;
            case INT16 -> Short.MAX_VALUE;
            case UINT16 -> 0xffff;
            default -> Integer.MAX_VALUE;
        };
    }
}
