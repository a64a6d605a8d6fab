package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.onnxruntime.OrtEnvironment;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Experiment;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trained model is served by a JVM of its own that has nothing but ONNX Runtime on its class path. */
final class ServeRowTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @Test
    void aRawRowBecomesTheNameOfItsClass() throws Exception {
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
        Experiment.of(recipe, run, RunOptions.DEFAULT).begin().orElseThrow();
        assertEquals("dear", serve(run.pruned(), "81000,blue,0.5"));
        assertEquals("cheap", serve(run.pruned(), "21000,blue,0.5"));
        assertEquals("odd", serve(run.model(), "50000,red,0.5"));
    }

    private String serve(Path model, String row) throws IOException, InterruptedException, URISyntaxException {
        Path runtime = Path.of(OrtEnvironment.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path source = Documentation.ROOT.resolve("examples/src/main/java/dev/espalier/examples/ServeRow.java");
        Path output = folder.resolve("output.txt");
        int status = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-classpath",
                        runtime.toString(),
                        source.toString(),
                        model.toString(),
                        row)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
        String said = Files.readString(output, StandardCharsets.UTF_8).strip();
        assertEquals(0, status, said);
        return said;
    }
}
