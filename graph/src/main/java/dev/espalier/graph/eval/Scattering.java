package dev.espalier.graph.eval;

import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/** Elements put in the place of others. */
final class Scattering {
    private Scattering() {}

    static Tensor scatter(ScatterElements operator, Tensor input, Tensor indices, Tensor updates) {
        long[] lengths = input.shape();
        int along = Shape.axis(operator.axis(), lengths.length);
        for (int axis = 0; axis < lengths.length; axis++) {
            Operands.require(
                    axis == along || indices.shape()[axis] <= lengths[axis],
                    "indices %s reach beyond %s along axis %d".formatted(indices, input, axis));
        }
        long[] strides = Indices.strides(lengths);
        long step = strides[along];
        strides[along] = 0;
        LongUnaryOperator start = Indices.strided(indices.shape(), strides);
        LongUnaryOperator at = i -> start.applyAsLong(i) + Evaluator.inside(indices.getLong(i), lengths[along]) * step;
        if (input.type().isFloat()) {
            double[] numbers = Products.doubles(input);
            for (long i = 0; i < indices.size(); i++) {
                int place = (int) at.applyAsLong(i);
                numbers[place] = combine(operator.reduction(), numbers[place], updates.getDouble(i));
            }
            return Tensor.compute(input.type(), lengths, i -> numbers[(int) i]);
        }
        long[] numbers = new long[Math.toIntExact(input.size())];
        Arrays.setAll(numbers, input::getLong);
        for (long i = 0; i < indices.size(); i++) {
            int place = (int) at.applyAsLong(i);
            numbers[place] = combine(operator.reduction(), numbers[place], updates.getLong(i));
        }
        return Tensor.computeLongs(input.type(), lengths, i -> numbers[(int) i]);
    }

    private static double combine(ScatterElements.Reduction reduction, double there, double update) {
        return switch (reduction) {
            case NONE -> update;
            case ADD -> there + update;
            case MUL -> there * update;
            case MAX -> Math.max(there, update);
            case MIN -> Math.min(there, update);
        };
    }

    private static long combine(ScatterElements.Reduction reduction, long there, long update) {
        return switch (reduction) {
            case NONE -> update;
            case ADD -> there + update;
            case MUL -> there * update;
            case MAX -> Math.max(there, update);
            case MIN -> Math.min(there, update);
        };
    }
}
