package org.example.meteors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kind of data and a kind of task of one's own are trained by a recipe that names them. */
final class MeteorsTest {
    private static final String RECIPE = """
            [data]
            kind = "meteors"
            nights = 1200
            [model]
            kind = "mlp"
            hidden = [16]
            [penalty]
            kind = "group-mcp"
            lambda = 0.05
            beta = 20
            [optimizer]
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 20
            batch_size = 32
            [phases]
            heal_epochs = 5
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void ownKindsAreTrainedPrunedAndReported() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = Experiment.of(Recipe.parse("meteors.toml", RECIPE, List.of()), run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertEquals("mean_error", result.mainMetric().name());
        // Always the mean is wrong by some 4.6; who knows the rate is wrong by 1.6, for the rest is luck.
        double error = result.prunedScores().firstEntry().getValue();
        assertTrue(error < 2, result.toString());
        assertTrue(result.parametersLeft() < 0.6, "eight of ten inputs do not matter: " + result);
        // A task that says nothing of single samples has its page all the same.
        assertEquals(
                new Findings.Outcome.Unknown(), run.findings().orElseThrow().outcome());
    }

    /** Whoever copies this package has to touch nothing else. */
    @Test
    void nothingOfEspalierKnowsThem() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path sources : modules.map(module -> module.resolve("src/main"))
                    .filter(Files::isDirectory)
                    .filter(sources -> !sources.startsWith(Path.of("..", "examples")))
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                            .toList()) {
                        String text = Files.readString(file);
                        assertTrue(!text.contains("org.example") && !text.contains("\"meteors\""), file.toString());
                    }
                }
            }
        }
    }
}
