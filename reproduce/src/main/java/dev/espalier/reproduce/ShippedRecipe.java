package dev.espalier.reproduce;

import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** The recipes of the folder {@code recipes}, which this program brings along. */
final class ShippedRecipe {
    private ShippedRecipe() {}

    /**
     * A recipe.
     *
     * @param name its file's name without the ending, such as {@code vgg16-cifar10-lasso-proximal}
     * @param overrides other values for its keys, such as {@code data.dir=DIR}
     * @return the recipe
     */
    static Recipe of(String name, List<String> overrides) throws IOException {
        String file = name + ".toml";
        try (InputStream resource = ShippedRecipe.class.getResourceAsStream(file)) {
            String text = new String(
                    Objects.requireNonNull(resource, "the program was built without " + file)
                            .readAllBytes(),
                    StandardCharsets.UTF_8);
            return Recipe.parse(file, text, overrides);
        }
    }
}
