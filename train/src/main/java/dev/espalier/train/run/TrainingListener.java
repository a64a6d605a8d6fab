package dev.espalier.train.run;

import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;

/** Who wants to know how a training goes. */
public interface TrainingListener {
    /** Nobody. */
    TrainingListener NOBODY = new TrainingListener() {};

    /**
     * Some more of the data is read, before training begins. Called often, by one thread at a time: it should be quick.
     *
     * @param what what is counted, plural
     * @param done how many in all
     * @param total how many there are; 0 if nobody knows
     */
    default void onReading(String what, long done, long total) {}

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
     * The state was written down: from here the training can go on.
     *
     * @param run the run's folder
     * @param state the file
     * @throws IOException if something cannot be read or written
     */
    default void onCheckpoint(RunFolder run, Path state) throws IOException {}

    /**
     * Something happened that a user should know.
     *
     * @param text a sentence
     */
    default void onNote(String text) {}

    /**
     * A run of an experiment ended: it is finished, or was given up. Its folder holds all that it will hold; if more is added to it, such as a
     * table of models, this is called again.
     *
     * @param run the run's folder; for an experiment of several seeds its own folder follows
     * @throws IOException if something cannot be read or written there
     */
    default void onEnd(RunFolder run) throws IOException {}

    /**
     * This, and somebody else.
     *
     * @param other who is told after this
     * @return both
     */
    default TrainingListener and(TrainingListener other) {
        TrainingListener first = this;
        return new TrainingListener() {
            @Override
            public void onReading(String what, long done, long total) {
                first.onReading(what, done, total);
                other.onReading(what, done, total);
            }

            @Override
            public void beforeStep(StepView view) {
                first.beforeStep(view);
                other.beforeStep(view);
            }

            @Override
            public void onStep(Progress progress) {
                first.onStep(progress);
                other.onStep(progress);
            }

            @Override
            public void onEvaluation(Progress progress, Metrics metrics) {
                first.onEvaluation(progress, metrics);
                other.onEvaluation(progress, metrics);
            }

            @Override
            public void onCheckpoint(RunFolder run, Path state) throws IOException {
                first.onCheckpoint(run, state);
                other.onCheckpoint(run, state);
            }

            @Override
            public void onNote(String text) {
                first.onNote(text);
                other.onNote(text);
            }

            @Override
            public void onEnd(RunFolder run) throws IOException {
                first.onEnd(run);
                other.onEnd(run);
            }
        };
    }
}
