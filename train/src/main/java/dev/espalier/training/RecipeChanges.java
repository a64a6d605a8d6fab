package dev.espalier.training;

import dev.espalier.journal.RunFolder;
import dev.espalier.recipe.Recipe;
import dev.espalier.recipe.RecipeReader;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** A run goes on with the recipe that it was begun with: anything else would be no run of either. */
final class RecipeChanges {
    /** Where things lie and how often they are saved changes nothing. */
    private static final Set<String> HARMLESS =
            Set.of("data.dir", "data.file", "data.loaders", "checkpoint.every", "checkpoint.keep");

    private RecipeChanges() {}

    /** Refuses to go on with another recipe. A folder without one is a run that did not get that far. */
    static void requireSame(RunFolder folder, Recipe recipe) throws IOException {
        if (!Files.exists(folder.recipe())) {
            return;
        }
        Map<String, String> before =
                RecipeReader.read(folder.recipe(), List.of()).settings();
        Map<String, String> now = recipe.settings();
        Set<String> keys = new TreeSet<>(before.keySet());
        keys.addAll(now.keySet());
        keys.removeAll(HARMLESS);
        List<String> changes = new ArrayList<>();
        for (String key : keys) {
            if (!Objects.equals(before.get(key), now.get(key))) {
                changes.add("%s was %s, and is %s now".formatted(key, before.get(key), now.get(key)));
            }
        }
        if (!changes.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s was begun with another recipe: %s; give it the one it had, or another folder"
                            .formatted(folder.path(), String.join("; ", changes)));
        }
    }
}
