package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * How far the outputs of two models are apart that should compute the same function.
 *
 * <p>An output of 1000 that moves by 0.01 from one input to the next proves nothing if it is right up to 0.1. So differences
 * are held against how far an output moves when other inputs are fed; but against no less than a hundredth of its largest
 * number, since rounding is relative to that.
 *
 * @param absolute the largest difference of two numbers
 * @param relative the largest difference, divided by how far the same output moves
 * @param output the output with the largest relative difference
 * @param moves whether every output of fractions moves at all when other inputs are fed; if not, little is proved
 */
public record Equivalence(double absolute, double relative, String output, boolean moves) {

    /** What rounding in single precision may leave: {@value}. */
    public static final double TOLERANCE = 1e-4;

    /** Rounding is at most this share of the largest number, times {@link #TOLERANCE}. */
    private static final double LEAST_MOVEMENT = 1e-2;

    /**
     * Runs both models on the same inputs.
     *
     * @param before the model
     * @param after the model that should compute the same
     * @param inputs what both are fed with
     * @param runner who runs them
     * @return how far they are apart
     */
    public static Equivalence measure(Graph before, Graph after, Map<String, Tensor> inputs, Runner runner) {
        Map<String, Tensor> expected = runner.run(before, inputs);
        Map<String, Tensor> actual = runner.run(after, inputs);
        Map<String, Tensor> others = runner.run(before, shifted(inputs));
        Equivalence worst = new Equivalence(0, 0, before.outputs().getFirst(), true);
        for (String output : before.outputs()) {
            Equivalence own = compare(output, tensor(expected, output), tensor(actual, output), tensor(others, output));
            worst = new Equivalence(
                    Math.max(worst.absolute, own.absolute),
                    Math.max(worst.relative, own.relative),
                    own.relative > worst.relative ? output : worst.output,
                    worst.moves && own.moves);
        }
        return worst;
    }

    /** Other inputs of the same kind: every number in its neighbour's place. */
    private static Map<String, Tensor> shifted(Map<String, Tensor> inputs) {
        Map<String, Tensor> moved = new HashMap<>();
        inputs.forEach((name, tensor) -> moved.put(
                name, Tensor.compute(tensor.type(), tensor.shape(), i -> tensor.getDouble((i + 1) % tensor.size()))));
        return moved;
    }

    private static Tensor tensor(Map<String, Tensor> outputs, String name) {
        Tensor tensor = outputs.get(name);
        if (tensor == null) {
            throw new GraphException("output " + name + " did not come out; there are " + outputs.keySet());
        }
        return tensor;
    }

    private static Equivalence compare(String output, Tensor expected, Tensor actual, Tensor other) {
        if (!Arrays.equals(expected.shape(), actual.shape())) {
            throw new GraphException("output " + output + " had the shape " + Arrays.toString(expected.shape())
                    + ", and now it has " + Arrays.toString(actual.shape()));
        }
        double scale = 0;
        for (long i = 0; i < expected.size(); i++) {
            double wanted = Math.abs(expected.getDouble(i));
            scale = Math.max(scale, Double.isFinite(wanted) ? wanted : 0);
        }
        double difference = distance(expected, actual);
        double movement = Arrays.equals(expected.shape(), other.shape()) ? distance(expected, other) : scale;
        double yardstick = Math.max(Double.isFinite(movement) ? movement : scale, LEAST_MOVEMENT * scale);
        return new Equivalence(
                difference,
                difference == 0 ? 0 : difference / yardstick,
                output,
                movement > 0 || !expected.type().isFloat());
    }

    /** The largest difference. Infinities and not-a-number are equal to themselves, and infinitely far from all else. */
    private static double distance(Tensor left, Tensor right) {
        double largest = 0;
        for (long i = 0; i < left.size(); i++) {
            double a = left.getDouble(i);
            double b = right.getDouble(i);
            if (Double.compare(a, b) != 0) {
                double difference = Math.abs(a - b);
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
            }
        }
        return largest;
    }

    /**
     * Refuses a model that computes something else.
     *
     * @param tolerance the largest relative difference that is taken for rounding
     * @throws GraphException if the models are further apart
     */
    public void requireEqual(double tolerance) {
        if (!(relative <= tolerance)) {
            throw new GraphException(String.format(
                    Locale.ROOT,
                    "the pruned model computes something else: output %s is off by %.3g of what other inputs move it"
                            + " (%.3g absolute), but rounding explains at most %.3g; nothing was written. Please report the"
                            + " model, or leave the layer at fault alone with --keep NAME",
                    output,
                    relative,
                    absolute,
                    tolerance));
        }
    }
}
