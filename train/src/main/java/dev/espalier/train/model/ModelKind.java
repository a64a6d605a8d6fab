package dev.espalier.train.model;

import dev.espalier.data.ModelInput;
import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.Selector;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Kind;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A kind of model: {@code model.kind} by name, its own keys, and what it makes of their values.
 *
 * <p>Kinds are services. Somebody else's is a public class with a constructor without arguments, whose name stands in a file
 * {@code META-INF/services/dev.espalier.train.model.ModelKind}; nothing of ours has to know it.
 */
public interface ModelKind extends Kind {
    /**
     * Why it is nothing for some data, as far as one can tell before a file is opened.
     *
     * @param data what is known of the data
     * @return the reason, with what would be right; empty if it may fit
     */
    default Optional<String> misfit(Outline data) {
        return Optional.empty();
    }

    /**
     * What the paper groups and freezes in this model. For models that are not in the paper: every weight of every layer grouped in
     * the same way, and nothing frozen.
     *
     * @return the rules
     */
    default PaperRules paperRules() {
        return new PaperRules(GroupRules.everything(), Selector.nothing());
    }

    /**
     * Where the tokenizer is that belongs to the model.
     *
     * @param values the section's values
     * @return its folder; empty for a model that reads no text
     */
    default Optional<Path> tokenizer(Values values) {
        return Optional.empty();
    }

    /**
     * What the model's file declares that it takes, for data that others' models are fed with.
     *
     * @param values the section's values
     * @return its inputs; none if they follow from the data
     * @throws IOException if the file cannot be read
     */
    default List<ModelInput> inputs(Values values) throws IOException {
        return List.of();
    }

    /**
     * Whether the model may have learned before. What it says is in the unit of the labels then; one with fresh weights says numbers
     * around 0, and {@link ModelSection#build} puts the unit behind it.
     *
     * @param values the section's values
     * @return false if all weights are fresh
     */
    default boolean isTrained(Values values) {
        return false;
    }

    /**
     * Whether the model can do the task before it is trained, so that its score is worth knowing by then.
     *
     * @param values the section's values
     * @return false if some of its weights are fresh
     */
    default boolean isReady(Values values) {
        return false;
    }

    /**
     * The model that training starts from. It takes batches of any size. Its inputs and outputs may have names of their own, see
     * {@link Signature#fit}.
     *
     * @param values the section's values
     * @param wanted what it is given and what it has to say
     * @param weights what tensors hold that have not been trained before
     * @param notes told what a user should know of the model, a sentence each
     * @return the model
     * @throws IOException if a file cannot be read
     * @throws IllegalArgumentException if it cannot be what is wanted; the message says what to change
     */
    Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) throws IOException;
}
