package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/**
 * How far the outputs of two models are apart that should compute the same function.
 *
 * @param absolute the largest difference of two numbers
 * @param relative the largest difference, divided by the largest number of the same output
 * @param output the output with the largest relative difference
 */
public record Equivalence(double absolute, double relative, String output) {

    /** What rounding in single precision may leave: {@value}. */
    public static final double TOLERANCE = 1e-4;

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
        Equivalence worst = new Equivalence(0, 0, before.outputs().getFirst());
        for (String output : before.outputs()) {
            Equivalence own = compare(output, tensor(expected, output), tensor(actual, output));
            worst = new Equivalence(
                    Math.max(worst.absolute, own.absolute),
                    Math.max(worst.relative, own.relative),
                    own.relative > worst.relative ? output : worst.output);
        }
        return worst;
    }

    private static Tensor tensor(Map<String, Tensor> outputs, String name) {
        Tensor tensor = outputs.get(name);
        if (tensor == null) {
            throw new GraphException("output " + name + " did not come out; there are " + outputs.keySet());
        }
        return tensor;
    }

    private static Equivalence compare(String output, Tensor expected, Tensor actual) {
        if (!Arrays.equals(expected.shape(), actual.shape())) {
            throw new GraphException("output " + output + " had the shape " + Arrays.toString(expected.shape())
                    + ", and now it has " + Arrays.toString(actual.shape()));
        }
        double scale = 0;
        double largest = 0;
        for (long i = 0; i < expected.size(); i++) {
            double wanted = expected.getDouble(i);
            double found = actual.getDouble(i);
            // Infinities and not-a-number count as equal to themselves, and as infinitely far from all else.
            if (Double.compare(wanted, found) != 0) {
                double difference = Math.abs(wanted - found);
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
            }
            scale = Math.max(scale, Double.isFinite(wanted) ? Math.abs(wanted) : 0);
        }
        return new Equivalence(largest, largest == 0 ? 0 : largest / scale, output);
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
                    "the pruned model computes something else: output %s is off by %.3g of its largest number (%.3g"
                            + " absolute), but rounding explains at most %.3g; nothing was written. Please report the"
                            + " model, or leave the layer at fault alone with --keep NAME",
                    output,
                    relative,
                    absolute,
                    tolerance));
        }
    }
}
