package dev.espalier.squad;

import dev.espalier.graph.eval.Logits;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.Map;

/** What a model thinks of a batch of windows: logits for the start and the end of the answer, {@code [batch, tokens]}. */
final class AnswerLogits {
    private final Tensor starts;
    private final Tensor ends;
    private final int length;

    AnswerLogits(Map<String, Tensor> outputs, long[] shape) {
        this.starts = output(outputs, Bert.START_LOGITS, shape);
        this.ends = output(outputs, Bert.END_LOGITS, shape);
        this.length = Math.toIntExact(shape[1]);
    }

    private static Tensor output(Map<String, Tensor> outputs, String name, long[] shape) {
        Tensor output = outputs.get(name);
        if (output == null) {
            throw new IllegalArgumentException("the model has the outputs %s: it must have %s and %s"
                    .formatted(outputs.keySet(), Bert.START_LOGITS, Bert.END_LOGITS));
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
        double start = new Logits(starts, (long) row * length, window.length()).crossEntropy(window.start());
        double end = new Logits(ends, (long) row * length, window.length()).crossEntropy(window.end());
        return (start + end) / 2;
    }

    /** The token that is likeliest to be the answer's first, among the first so many. */
    int likeliestStart(int row, int tokens) {
        return new Logits(starts, (long) row * length, tokens).largest();
    }

    /** The token that is likeliest to be the answer's last, among the first so many. */
    int likeliestEnd(int row, int tokens) {
        return new Logits(ends, (long) row * length, tokens).largest();
    }
}
