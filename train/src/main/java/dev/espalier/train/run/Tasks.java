package dev.espalier.train.run;

import dev.espalier.data.Context;
import dev.espalier.data.LoadedData;
import dev.espalier.data.ModelInput;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Values;
import dev.espalier.train.model.ModelKind;
import dev.espalier.train.model.ModelSection;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.ModelSource;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** From recipes to tasks. */
public final class Tasks {
    private Tasks() {}

    /**
     * What a recipe's data and model are for.
     *
     * @param recipe the recipe
     * @return the task, with its data loaded
     * @throws IOException if the data or the model cannot be read
     */
    public static Task of(Recipe recipe) throws IOException {
        return of(recipe, TrainingListener.NOBODY);
    }

    /**
     * What a recipe's data and model are for.
     *
     * @param recipe the recipe
     * @param listener told while data is read, and what is to be known of the model when it is first made
     * @return the task, with its data loaded
     * @throws IOException if the data or the model cannot be read
     */
    public static Task of(Recipe recipe, TrainingListener listener) throws IOException {
        Values model = recipe.model();
        ModelKind kind = ModelSection.KINDS.of(model);
        return TaskSection.open(
                recipe.task(),
                new Materials(
                        recipe.data(),
                        new Context(listener::onReading, kind.tokenizer(model), () -> inputs(kind, model)),
                        source(model, listener),
                        recipe.batching()));
    }

    private static ModelSource source(Values model, TrainingListener listener) {
        Set<String> told = ConcurrentHashMap.newKeySet(); // the model is made for every seed
        Consumer<String> notes = note -> {
            if (told.add(note)) {
                listener.onNote(note);
            }
        };
        return (wanted, weights) -> ModelSection.build(model, wanted, weights, notes);
    }

    /**
     * What a recipe says, with its model, on data that a program has made itself.
     *
     * @param recipe the recipe; of its section on data, only how data is loaded is followed
     * @param data the data
     * @param listener told what is to be known of the model when it is first made
     * @return the task
     * @throws IOException if the model cannot be read
     */
    public static Task of(Recipe recipe, LoadedData data, TrainingListener listener) throws IOException {
        return TaskSection.open(
                recipe.task(), new Materials(recipe.data(), data, source(recipe.model(), listener), recipe.batching()));
    }

    private static List<ModelInput> inputs(ModelKind kind, Values model) {
        try {
            return kind.inputs(model);
        } catch (IOException unread) {
            throw new UncheckedIOException(unread.getMessage(), unread);
        }
    }

    /**
     * What a recipe says, on data and with a model that a program has made itself.
     *
     * @param recipe the recipe; of its sections on data and model, only how data is loaded is followed
     * @param data the data
     * @param model makes the model; called with different weights
     * @return the task
     * @throws IOException if the task reads something else, and cannot
     */
    public static Task of(Recipe recipe, LoadedData data, Function<Weights, Graph> model) throws IOException {
        return TaskSection.open(
                recipe.task(),
                new Materials(recipe.data(), data, (_, weights) -> model.apply(weights), recipe.batching()));
    }
}
