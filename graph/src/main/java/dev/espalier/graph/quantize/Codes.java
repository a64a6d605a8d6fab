package dev.espalier.graph.quantize;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * A weight as whole numbers, with a scale of its own for every place along an axis: {@code w ≈ scale · code}.
 *
 * @param codes of eight bits, of the weight's shape
 * @param scales one for each place along the axis
 */
record Codes(Tensor codes, Tensor scales) {

    /** Shares of the largest weight that are tried as the largest one that has a code; what is beyond gets that one too. */
    private static final double[] SHARES = {1, 0.96, 0.92, 0.88, 0.84, 0.8, 0.75, 0.7};

    /**
     * Codes with the least squared error, place by place along the axis.
     *
     * @param largest the largest code; the smallest is its negative, so that zero is a code
     */
    static Codes of(Tensor weight, int axis, int largest) {
        return of(weight, axis, largest, _ -> 0);
    }

    /**
     * The same with scales that are not too small.
     *
     * @param least the least scale of a place
     */
    static Codes of(Tensor weight, int axis, int largest, IntToDoubleFunction least) {
        long[] shape = weight.shape();
        int places = Math.toIntExact(shape[axis]);
        long inner = Tensor.size(Arrays.copyOfRange(shape, axis + 1, shape.length));
        int each = places == 0 ? 0 : Math.toIntExact(weight.size() / places);
        double[] scales = new double[places];
        double[] values = new double[each];
        for (int place = 0; place < places; place++) {
            for (int i = 0; i < each; i++) {
                values[i] = weight.getDouble((i / inner * places + place) * inner + i % inner);
            }
            scales[place] = Math.max(scale(values, largest), least.applyAsDouble(place));
        }
        Tensor codes = Tensor.computeLongs(
                DataType.INT8, shape, i -> code(weight.getDouble(i), scales[(int) (i / inner % places)], largest));
        return new Codes(codes, Tensor.compute(DataType.FLOAT32, new long[] {places}, i -> scales[(int) i]));
    }

    private static double scale(double[] values, int largest) {
        double most = 0;
        for (double value : values) {
            most = Math.max(most, Math.abs(value));
        }
        // The reader multiplies by it as it is stored. One that is too small to be stored stands for nothing but zeros.
        double best = (float) (most / largest);
        double least = Double.POSITIVE_INFINITY;
        for (double share : SHARES) {
            double scale = (float) (share * most / largest);
            double error = 0;
            for (int i = 0; i < values.length && error < least; i++) {
                double difference = values[i] - scale * code(values[i], scale, largest);
                error += difference * difference;
            }
            if (error < least) {
                least = error;
                best = scale;
            }
        }
        return best > 0 ? best : 1;
    }

    static long code(double value, double scale, int largest) {
        return scale > 0 ? Math.clamp((long) Math.rint(value / scale), -largest, largest) : 0;
    }
}
