package dev.espalier.cli;

import dev.espalier.journal.RunFolder;
import dev.espalier.recipe.DataRecipe;
import dev.espalier.recipe.Recipe;
import dev.espalier.recipe.RecipeReader;
import dev.espalier.squad.AnswerSearch;
import dev.espalier.squad.WindowPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How a model is asked: as in its training, if that left its recipe beside the model, and as recipes do by default otherwise.
 *
 * @param windows how long windows are
 * @param search how answers are found
 */
record ReadingPlan(WindowPlan windows, AnswerSearch search) {
    /** How the model in a folder is asked. */
    static ReadingPlan in(Path folder) throws IOException {
        Path file = new RunFolder(folder).recipe();
        if (Files.exists(file)) {
            Recipe recipe = RecipeReader.read(file, List.of());
            if (recipe.data().source() instanceof DataRecipe.Squad squad) {
                return of(recipe, squad);
            }
        }
        return new ReadingPlan(WindowPlan.DEFAULT, AnswerSearch.DEFAULT);
    }

    private static ReadingPlan of(Recipe recipe, DataRecipe.Squad squad) {
        return new ReadingPlan(
                new WindowPlan(squad.length(), squad.stride(), squad.questionLength()),
                new AnswerSearch(recipe.evaluation().best(), recipe.evaluation().answerLength()));
    }
}
