package dev.espalier.train.task;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * What the terms of an objective other than its loss add up to over some samples.
 *
 * @param values the sums by the terms' names
 * @param samples how many samples there were
 */
public record Sums(SequencedMap<String, Double> values, long samples) {
    /** Copies the map. */
    public Sums {
        values = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(values));
    }

    /**
     * One sum.
     *
     * @param term the term's name
     * @return what it came to
     */
    public double get(String term) {
        Double value = values.get(term);
        if (value == null) {
            throw new IllegalArgumentException("there is no sum " + term + " among " + values.keySet());
        }
        return value;
    }

    /**
     * One sum, divided by the number of samples.
     *
     * @param term the term's name
     * @return the mean; 0 if there were no samples
     */
    public double mean(String term) {
        return samples == 0 ? 0 : get(term) / samples;
    }
}
