package dev.espalier.train.run;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** A run goes on with the recipe that it was begun with: anything else would be no run of either. */
final class RecipeChanges {
    private RecipeChanges() {}

    /** Refuses to go on with another recipe. A folder without one is a run that did not get that far. */
    static void requireSame(RunFolder folder, Recipe recipe) throws IOException {
        if (!Files.exists(folder.recipe())) {
            return;
        }
        Recipe before = Recipe.read(folder.recipe(), List.of());
        List<String> changes = recipe.settings().changesSince(before.settings());
        if (!changes.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s was begun with another recipe: %s; give it the one it had, or another folder"
                            .formatted(folder.path(), String.join("; ", changes)));
        }
    }
}
