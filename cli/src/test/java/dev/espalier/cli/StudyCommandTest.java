package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void write() throws IOException {
        Files.writeString(folder.resolve("digits.toml"), """
                data = { kind = "digits", train_limit = 300, test_limit = 100 }
                model = { kind = "mlp", hidden = [16] }
                penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
                optimizer.rate = 1e-2
                training = { epochs = 2, batch_size = 50 }
                checkpoint.every = 4
                """);
        Files.writeString(folder.resolve("study.toml"), """
                study = { recipe = "digits.toml", seeds = [1, 2] }
                axes.penalty.lambda = [1e-3, 1e-2]
                """);
    }

    private int study(String... options) {
        List<String> arguments =
                new ArrayList<>(List.of("study", folder.resolve("study.toml").toString()));
        arguments.addAll(List.of(options));
        return Main.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments.toArray(String[]::new));
    }

    private String place(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void aPlanTrainsNothing() {
        assertEquals(0, study("--plan", "--run-dir", place("none"), "--set", "halving.first=1"), err::toString);
        String plan = out.toString();
        assertTrue(plan.contains("lambda-0.001/seed-2"), plan);
        assertTrue(plan.contains("4 trials"), plan);
        assertTrue(plan.contains("after epoch 1 of 2, 1 of 2 points go on"), plan);
        assertFalse(Files.exists(folder.resolve("none")));
    }

    @Test
    void processesGiveTheSameBytesAsThisOne() throws IOException {
        assertEquals(0, study("--run-dir", place("here")), err::toString);
        assertEquals(0, study("--run-dir", place("there"), "--on", "process", "--jobs", "2"), err::toString);
        assertArrayEquals(
                Files.readAllBytes(folder.resolve("here/study.json")),
                Files.readAllBytes(folder.resolve("there/study.json")));
        for (String trial : List.of("lambda-0.001/seed-1", "lambda-0.01/seed-2")) {
            for (String file : List.of("model.onnx", "pruned.onnx", "recipe.toml")) {
                assertArrayEquals(
                        Files.readAllBytes(folder.resolve("here").resolve(trial).resolve(file)),
                        Files.readAllBytes(
                                folder.resolve("there").resolve(trial).resolve(file)),
                        trial + "/" + file);
            }
            assertTrue(Files.exists(folder.resolve("there").resolve(trial).resolve("report.html")));
        }
        assertTrue(Files.exists(folder.resolve("there/lambda-0.001/report.html")), "no report over the seeds");
        assertTrue(err.toString().contains("lambda-0.01/seed-2: epoch 2 of 2"), err::toString);

        // Again, nothing is left to do; with another value, only that is.
        long before = Files.getLastModifiedTime(folder.resolve("here/lambda-0.01/seed-1/model.onnx"))
                .toMillis();
        assertEquals(
                0, study("--run-dir", place("here"), "--set", "axes.penalty.lambda=[1e-3, 5e-3, 1e-2]"), err::toString);
        assertEquals(
                before,
                Files.getLastModifiedTime(folder.resolve("here/lambda-0.01/seed-1/model.onnx"))
                        .toMillis());
        assertTrue(Files.exists(folder.resolve("here/lambda-0.005/seed-2/pruned.onnx")));
    }

    @Test
    void aTrialThatFailsIsToldAndTheOthersGoOn() throws IOException {
        Files.writeString(folder.resolve("study.toml"), """
                study.recipe = "digits.toml"
                axes.penalty.pilot = ["nowhere.onnx", ""]
                """);
        assertEquals(1, study("--run-dir", place("half")), err::toString);
        assertTrue(err.toString().contains("pilot-nowhere.onnx: failed: "), err::toString);
        String json = Files.readString(folder.resolve("half/study.json"));
        assertTrue(json.contains("\"failed\"") && json.contains("\"finished\""), json);
    }

    @Test
    void whatIsWrongIsRefused() {
        assertEquals(2, study("--on", "somewhere"));
        assertTrue(err.toString().contains("choose local, process, spark://"), err::toString);
        assertEquals(2, study("--set", "axes.penalty.lamda=[1]"));
        assertTrue(err.toString().contains("the nearest is penalty.lambda"), err::toString);
        assertEquals(2, study("--jobs", "0"));
    }
}
