package dev.espalier.train.study;

import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.task.Task;
import java.io.IOException;

/** Where trials have from what they learn. */
public interface TaskSource {
    /**
     * What a recipe's data and model are for. Nobody else uses it until it is given back.
     *
     * @param recipe the recipe
     * @param listener told while data is read
     * @return the task
     * @throws IOException if data or model cannot be read
     */
    Task take(Recipe recipe, TrainingListener listener) throws IOException;

    /**
     * It is no longer used.
     *
     * @param recipe the recipe it was taken for
     * @param task the task
     */
    default void giveBack(Recipe recipe, Task task) {}
}
