package dev.espalier.torture.file.reader;

import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Recipes: read, put to use, written out and read again. */
public final class RecipeTarget extends SingleFile {
    static final String RECIPE = """
            [data]
            kind = "digits"

            [model]
            kind = "small-cnn"
            channels = [4, 4]

            [penalty]
            kind = "group-mcp"
            lambda = 0.05
            beta = 20

            [optimizer]
            kind = "adam"
            rate = 2e-3

            [schedule]
            kind = "cosine"

            [training]
            epochs = 20
            batch_size = 64
            prune_for = "size"

            [phases]
            heal_epochs = 4
            heal_rate = 5e-4
            """;

    private static final String TABLE = """
            [data]
            kind = "csv"
            path = "a.csv"
            label = "last"

            [model]
            kind = "mlp"
            hidden = [8]

            [optimizer]
            kind = "sgd"
            rate = 0.1

            [training]
            epochs = 3
            batch_size = 8

            [method]
            kind = "baseline"
            """;

    /** Called by the service loader. */
    public RecipeTarget() {
        super("recipe", Structure.TEXT, "recipe.toml");
    }

    @Override
    public int share() {
        return 2;
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(
                bytes(RECIPE),
                bytes(Recipe.parse("the recipe", RECIPE, List.of()).toToml()),
                bytes(Recipe.parse("the recipe", TABLE, List.of()).toToml()));
    }

    @Override
    public List<String> words() {
        return List.of(
                "[data]",
                "[target]",
                "[pilot]",
                "\"bert\"",
                "\"npy\"",
                "\"group-lasso\"",
                "\"sparse-group-lasso\"",
                "\"step\"",
                "\"latency\"",
                "a.b");
    }

    @Override
    void read(Path file) throws IOException {
        Recipe recipe = Recipe.read(file, List.of());
        recipe.updateRule();
        recipe.stepOptions();
        recipe.groupRules();
        recipe.phases(10);
        recipe.learningRate(10);
        recipe.penaltyInForce();
        Recipe again = Recipe.parse("what was written", recipe.toToml(), List.of());
        if (!again.equals(recipe)) {
            throw new AssertionError("a recipe is another when it is written and read: " + recipe.toToml());
        }
    }
}
