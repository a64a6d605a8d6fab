package dev.espalier.cli;

import dev.espalier.graph.type.Tensor;
import dev.espalier.squad.AnswerModel;
import java.util.Map;
import java.util.Objects;

/**
 * Watches what a model thinks of the first token of every window. It has learned to point there if the answer is not in the
 * window.
 */
final class FirstToken implements AnswerModel {
    private final AnswerModel model;
    private double score = Double.POSITIVE_INFINITY;

    FirstToken(AnswerModel model) {
        this.model = model;
    }

    @Override
    public Map<String, Tensor> predict(Map<String, Tensor> inputs) {
        Map<String, Tensor> outputs = model.predict(inputs);
        Tensor starts = Objects.requireNonNull(outputs.get(AnsweringModel.START), AnsweringModel.START);
        Tensor ends = Objects.requireNonNull(outputs.get(AnsweringModel.END), AnsweringModel.END);
        long length = starts.shape()[1];
        for (long window = 0; window < starts.shape()[0]; window++) {
            score = Math.min(score, starts.getDouble(window * length) + ends.getDouble(window * length));
        }
        return outputs;
    }

    /** The score of there being no answer: the least of all windows, as one that has the answer is enough. */
    double score() {
        return score;
    }
}
