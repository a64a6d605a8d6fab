package dev.espalier.cli;

import dev.espalier.train.recipe.Recipe;
import java.util.Iterator;
import java.util.stream.Stream;

/** What can be typed as {@code KEY=VALUE}: every key of a recipe, and its values where they are words. */
final class RecipeKeys implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
        return Recipe.FORM.keys().stream()
                .flatMap(key ->
                        Stream.concat(Stream.of(""), key.words().stream()).map(value -> key.path() + "=" + value))
                .distinct()
                .iterator();
    }
}
