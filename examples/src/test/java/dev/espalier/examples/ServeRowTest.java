package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trained model is served by a project of its own that has nothing but ONNX Runtime on its class path. */
final class ServeRowTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @Test
    void aRawRowBecomesTheNameOfItsClass() throws Exception {
        OwnProject project = OwnProject.copied("serving", folder);
        Random random = new Random(2);
        StringBuilder table = new StringBuilder("salary,color,share,label\n");
        for (int row = 0; row < 400; row++) {
            double salary = 50_000 + 9_000 * random.nextGaussian();
            String color = random.nextBoolean() ? "blue" : "red";
            String label = color.equals("red") ? "odd" : salary > 50_000 ? "dear" : "cheap";
            table.append(String.format(Locale.ROOT, "%.2f,%s,%.6f,%s%n", salary, color, random.nextDouble(), label));
        }
        Files.writeString(folder.resolve("table.csv"), table);
        Recipe recipe = Recipe.parse("table.toml", """
                data = { kind = "csv", path = "?", label = "label" }
                model = { kind = "mlp", hidden = [12] }
                penalty = { kind = "group-lasso", lambda = 1e-3 }
                optimizer.rate = 1e-2
                training = { epochs = 20, batch_size = 20 }
                """, List.of("data.path=" + folder.resolve("table.csv")));
        RunFolder run = new RunFolder(folder.resolve("run"));
        assertTrue(Experiment.of(recipe, run, RunOptions.DEFAULT).begin().isPresent());
        String output = project.run("-Dmodel=" + run.pruned(), "-Drow=81000,blue,0.5");
        assertSaid("dear", output);
        assertTrue(output.lines().anyMatch(line -> line.matches("1 threads: \\S+ ms a row")), output);
        assertSaid("odd", project.run("-Dmodel=" + run.model(), "-Drow=50000,red,0.5"));
    }

    private static void assertSaid(String line, String output) {
        assertTrue(output.lines().anyMatch(line::equals), output);
    }
}
