package dev.espalier.training;

import dev.espalier.journal.RunFolder;
import dev.espalier.recipe.Key;
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
    private RecipeChanges() {}

    /** Refuses to go on with another recipe. A folder without one is a run that did not get that far. */
    static void requireSame(RunFolder folder, Recipe recipe) throws IOException {
        if (!Files.exists(folder.recipe())) {
            return;
        }
        List<String> changes =
                between(RecipeReader.read(folder.recipe(), List.of()).settings(), recipe.settings());
        if (!changes.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s was begun with another recipe: %s; give it the one it had, or another folder"
                            .formatted(folder.path(), String.join("; ", changes)));
        }
    }

    /**
     * What makes two recipes two, in words.
     *
     * @param before values by the paths of their keys
     * @param now those of the other
     */
    static List<String> between(Map<String, String> before, Map<String, String> now) {
        Set<String> paths = new TreeSet<>(before.keySet());
        paths.addAll(now.keySet());
        Recipe.keys().stream().filter(Key::mayChange).map(Key::path).forEach(paths::remove);
        List<String> changes = new ArrayList<>();
        for (String path : paths) {
            if (!Objects.equals(before.get(path), now.get(path))) {
                changes.add("%s was %s, and is %s now".formatted(path, before.get(path), now.get(path)));
            }
        }
        return changes;
    }
}
