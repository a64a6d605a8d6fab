package dev.espalier.train.recipe;

import dev.espalier.core.schedule.LearningRate;
import java.util.Locale;

/**
 * A part of a training.
 *
 * @param kind what is done in it
 * @param epochs passes over the training data
 * @param steps how many steps that are
 * @param rate the learning rate, from the phase's own step 0
 */
public record Phase(Kind kind, int epochs, long steps, LearningRate rate) {

    /** Kinds of phases, in the order in which they come. */
    public enum Kind {
        /** Training without the penalty, before. */
        WARM_UP,
        /** Training with the penalty; without one for a baseline. */
        SPARSIFY,
        /** Training without the penalty, after; groups that are zero stay zero. */
        HEAL
    }

    /**
     * What the phase is called.
     *
     * @return its kind in lower case, such as {@code warm-up}
     */
    public String label() {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
