package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** What is learned: a model, batches for it, the objective, and how it is judged. */
public interface Task {
    /** The objective's term that counts how many samples of a batch a model gets right. */
    String RIGHT = "right";

    /** Parts of the data that a model is judged on. */
    enum Part {
        /** What is looked at during training. */
        VALIDATION,
        /** What is looked at once, at the end. */
        TEST
    }

    /** A model that can be asked. */
    @FunctionalInterface
    interface Model {
        /**
         * What it answers.
         *
         * @param inputs by name
         * @return outputs by name
         */
        SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs);
    }

    /**
     * What a user should know of the data and the model before training begins.
     *
     * @return sentences
     */
    default List<String> notes() {
        return List.of();
    }

    /**
     * What is measured of the data before training begins, for the metrics.
     *
     * @return numbers by name
     */
    default SequencedMap<String, Double> measures() {
        return new LinkedHashMap<>();
    }

    /**
     * What batches are made of.
     *
     * @return a word, plural
     */
    default String samples() {
        return "samples";
    }

    /**
     * Writes what whoever serves the model needs besides its file, such as a vocabulary.
     *
     * @param folder where the model is
     * @throws IOException if it cannot be written
     */
    default void accompany(Path folder) throws IOException {}

    /**
     * The model that training starts from.
     *
     * @param weights what tensors hold that have not been trained before
     * @return the model
     */
    Graph model(Weights weights);

    /**
     * The number of batches in an epoch.
     *
     * @return at least 1
     */
    int batchesPerEpoch();

    /**
     * What the model learns from. The same arguments give the same batches, whatever came before.
     *
     * @param seed what order and augmentation depend on
     * @param first the first batch
     * @param epochs the epoch to stop before
     * @return the batches; to be closed
     */
    Examples examples(long seed, BatchPosition first, long epochs);

    /**
     * What training makes small.
     *
     * @return the loss and {@link #RIGHT}, of the model's outputs and an example's targets
     */
    Objective objective();

    /**
     * What {@link #RIGHT} counts. It need not be what {@link #evaluate} finds.
     *
     * @return a name as in {@link Evaluation#scores}
     */
    String trainingMetric();

    /**
     * Judges a model.
     *
     * @param model the model
     * @param part by what
     * @return what was found
     */
    Evaluation evaluate(Model model, Part part);

    /**
     * The main score that needs no learning, such as that of always guessing the most frequent class.
     *
     * @return from 0 to 1, on the part for validation
     */
    double chance();

    /**
     * One sample of the test part.
     *
     * @return what a model is fed with, by name
     */
    Map<String, Tensor> sample();
}
