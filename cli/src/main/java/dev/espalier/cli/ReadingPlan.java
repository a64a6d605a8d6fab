package dev.espalier.cli;

import dev.espalier.squad.AnswerSearch;
import dev.espalier.squad.AnsweringKind;
import dev.espalier.squad.SquadData;
import dev.espalier.squad.WindowPlan;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
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
            Recipe recipe = Recipe.read(file, List.of());
            if (SquadData.isKindOf(recipe.data())) {
                return of(recipe);
            }
        }
        return new ReadingPlan(WindowPlan.DEFAULT, AnswerSearch.DEFAULT);
    }

    private static ReadingPlan of(Recipe recipe) {
        return new ReadingPlan(SquadData.windows(recipe.data()), AnsweringKind.search(recipe.task()));
    }
}
