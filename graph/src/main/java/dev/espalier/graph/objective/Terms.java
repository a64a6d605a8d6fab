package dev.espalier.graph.objective;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * What an {@link Objective} came to on some samples.
 *
 * @param values its terms by name, in order
 */
public record Terms(SequencedMap<String, Double> values) {
    /** Copies the map. */
    public Terms {
        values = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(values));
    }

    /**
     * What training makes small.
     *
     * @return the term {@link Objective#LOSS}
     */
    public double loss() {
        return get(Objective.LOSS);
    }

    /**
     * {@return one term}
     *
     * @param term its name
     */
    public double get(String term) {
        Double value = values.get(term);
        if (value == null) {
            throw new IllegalArgumentException("there is no term " + term + " among " + values.keySet());
        }
        return value;
    }
}
