package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What trained models say of tables and images, and how well they do. */
final class PredictCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static RunFolder run;

    @BeforeAll
    static void train() throws IOException {
        Random random = new Random(1);
        Files.createDirectory(folder.resolve("data"));
        for (String part : List.of("train", "test")) {
            StringBuilder table = new StringBuilder("salary,color,label\n");
            for (int row = 0; row < 200; row++) {
                double salary = 50_000 + 9_000 * random.nextGaussian();
                String color = random.nextBoolean() ? "blue" : "red";
                String label = color.equals("red") ? "odd, \"really\"" : salary > 50_000 ? "dear" : "cheap";
                table.append(
                        String.format(Locale.ROOT, "%.2f,%s,\"%s\"%n", salary, color, label.replace("\"", "\"\"")));
            }
            Files.writeString(folder.resolve("data").resolve(part + ".csv"), table);
        }
        run = train("table", """
                data = { kind = "csv", path = "%s", label = "label" }
                model = { kind = "mlp", hidden = [12] }
                penalty = { kind = "group-lasso", lambda = 1e-3 }
                optimizer.rate = 1e-2
                training = { epochs = 20, batch_size = 20 }
                """.formatted(folder.resolve("data")));
    }

    private static RunFolder train(String name, String recipe) throws IOException {
        Path file = folder.resolve(name + ".toml");
        Files.writeString(file, recipe);
        RunFolder made = new RunFolder(folder.resolve(name));
        Answer answer = Answer.to("train", file, "--run-dir", made.path());
        assertEquals(0, answer.exitStatus(), answer.err());
        return made;
    }

    private static Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    @Test
    void rowsBecomeClassNames() throws IOException {
        Path rows = write("rows.csv", "id,color,salary\n1,blue,80000\n2,blue,20000\n3,red,50000\n4,red,\n");
        Answer csv = Answer.to("predict", run.path(), rows);
        assertEquals(0, csv.exitStatus(), csv.err());
        assertTrue(csv.err().matches("(?s).*ONNX Runtime uses \\d+ threads? \\(\\S+ ms a batch.*"), csv.err());
        List<String> lines = csv.out().lines().toList();
        assertEquals("line,label,probability", lines.get(0));
        assertTrue(lines.get(1).startsWith("2,dear,"), csv.out());
        assertTrue(lines.get(2).startsWith("3,cheap,"), csv.out());
        assertTrue(lines.get(3).startsWith("4,\"odd, \"\"really\"\"\","), csv.out());
        assertTrue(lines.get(4).startsWith("5,\"odd, \"\"really\"\"\","), "a missing number: " + csv.out());

        Answer json = Answer.to("predict", run.model(), rows, "--format", "jsonl", "--threads", "1");
        assertEquals(0, json.exitStatus(), json.err());
        assertFalse(json.err().contains("ONNX Runtime uses"), json.err());
        JsonNode third = JsonMapper.builder()
                .build()
                .readTree(json.out().lines().toList().get(2));
        assertEquals("odd, \"really\"", third.path("label").asText());
        assertTrue(third.path("probability").asDouble() > 0.5, json.out());
    }

    @Test
    void theTestPartIsJudgedAsTheRunJudgedIt() throws IOException {
        RunResult result = run.result().orElseThrow();
        var score = result.prunedScores().firstEntry();
        String expected = "accuracy " + score.getKey().write(score.getValue());
        Path test = folder.resolve("data").resolve("test.csv");
        Answer answer = Answer.to("evaluate", run.path(), test);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains(expected), answer.out());
        // Alone, without its recipe.
        Path alone = Files.copy(run.pruned(), folder.resolve("alone.onnx"));
        assertTrue(Answer.to("evaluate", alone, test).out().contains(expected));
    }

    @Test
    void theTestPartOfDataThatARecipeCanNameNeedsNoFile() throws IOException {
        RunFolder digits = train("digits", """
                data = { kind = "digits", train_limit = 300, test_limit = 200 }
                model = { kind = "mlp", hidden = [24] }
                penalty = { kind = "group-lasso", lambda = 1e-3 }
                optimizer.rate = 1e-2
                training = { epochs = 3, batch_size = 20 }
                """);
        var score = digits.result().orElseThrow().prunedScores().firstEntry();
        String expected = "accuracy " + score.getKey().write(score.getValue());
        assertJudged(Answer.to("evaluate", digits.path()), expected, "200 rows of");
        // Alone, without its recipe.
        Path alone = Files.copy(digits.pruned(), folder.resolve("digits.onnx"));
        assertJudged(
                Answer.to("evaluate", alone, "--set", "data.kind=digits", "--set", "data.test_limit=200"),
                expected,
                "200 rows of");
        assertJudged(Answer.to("evaluate", digits.path(), "--set", "data.test_limit=100"), "100 rows of");
        // Of the table, the same rows as when the file is named.
        Answer named = Answer.to("evaluate", run.path(), folder.resolve("data").resolve("test.csv"));
        assertJudged(
                Answer.to("evaluate", run.path()),
                named.out().lines().findFirst().orElseThrow(),
                "200 rows of");

        assertRefused(Answer.to("evaluate", alone), "no recipe.toml beside", "give a FILE", "--set data.kind=");
        assertRefused(Answer.to("evaluate", alone, "--set", "data.kind=nothing"), "data.kind", "digits");
        assertRefused(
                Answer.to("evaluate", alone, folder.resolve("data"), "--set", "data.kind=digits"), "give one of them");
        Path table = Files.copy(run.pruned(), folder.resolve("table.onnx"));
        assertRefused(Answer.to("evaluate", table, "--set", "data.kind=digits"), "salary", "image");
    }

    private static void assertJudged(Answer answer, String... words) {
        assertEquals(0, answer.exitStatus(), answer.err());
        for (String word : words) {
            assertTrue(answer.out().contains(word), answer.out());
        }
    }

    private static void assertRefused(Answer answer, String... words) {
        assertTrue(answer.exitStatus() != 0, answer.out());
        for (String word : words) {
            assertTrue(answer.err().contains(word), answer.err());
        }
    }

    @Test
    void whatIsWrongIsSaidWithTheMend() throws IOException {
        assertRefused(write("missing.csv", "salary,colour\n1,red\n"), "there is no column color", "[salary, colour]");
        assertRefused(write("text.csv", "salary,color\nmuch,red\n"), "'much' in column salary");
        assertRefused(write("other.csv", "salary;color\n1;red\n"), "--delimiter");
        assertRefused(folder.resolve("nowhere.csv"), "nowhere.csv");
        Answer mixed = Answer.to(
                "predict",
                run.path(),
                write("comma.csv", "salary;color\n80000,5;blue\n"),
                "--delimiter",
                ";",
                "--decimal",
                ",");
        assertTrue(mixed.out().contains("2,dear,"), mixed.out() + mixed.err());
    }

    /** As in the test part of a training, it is none of the categories; nobody should miss that. */
    @Test
    void aCategoryThatTheModelDoesNotKnowIsNoneOfItsOwnAndIsTold() throws IOException {
        Answer answer =
                Answer.to("predict", run.path(), write("unknown.csv", "salary,color\n1,purple\n2,red\n3,green\n4,\n"));
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(5, answer.out().lines().count(), answer.out());
        for (String words : List.of("column color has 2 values", "'purple' in line 2", "[blue, red]")) {
            assertTrue(answer.err().contains(words), answer.err());
        }
    }

    /** Days, a place in the week, a time, and empty cells: what a run says of its test part, predict and evaluate say too. */
    @Test
    void rowsWithDatesAndEmptyCellsAreAnswered() throws IOException {
        Random random = new Random(2);
        Files.createDirectory(folder.resolve("days"));
        for (String part : List.of("train", "test")) {
            StringBuilder table = new StringBuilder("when,shop,label\n");
            for (int row = 0; row < 400; row++) {
                LocalDate day = LocalDate.of(2020, 1, 1).plusDays(random.nextInt(1500));
                table.append(
                                random.nextInt(20) == 0
                                        ? ""
                                        : day.atTime(random.nextInt(24), 30)
                                                .toString()
                                                .replace('T', ' '))
                        .append(random.nextInt(10) == 0 ? ",," : random.nextBoolean() ? ",north," : ",south,")
                        .append(day.getDayOfWeek().getValue() > 5 ? "closed" : "open")
                        .append('\n');
            }
            Files.writeString(folder.resolve("days").resolve(part + ".csv"), table);
        }
        RunFolder days = train("days-run", """
                data = { kind = "csv", path = "%s", label = "label" }
                model = { kind = "mlp", hidden = [16] }
                penalty = { kind = "group-lasso", lambda = 1e-3 }
                optimizer.rate = 1e-2
                training = { epochs = 20, batch_size = 20 }
                """.formatted(folder.resolve("days")));
        var score = days.result().orElseThrow().prunedScores().firstEntry();
        assertTrue(score.getValue() > 0.9, score::toString);
        Path test = folder.resolve("days").resolve("test.csv");
        String expected = "accuracy " + score.getKey().write(score.getValue());
        assertJudged(Answer.to("evaluate", days.path(), test), expected);
        assertJudged(Answer.to("evaluate", days.path()), expected);
        Answer said = Answer.to(
                "predict", days.path(), write("days.csv", "shop,when\nnorth,2023-11-19\n,2023-11-20T12:00\nsouth,\n"));
        assertEquals(0, said.exitStatus(), said.err());
        List<String> lines = said.out().lines().toList();
        assertTrue(lines.get(1).startsWith("2,closed,") && lines.get(2).startsWith("3,open,"), said.out());
        assertRefused(
                Answer.to(
                        "predict",
                        days.path(),
                        write("bad.csv", "shop,when\nnorth,19.11.2023\nnorth,2023-11-19T12:00Z\n")),
                "bad.csv, line 2: '19.11.2023' in column when: expected a date such as 2024-03-05",
                "bad.csv, line 3",
                "has an offset from UTC");
    }

    @Test
    void allThatIsWrongIsSaidAtOnce() throws IOException {
        Answer answer = Answer.to(
                "predict", run.path(), write("wrong.csv", "salary,color\nmuch,purple\n1,red\n1,red,2\n2,green\n"));
        assertTrue(answer.exitStatus() != 0, answer.out());
        assertEquals("", answer.out());
        for (String words : List.of(
                "2 problems",
                "wrong.csv, line 2: 'much' in column salary",
                "wrong.csv, line 4: 3 fields: expected 2")) {
            assertTrue(answer.err().contains(words), answer.err());
        }
        Answer many = Answer.to("predict", run.path(), write("many.csv", "salary,color\n" + "much,red\n".repeat(1020)));
        assertTrue(many.err().contains("1,020 problems") && many.err().contains("and 1,000 more"), many.err());
        assertRefused(Path.of("-"), "standard input is not read by the name -", "/dev/stdin");
    }

    @Test
    void rowsOfJsonLinesAndParquetAreReadToo() throws IOException, SQLException {
        String expected = "dear,cheap,\"odd, \"\"really\"\"\"";
        Path json = write("rows.jsonl", """
                {"color": "blue", "salary": 80000, "id": 1}
                {"color": "blue", "salary": 2e4}
                {"color": "red", "salary": null}
                """);
        assertEquals(expected, classes(json));
        Path parquet = folder.resolve("it's.parquet");
        try (Connection database = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = database.createStatement()) {
            statement.execute(
                    "copy (select row_number() over () as id, color, salary, label from (values ('blue', 80000.5, 'dear'), "
                            + "('blue', 2e4, 'cheap'), ('red', null, 'odd, \"really\"')) as rows(color, salary, label)) to '%s'"
                                    .formatted(parquet.toString().replace("'", "''")));
        }
        assertEquals(expected, classes(parquet));
        Answer judged = Answer.to("evaluate", run.path(), parquet);
        assertTrue(judged.out().contains("accuracy 100.0 %"), judged.out() + judged.err());
        Path other = folder.resolve("other.parquet");
        try (Connection database = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = database.createStatement()) {
            statement.execute("copy (select 'red' as color, 'much' as salary) to '%s'".formatted(other));
        }
        assertRefused(other, "other.parquet, row 1: 'much' in column salary");
        Answer lacking = Answer.to("evaluate", run.path(), other);
        assertTrue(lacking.err().contains("there is no column label"), lacking.err());
        assertRefused(folder.resolve("nowhere.parquet"), "nowhere.parquet");
        assertRefused(write("false.parquet", "no such thing"), "false.parquet");
    }

    private static String classes(Path rows) {
        Answer answer = Answer.to("predict", run.path(), rows);
        assertEquals(0, answer.exitStatus(), answer.err());
        return answer.out()
                .lines()
                .skip(1)
                .map(line -> line.substring(line.indexOf(',') + 1, line.lastIndexOf(',')))
                .collect(Collectors.joining(","));
    }

    /** The command line has the module table; a program that uses the libraries need not have it. */
    @Test
    void whereNobodyReadsParquetTheMendIsSaid() throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader usual = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        try {
            assertRefused(write("some.parquet", ""), "espalier-table", "CSV");
        } finally {
            thread.setContextClassLoader(usual);
        }
    }

    private static void assertRefused(Path file, String... words) {
        assertRefused(Answer.to("predict", run.path(), file), words);
    }

    @Test
    void imagesOfAnySizeAreClassified() throws IOException {
        for (String part : List.of("dark", "light")) {
            Path own = Files.createDirectories(folder.resolve("images").resolve(part));
            for (int i = 0; i < 20; i++) {
                BufferedImage image = new BufferedImage(8, 8, BufferedImage.TYPE_BYTE_GRAY);
                for (int pixel = 0; pixel < 64; pixel++) {
                    image.getRaster().setSample(pixel % 8, pixel / 8, 0, (part.equals("dark") ? 40 : 180) + i);
                }
                ImageIO.write(image, "png", own.resolve(i + ".png").toFile());
            }
        }
        RunFolder trained = train("pictures", """
                data = { kind = "images", dir = "%s", size = 8, channels = 1 }
                model = { kind = "small-cnn", channels = [4] }
                method.kind = "baseline"
                optimizer.rate = 1e-2
                training = { epochs = 20, batch_size = 8 }
                """.formatted(folder.resolve("images")));
        Answer said = Answer.to(
                "predict", trained.path(), folder.resolve("images/dark/3.png"), folder.resolve("images/light/4.png"));
        List<String> lines = said.out().lines().toList();
        assertTrue(lines.get(1).contains("3.png,dark,"), said.out() + said.err());
        assertTrue(lines.get(2).contains("4.png,light,"), said.out());
        Answer broken = Answer.to(
                "predict",
                trained.path(),
                write("broken.png", "no image"),
                folder.resolve("images/dark/3.png"),
                folder.resolve("nowhere.png"));
        assertTrue(broken.err().contains("2 problems"), broken.err());
        assertTrue(broken.err().contains("broken.png: "), broken.err());
        assertTrue(broken.err().contains("nowhere.png: "), broken.err());
        Answer judged = Answer.to("evaluate", trained.path(), folder.resolve("images"));
        assertTrue(judged.out().contains("accuracy 100.0 %"), judged.out() + judged.err());
    }
}
