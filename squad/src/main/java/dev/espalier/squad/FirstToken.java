package dev.espalier.squad;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.Objects;

/**
 * Watches what a model thinks of the first token of every window. It has learned to point there if the answer is not in the
 * window.
 */
public final class FirstToken implements AnswerModel {
    private final AnswerModel model;
    private double score = Double.POSITIVE_INFINITY;

    /**
     * A watcher that has seen nothing yet.
     *
     * @param model what it asks
     */
    public FirstToken(AnswerModel model) {
        this.model = model;
    }

    @Override
    public Map<String, Tensor> predict(Map<String, Tensor> inputs) {
        Map<String, Tensor> outputs = model.predict(inputs);
        Tensor starts = Objects.requireNonNull(outputs.get(Bert.START_LOGITS), Bert.START_LOGITS);
        Tensor ends = Objects.requireNonNull(outputs.get(Bert.END_LOGITS), Bert.END_LOGITS);
        long length = starts.shape()[1];
        for (long window = 0; window < starts.shape()[0]; window++) {
            score = Math.min(score, starts.getDouble(window * length) + ends.getDouble(window * length));
        }
        return outputs;
    }

    /**
     * The score of there being no answer: the least of all windows, as one that has the answer is enough.
     *
     * @return start logit + end logit; infinity before anything was asked
     */
    public double score() {
        return score;
    }
}
