package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Every recipe of the guide, to the end and as it stands there, keeps what a reader expects of it. */
final class GuideRecipesTest {
    /** More groups or parameters than that are hardly a smaller model. */
    private static final double MOST_LEFT = 0.9;

    /** All recipes of the guide are about the digits, where the dense networks get 97 to 99 %. */
    private static final double LEAST_ACCURACY = 0.96;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @TestFactory
    Stream<DynamicTest> everyRecipePrunesAndKeepsItsAccuracy() throws IOException {
        List<Block> recipes = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            if (page.startsWith(Path.of("docs", "guide"))) {
                Block.of(page.toString(), Documentation.text(page)).stream()
                        .filter(block -> block.language().equals("toml"))
                        .forEach(recipes::add);
            }
        }
        assertTrue(recipes.size() >= 3, () -> "there is little to test in " + recipes);
        return recipes.stream().map(block -> DynamicTest.dynamicTest(block.place(), () -> check(block)));
    }

    private void check(Block block) throws IOException {
        Recipe recipe = Recipe.parse(block.place(), block.text(), List.of("training.prune_for=size"));
        if (recipe.model().kind().equals("onnx")) {
            recipe = recipe.with("model.file=" + Sandbox.exported());
        }
        RunFolder run = new RunFolder(folder.resolve(block.place().replaceAll("\\W", "-")));
        List<RunResult> results =
                Experiment.of(recipe, run, RunOptions.DEFAULT).begin().orElseThrow();
        assertEquals(1, results.size(), block.place());
        RunResult result = results.getFirst();
        String what = block.place() + " comes to " + result;
        assertTrue(result.groupsLeft() < MOST_LEFT, what);
        assertTrue(result.parametersLeft() < MOST_LEFT, what);
        assertTrue(result.prunedScores().firstEntry().getValue() >= LEAST_ACCURACY, what);
    }
}
