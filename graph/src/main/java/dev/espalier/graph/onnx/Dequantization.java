package dev.espalier.graph.onnx;

import java.util.Locale;

/**
 * How far a file of whole numbers was read as fractions. A weight is {@code scale · (q − zero point)}, which is exact. What flows
 * through the model is not rounded any more, so that outputs may differ a little from the file's.
 *
 * @param weights how many tensors of whole numbers have become weights
 * @param activations how many tensors that the file rounds while it runs are not rounded
 */
public record Dequantization(int weights, int activations) {
    /** Of a model that has no whole numbers for fractions. */
    public static final Dequantization NONE = new Dequantization(0, 0);

    /** {@return whether what was read computes the same as the file, up to rounding of fractions} */
    public boolean isExact() {
        return activations == 0;
    }

    /** {@return what a user should know, as a line} */
    public String note() {
        String read = String.format(
                Locale.ROOT, "int8 model, read as float32: %,d %s", weights, weights == 1 ? "weight" : "weights");
        return isExact()
                ? read
                : String.format(
                        Locale.ROOT,
                        "%s; outputs may differ from the int8 file's by quantisation of activations, which are no longer rounded in %,d %s",
                        read,
                        activations,
                        activations == 1 ? "place" : "places");
    }
}
