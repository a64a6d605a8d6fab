package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.cli.Main;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
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

    /** Dates, empty cells and categories that the model does not know: the sample says what the command says. */
    @Test
    void theSampleAndPredictSayTheSameOfAFile() throws Exception {
        OwnProject project = OwnProject.copied("serving", folder);
        Random random = new Random(4);
        StringBuilder rows = new StringBuilder();
        StringBuilder table = new StringBuilder("when,at,shop,size,label\n");
        for (int row = 0; row < 400; row++) {
            LocalDate day = LocalDate.of(1965, 1, 1).plusDays(random.nextInt(20_000));
            String cells = (random.nextInt(9) == 0 ? "" : day)
                    + (random.nextInt(9) == 0
                            ? ",,"
                            : "," + day.atTime(random.nextInt(24), random.nextInt(60), 7) + "+02:00,")
                    + List.of("", "north", "south").get(random.nextInt(3))
                    + (random.nextInt(9) == 0 ? ",NA" : String.format(Locale.ROOT, ",%.3f", random.nextGaussian()));
            boolean rest = day.getDayOfWeek().getValue() > 5;
            table.append(cells).append(rest ? ",rest\n" : cells.contains("north") ? ",north\n" : ",work\n");
            rows.append(row < 20 ? cells + "\n" : "");
        }
        rows.append("2023-11-19 12:30,2023-11-19T23:59:59Z,west,\n");
        Files.writeString(folder.resolve("table.csv"), table);
        Path asked = Files.writeString(folder.resolve("asked.csv"), "when,at,shop,size\n" + rows);
        Recipe recipe = Recipe.parse("table.toml", """
                data = { kind = "csv", path = "?", label = "label" }
                model = { kind = "mlp", hidden = [16] }
                penalty = { kind = "group-lasso", lambda = 1e-3 }
                optimizer.rate = 1e-2
                training = { epochs = 10, batch_size = 20 }
                """, List.of("data.path=" + folder.resolve("table.csv")));
        RunFolder run = new RunFolder(folder.resolve("run"));
        assertTrue(Experiment.of(recipe, run, RunOptions.DEFAULT).begin().isPresent());
        StringWriter answers = new StringWriter();
        assertEquals(
                0,
                Main.commandLine()
                        .setOut(new PrintWriter(answers))
                        .execute("predict", run.path().toString(), asked.toString()));
        List<String> expected = answers.toString()
                .lines()
                .skip(1)
                .map(line -> line.split(",", -1)[1])
                .toList();
        assertEquals(3, Set.copyOf(expected).size(), answers::toString);
        List<String> said = project.run("-Dmodel=" + run.pruned(), "-Drow=" + rows)
                .lines()
                .filter(List.of("rest", "north", "work")::contains)
                .toList();
        assertEquals(expected, said);
    }

    private static void assertSaid(String line, String output) {
        assertTrue(output.lines().anyMatch(line::equals), output);
    }
}
