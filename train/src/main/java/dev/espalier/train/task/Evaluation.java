package dev.espalier.train.task;

import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.train.journal.Metric;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * What an evaluation found.
 *
 * @param loss mean over all samples
 * @param scores what was measured; what counts most comes first
 * @param samples how many were looked at
 */
public record Evaluation(double loss, SequencedMap<Metric, Double> scores, long samples) {
    /** Copies the map. */
    public Evaluation {
        scores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(scores));
    }

    /** {@return the metric that counts most, and its value} */
    public Map.Entry<Metric, Double> main() {
        return scores.firstEntry();
    }

    /**
     * Looks at samples batch by batch. Nothing of them is kept but the sums of the objective's terms.
     *
     * @param model the model
     * @param examples the samples, once
     * @param score what the sums mean
     * @return what was found
     */
    public static Evaluation of(
            Task.Model model, Iterator<Example> examples, Function<Sums, SequencedMap<Metric, Double>> score) {
        double loss = 0;
        long samples = 0;
        SequencedMap<String, Double> sums = new LinkedHashMap<>();
        while (examples.hasNext()) {
            Example example = examples.next();
            Terms terms = model.terms(example);
            terms.values().forEach((term, value) -> sums.merge(term, value, Double::sum));
            loss += example.size() * terms.loss();
            samples += example.size();
        }
        sums.remove(Objective.LOSS);
        return new Evaluation(loss / samples, score.apply(new Sums(sums, samples)), samples);
    }
}
