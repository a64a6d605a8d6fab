package dev.espalier.train.run;

import dev.espalier.train.journal.Metrics;

/** Who wants to know how a training goes. */
public interface TrainingListener {
    /** Nobody. */
    TrainingListener NOBODY = new TrainingListener() {};

    /**
     * The gradients are there, and the optimizer is about to step. What takes long here slows the training down, but does
     * not change it.
     *
     * @param view what it is about to do; valid during this call only
     */
    default void beforeStep(StepView view) {}

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
