package dev.espalier.training;

import dev.espalier.journal.Metrics;

/** Who wants to know how a training goes. */
public interface TrainingListener {
    /** Nobody. */
    TrainingListener NOBODY = new TrainingListener() {};

    /**
     * A step was done. Called often: it should be quick.
     *
     * @param progress how far the training is
     */
    default void onStep(Progress progress) {}

    /**
     * The model was evaluated.
     *
     * @param progress how far the training is
     * @param metrics what was found
     */
    default void onEvaluation(Progress progress, Metrics metrics) {}

    /**
     * Something happened that a user should know.
     *
     * @param text a sentence
     */
    default void onNote(String text) {}
}
