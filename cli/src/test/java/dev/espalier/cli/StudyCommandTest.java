package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.Trainer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ConnectException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("processes")
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
        return study(List.of(), options);
    }

    private int study(List<String> settings, String... options) {
        List<String> arguments = new ArrayList<>(List.of("study", place("study.toml")));
        arguments.addAll(settings);
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
        assertSame("here", "there", List.of("study.json"));
        for (String trial : List.of("lambda-0.001/seed-1", "lambda-0.01/seed-2")) {
            assertSame("here/" + trial, "there/" + trial, List.of("model.onnx", "pruned.onnx", "recipe.toml"));
            assertTrue(Files.exists(folder.resolve("there").resolve(trial).resolve("report.html")));
        }
        assertTrue(Files.exists(folder.resolve("there/lambda-0.001/report.html")), "no report over the seeds");
        assertTrue(err.toString().contains("lambda-0.01/seed-2: epoch 2 of 2"), err::toString);

        // Again, nothing is left to do but the report that somebody was killed before; with another value, only that
        // is.
        Path report = folder.resolve("here/lambda-0.01/seed-1/report.html");
        Files.delete(report);
        long before = Files.getLastModifiedTime(folder.resolve("here/lambda-0.01/seed-1/model.onnx"))
                .toMillis();
        assertEquals(
                0, study("--run-dir", place("here"), "--set", "axes.penalty.lambda=[1e-3, 5e-3, 1e-2]"), err::toString);
        assertEquals(
                before,
                Files.getLastModifiedTime(folder.resolve("here/lambda-0.01/seed-1/model.onnx"))
                        .toMillis());
        assertTrue(Files.exists(folder.resolve("here/lambda-0.005/seed-2/pruned.onnx")));
        assertTrue(Files.exists(report));
    }

    @Test
    void whereASizeIsRequestedTheTableHasWhatWasReached() {
        List<String> settings = List.of(
                "--set", "study.seeds=[1]", "--set", "study.set=[\"target.kind=groups\", \"target.share=0.5\"]");
        assertEquals(0, study(settings, "--run-dir", place("sized")), err::toString);
        List<String> lines = out.toString().lines().toList();
        assertTrue(lines.getFirst().contains("requested") && lines.getFirst().contains("reached"), out::toString);
        assertEquals(
                2,
                lines.stream()
                        .filter(line -> line.matches("lambda-.* 50\\.0 % of groups +(49|50)\\.\\d %"))
                        .count(),
                out::toString);
    }

    @Test
    void theWorstAreLeftBehindTheSameWayEverywhere() throws IOException {
        Files.writeString(folder.resolve("study.toml"), """
                study.recipe = "digits.toml"
                axes.optimizer.rate = [1e-2, 1e-5]
                halving.first = 1
                """);
        assertEquals(0, study("--run-dir", place("here")), err::toString);
        assertTrue(out.toString().contains("left behind after epoch 1"), out::toString);
        assertTrue(err.toString().contains("rate-1e-5: is left behind (1 of 2)"), err::toString);
        String json = Files.readString(folder.resolve("here/study.json"));
        assertTrue(json.contains("\"left_behind\"") && json.contains("\"finished\""), json);
        assertEquals(0, study("--run-dir", place("there"), "--on", "process", "--jobs", "2"), err::toString);
        assertEquals(json, Files.readString(folder.resolve("there/study.json")));
    }

    /** Somebody who takes long to notice is played by a process that only sleeps. */
    @Test
    void whoTrainsStillIsWaitedFor() throws Exception {
        RunFolder run = new RunFolder(folder.resolve("left/lambda-0.001"));
        Files.createDirectories(run.path());
        Process sleeping = new ProcessBuilder("sleep", "8").start();
        try {
            ProcessHandle handle = sleeping.toHandle();
            JsonFile.write(
                    run.trainerFile(),
                    new Trainer(
                            handle.pid(),
                            handle.info().startInstant().orElseThrow().toEpochMilli()));
            List<String> options = List.of("--set", "study.seeds=[1]", "--jobs", "2");
            assertEquals(0, study(options, "--run-dir", place("left"), "--on", "process"), err::toString);
            assertFalse(sleeping.isAlive());
            assertTrue(err.toString().contains("process %d trains there still".formatted(handle.pid())), err::toString);
        } finally {
            sleeping.destroyForcibly();
        }
    }

    /** What {@code kill -9} of the process that directs does: its children see their input end. */
    @Test
    @Timeout(300)
    void aStudyWhoseDriverIsKilledGoesOnToTheSameBytes() throws Exception {
        List<String> options =
                List.of("--set", "study.seeds=[1]", "--set", "study.set=[\"training.epochs=60\"]", "--jobs", "2");
        List<String> command =
                new ArrayList<>(List.of("study", place("study.toml"), "--run-dir", place("killed"), "--on", "process"));
        command.addAll(options);
        Process driver = new ProcessBuilder(ThisProgram.command(List.of(), command))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("killed.log").toFile())
                .start();
        List<RunFolder> runs = Stream.of("lambda-0.001", "lambda-0.01")
                .map(trial -> new RunFolder(folder.resolve("killed").resolve(trial)))
                .toList();
        List<ProcessHandle> children;
        try {
            while (runs.stream().noneMatch(StudyCommandTest::hasCheckpoint)) {
                assertTrue(driver.isAlive(), () -> said("killed.log"));
                Thread.sleep(20);
            }
            children = driver.children().toList();
        } finally {
            driver.destroyForcibly().waitFor();
        }
        assertFalse(children.isEmpty());
        assertTrue(runs.stream().noneMatch(run -> Files.exists(run.resultFile())), "it was not killed in the middle");
        assertTrue(Files.exists(folder.resolve("killed/driver.json")));

        // At once, as whoever watches over processes would: some of the children may train still.
        assertEquals(0, study(options, "--run-dir", place("killed"), "--on", "process"), err::toString);
        for (ProcessHandle child : children) {
            child.onExit().get(30, TimeUnit.SECONDS);
        }
        assertEquals(0, study(options, "--run-dir", place("whole")), err::toString);
        assertSame("whole", "killed", List.of("study.json"));
        for (RunFolder run : runs) {
            String trial = run.path().getFileName().toString();
            assertSame("whole/" + trial, "killed/" + trial, List.of("model.onnx", "pruned.onnx"));
        }
    }

    private static boolean hasCheckpoint(RunFolder run) {
        try (Stream<Path> files = Files.list(run.checkpoints())) {
            return files.anyMatch(file -> file.toString().endsWith(".state"));
        } catch (IOException _) {
            return false; // not begun
        }
    }

    private void assertSame(String one, String other, List<String> files) throws IOException {
        for (String file : files) {
            assertArrayEquals(
                    Files.readAllBytes(folder.resolve(one).resolve(file)),
                    Files.readAllBytes(folder.resolve(other).resolve(file)),
                    other + "/" + file);
        }
    }

    private String said(String log) {
        try {
            return Files.readString(folder.resolve(log));
        } catch (IOException failure) {
            return failure.toString();
        }
    }

    @Test
    @Timeout(60)
    void thePageIsServedUntilTheStudyEnds() throws Exception {
        CompletableFuture<Integer> status = CompletableFuture.supplyAsync(
                () -> study("--run-dir", place("served"), "--serve", "--set", "study.set=[\"training.epochs=30\"]"));
        Matcher address = Pattern.compile("look at (http://\\S+)").matcher("");
        while (!address.reset(err.toString()).find()) {
            assertFalse(status.isDone(), err::toString);
            Thread.sleep(10);
        }
        HttpRequest page = HttpRequest.newBuilder(URI.create(address.group(1))).build();
        try (HttpClient http = HttpClient.newBuilder()
                .cookieHandler(new CookieManager())
                .followRedirects(HttpClient.Redirect.ALWAYS)
                .build()) {
            HttpResponse<String> answer = http.send(page, HttpResponse.BodyHandlers.ofString());
            assertEquals(200, answer.statusCode());
            assertTrue(answer.body().contains("of 4 trials done"), answer::body);
        }
        assertEquals(0, status.get(), err::toString);
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThrows(ConnectException.class, () -> http.send(page, HttpResponse.BodyHandlers.discarding()));
        }
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
