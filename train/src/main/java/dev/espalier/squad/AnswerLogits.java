package dev.espalier.squad;

import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.Map;

/** What a model thinks of a batch of windows: logits for the start and the end of the answer, {@code [batch, tokens]}. */
final class AnswerLogits {
    private static final String START = "start_logits";
    private static final String END = "end_logits";

    private final Tensor starts;
    private final Tensor ends;
    private final int length;

    AnswerLogits(Map<String, Tensor> outputs, long[] shape) {
        this.starts = output(outputs, START, shape);
        this.ends = output(outputs, END, shape);
        this.length = Math.toIntExact(shape[1]);
    }

    private static Tensor output(Map<String, Tensor> outputs, String name, long[] shape) {
        Tensor output = outputs.get(name);
        if (output == null) {
            throw new IllegalArgumentException(
                    "the model has the outputs %s: it must have %s and %s".formatted(outputs.keySet(), START, END));
        }
        if (!Arrays.equals(output.shape(), shape)) {
            throw new IllegalArgumentException("the model's output %s is %s: it must be %s, as its inputs are"
                    .formatted(name, Arrays.toString(output.shape()), Arrays.toString(shape)));
        }
        return output;
    }

    /** The logits of the starts at the text's tokens of a window. */
    double[] textStarts(int row, Window window) {
        return text(starts, row, window);
    }

    /** The logits of the ends at the text's tokens of a window. */
    double[] textEnds(int row, Window window) {
        return text(ends, row, window);
    }

    private double[] text(Tensor logits, int row, Window window) {
        double[] values = new double[window.to() - window.from()];
        long from = (long) row * length + window.textPosition();
        Arrays.setAll(values, i -> logits.getDouble(from + i));
        return values;
    }

    /**
     * The loss of a window whose answer is known: the mean of {@code −ln softmax(logits)[label]} of start and end. Over the
     * window's own tokens: what a batch is filled up with depends on the other windows.
     */
    double loss(int row, Window window) {
        double start = new Row(starts, (long) row * length, window.length()).crossEntropy(window.start());
        double end = new Row(ends, (long) row * length, window.length()).crossEntropy(window.end());
        return (start + end) / 2;
    }

    /** The token that is likeliest to be the answer's first, among the first so many. */
    int likeliestStart(int row, int tokens) {
        return new Row(starts, (long) row * length, tokens).largest();
    }

    /** The token that is likeliest to be the answer's last, among the first so many. */
    int likeliestEnd(int row, int tokens) {
        return new Row(ends, (long) row * length, tokens).largest();
    }

    /** The logits of one window. */
    private record Row(Tensor logits, long from, int tokens) {
        double crossEntropy(int label) {
            double top = logits.getDouble(from + largest());
            double sum = 0;
            for (int i = 0; i < tokens; i++) {
                sum += Math.exp(logits.getDouble(from + i) - top);
            }
            return Math.log(sum) + top - logits.getDouble(from + label);
        }

        int largest() {
            int largest = 0;
            for (int i = 1; i < tokens; i++) {
                largest = logits.getDouble(from + i) > logits.getDouble(from + largest) ? i : largest;
            }
            return largest;
        }
    }
}
