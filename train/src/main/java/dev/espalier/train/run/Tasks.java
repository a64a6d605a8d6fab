package dev.espalier.train.run;

import dev.espalier.data.Context;
import dev.espalier.settings.Values;
import dev.espalier.train.model.ModelKind;
import dev.espalier.train.model.ModelSection;
import dev.espalier.train.recipe.EvaluationRecipe;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;

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
        Values model = recipe.model();
        ModelKind kind = ModelSection.KINDS.of(model);
        return TaskSection.open(
                recipe.task(),
                new Materials(
                        recipe.data(),
                        new Context(Context.QUIET.progress(), kind.tokenizer(model)),
                        (wanted, weights) -> ModelSection.build(model, wanted, weights),
                        recipe.batching(),
                        recipe.settings().section(EvaluationRecipe.SECTION)));
    }
}
