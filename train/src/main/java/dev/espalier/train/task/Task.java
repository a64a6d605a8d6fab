package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.Encoding;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;

/** What is learned: a model, batches for it, the objective, and how it is judged. */
public interface Task {
    /** Parts of the data that a model is judged on. */
    enum Part {
        /** What is looked at during training. */
        VALIDATION,
        /** What is looked at once, at the end. */
        TEST
    }

    /** A model that is judged. */
    interface Model {
        /**
         * What the task's objective comes to. Single numbers are all that has to leave the device that the model is on.
         *
         * @param example some samples
         * @return the objective's terms
         */
        Terms terms(Example example);

        /**
         * What the model answers, whole: for a task that makes more of it than sums.
         *
         * @param inputs by name
         * @return outputs by name
         */
        SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs);

        /** {@return whether it is the file of a trained model, which takes {@link Example#raw}} */
        default boolean takesRaw() {
            return false;
        }

        /**
         * The same model, shown more.
         *
         * @param more adds to an example what a task compares the model with
         * @return the model
         */
        default Model with(UnaryOperator<Example> more) {
            Model model = this;
            return new Model() {
                @Override
                public Terms terms(Example example) {
                    return model.terms(more.apply(example));
                }

                @Override
                public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
                    return model.predict(inputs);
                }

                @Override
                public boolean takesRaw() {
                    return model.takesRaw();
                }
            };
        }
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

    /** {@return what was learned about the data, to be noted in the model; empty if rows are no columns} */
    default Optional<Encoding> encoding() {
        return Optional.empty();
    }

    /** {@return what {@link #evaluate} measures; what counts most comes first} */
    List<Metric> metrics();

    /** {@return what a model is given and what it says, by the task's names} */
    Signature signature();

    /** {@return the model's names for that} */
    Fitted fitted();

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

    /** {@return whether the rows of one epoch are those of every other, without chance} */
    default boolean isRepeatable() {
        return false;
    }

    /**
     * What training makes small, and sums over the samples of a batch that say how well it goes.
     *
     * @return terms of the model's outputs and an example's targets
     */
    Objective objective();

    /**
     * What the objective's sums mean. They are told while a model learns; what {@link #evaluate} finds may be more, or other.
     *
     * @param sums over some samples
     * @return what was measured; what counts most comes first
     */
    SequencedMap<Metric, Double> score(Sums sums);

    /**
     * Judges a model.
     *
     * @param model the model
     * @param part by what
     * @return what was found, for each of {@link #metrics}
     */
    Evaluation evaluate(Model model, Part part);

    /**
     * What the page on a run shows of a model besides its scores: what it takes for what, how far it is off, which samples it gets
     * wrong. One more look at the test part, for those who want to know.
     *
     * @param model the model
     * @return what was found; empty if the task tells nothing but its scores
     */
    default Optional<Findings> findings(Model model) {
        return Optional.empty();
    }

    /**
     * What the first of {@link #metrics} comes to without learning, such as by always guessing the most frequent class. A training
     * that stays there goes nowhere.
     *
     * @return the value on the part for validation; empty if nothing of the kind makes sense
     */
    OptionalDouble baseline();

    /**
     * One sample of the test part.
     *
     * @return what a model's file is fed with, by name; see {@link RawInputs}
     */
    Map<String, Tensor> sample();
}
