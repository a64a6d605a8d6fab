package dev.espalier.graph.eval;

import dev.espalier.graph.eval.Moves.Along;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Tensors made longer or shorter along their axes, one after the other. */
final class Resizing {
    private Resizing() {}

    static Tensor resize(Resize operator, Tensor input, long[] shape) {
        Shape before = Shape.ofLengths(input.shape());
        Shape after = Shape.ofLengths(shape);
        List<Sampling.Taps[]> taps = new ArrayList<>();
        for (int axis = 0; axis < shape.length; axis++) {
            boolean kept = operator.keeps(axis, before, after) || shape[axis] == 0;
            taps.add(kept ? new Sampling.Taps[0] : operator.taps(axis, before, after));
        }
        if (operator.sampling().mode() == Sampling.Mode.NEAREST) {
            return nearest(input, taps, shape);
        }
        double[] numbers = Products.doubles(input);
        long[] lengths = input.shape();
        for (int axis = 0; axis < shape.length; axis++) {
            if (taps.get(axis).length > 0) {
                numbers = along(numbers, lengths, axis, taps.get(axis));
                lengths[axis] = shape[axis];
            }
        }
        double[] result = numbers;
        return Tensor.compute(input.type(), shape, i -> result[(int) i]);
    }

    private static Tensor nearest(Tensor input, List<Sampling.Taps[]> taps, long[] shape) {
        List<Along> axes = new ArrayList<>();
        for (int axis = 0; axis < shape.length; axis++) {
            Sampling.Taps[] from = taps.get(axis);
            axes.add(
                    from.length == 0
                            ? Along.whole(shape[axis])
                            : new Along(shape[axis], i -> from[(int) i].positions()[0]));
        }
        return Moves.pick(input, axes, 0);
    }

    private static double[] along(double[] numbers, long[] lengths, int axis, Sampling.Taps[] taps) {
        int behind = (int) Indices.product(lengths, axis + 1, lengths.length);
        int before = (int) Indices.product(lengths, 0, axis);
        int length = (int) lengths[axis];
        double[] result = new double[before * taps.length * behind];
        for (int i = 0; i < result.length; i++) {
            Sampling.Taps from = taps[i / behind % taps.length];
            int row = i / behind / taps.length * length;
            for (int tap = 0; tap < from.weights().length; tap++) {
                result[i] += from.weights()[tap] * numbers[(row + from.positions()[tap]) * behind + i % behind];
            }
        }
        return result;
    }
}
