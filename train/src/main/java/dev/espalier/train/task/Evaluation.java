package dev.espalier.train.task;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What an evaluation found.
 *
 * @param loss mean over all samples
 * @param scores from 0 to 1, by name; what counts most comes first
 * @param samples how many were looked at
 */
public record Evaluation(double loss, SequencedMap<String, Double> scores, long samples) {
    /** Copies the map. */
    public Evaluation {
        scores = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(scores));
    }

    /**
     * The score that counts most.
     *
     * @return its name and value
     */
    public Map.Entry<String, Double> main() {
        return scores.firstEntry();
    }
}
