package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The recipes are in the program. */
final class ShippedRecipeTest {
    @Test
    void aRecipeOfThePaperIsRead() throws IOException {
        Recipe recipe = ShippedRecipe.of("vgg16-cifar10-lasso-proximal", List.of("training.epochs=3"));
        assertEquals(2e-5, recipe.lambda().orElseThrow());
        assertEquals(3, recipe.training().epochs());
    }
}
