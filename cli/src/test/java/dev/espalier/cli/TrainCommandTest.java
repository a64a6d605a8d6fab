package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.djl.torch.Gpus;
import dev.espalier.djl.torch.Torch;
import dev.espalier.journal.RunFolder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier train}, {@code demo} and {@code sweep}, from a recipe to the exit status. */
final class TrainCommandTest {
    private static final String RECIPE = """
            [data]
            kind = "digits"
            train_limit = 300
            [model]
            kind = "mlp"
            hidden = [24]
            [penalty]
            kind = "group-mcp"
            lambda = 1e-2
            beta = 10
            [optimizer]
            rate = 1e-2
            [training]
            epochs = 3
            batch_size = 50
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Path recipe;

    @BeforeEach
    void writeRecipe() throws IOException {
        recipe = folder.resolve("small.toml");
        Files.writeString(recipe, RECIPE);
    }

    private static void assertSucceeded(Answer answer) {
        assertEquals(0, answer.exitStatus(), answer.err());
    }

    @Test
    void aRecipeBecomesTwoModelsAndAReport() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Answer answer = Answer.to("train", recipe, "--run-dir", run.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains("epoch 3 of 3, sparsify: loss "), answer.err());
        assertFalse(answer.err().contains("\r"), "a bar, though this is no terminal");
        assertTrue(answer.out().contains("Group sparsity "), answer.out());
        assertTrue(answer.out().contains(run.report().toString()), answer.out());
        for (Path file : List.of(run.model(), run.pruned(), run.report(), run.provenanceFile(), run.metricsFile())) {
            assertTrue(Files.size(file) > 0, file.toString());
        }
        Answer pruned = Answer.to("prune", run.path(), "-o", folder.resolve("again.onnx"));
        assertSucceeded(pruned);
        assertArrayEquals(Files.readAllBytes(run.pruned()), Files.readAllBytes(folder.resolve("again.onnx")));
    }

    @Test
    void severalSeedsGiveMeanAndDeviation() throws IOException {
        Path run = folder.resolve("seeds");
        Answer answer = Answer.to("train", recipe, "--set", "training.seeds=[1,2]", "--run-dir", run);
        assertSucceeded(answer);
        assertTrue(answer.out().contains(" ± "), answer.out());
        assertTrue(Files.exists(new RunFolder(run).seed(2).pruned()));
        assertTrue(Files.readString(new RunFolder(run).report()).contains("±"));
    }

    @Test
    void aModelFromAFileIsTrainedOnFromItsWeights() throws IOException {
        RunFolder first = new RunFolder(folder.resolve("first"));
        RunFolder second = new RunFolder(folder.resolve("second"));
        assertSucceeded(Answer.to("train", recipe, "--run-dir", first.path()));
        assertSucceeded(Answer.to(
                "train",
                recipe,
                "--set",
                "model.kind=onnx",
                "--set",
                "model.file=" + first.pruned(),
                "--run-dir",
                second.path()));
        double fresh = first.metrics().getFirst().trainLoss();
        double continued = second.metrics().getFirst().trainLoss();
        assertTrue(
                continued < 0.6 * fresh,
                "the loss starts at " + continued + ", and at " + fresh + " for fresh weights");
        assertEquals(
                first.result().orElseThrow().parametersAfter(),
                second.result().orElseThrow().parametersBefore());
    }

    /** Neither is part of this program: they are on its class path, and name themselves. */
    @Test
    void aModelAndAPenaltyOfSomebodyElseAreTrainedWith() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        assertSucceeded(Answer.to(
                "train",
                recipe,
                "--set",
                "model.kind=two-ways",
                "--set",
                "model.units=9",
                "--set",
                "penalty.kind=capped-norm",
                "--set",
                "penalty.cap=0.5",
                "--run-dir",
                run.path()));
        String written = Files.readString(run.recipe());
        assertTrue(written.contains("kind = \"two-ways\"\nunits = 9\n"), written);
        assertTrue(written.contains("kind = \"capped-norm\"\nlambda = "), written);
        assertTrue(run.result().orElseThrow().groupSparsity() < 1, "nothing became zero");
        Answer wrong = Answer.to("train", recipe, "--set", "model.kind=two-ways", "--set", "model.units=0");
        assertEquals(2, wrong.exitStatus());
        assertTrue(
                wrong.err().contains("model.units = 0 is not possible: it must be a whole number, at least 1"),
                wrong.err());
    }

    @Test
    void aFolderThatHoldsSomethingIsLeftAloneUnlessTheRunGoesOn() {
        Path run = folder.resolve("run");
        assertSucceeded(Answer.to("train", recipe, "--run-dir", run));
        Answer again = Answer.to("train", recipe, "--run-dir", run);
        assertEquals(2, again.exitStatus());
        assertTrue(again.err().contains("is not empty: go on with what is in it by --resume"), again.err());
        assertSucceeded(Answer.to("train", recipe, "--run-dir", run, "--resume"));
    }

    @Test
    void allMistakesOfARecipeAreTold() throws IOException {
        Files.writeString(recipe, RECIPE.replace("epochs", "epoch").replace("\"mlp\"", "\"mpl\""));
        Answer answer = Answer.to("train", recipe, "--set", "optimizer.rte=1");
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("the nearest is training.epochs"), answer.err());
        assertTrue(answer.err().contains("optimizer.rte"), answer.err());
        assertTrue(answer.err().contains("line 5"), answer.err());
    }

    @Test
    void aTrainingThatGoesNowhereIsGivenUp() {
        Answer answer =
                Answer.to("train", recipe, "--set", "divergence.largest_loss=0.5", "--run-dir", folder.resolve("run"));
        assertEquals(1, answer.exitStatus());
        assertTrue(answer.err().contains("espalier: training was given up: the mean loss is "), answer.err());
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws IOException {
        Path file = folder.resolve("file");
        Files.writeString(file, "");
        Answer answer = Answer.to("train", recipe, "--run-dir", file.resolve("run"));
        assertEquals(1, answer.exitStatus());
        assertTrue(answer.err().contains(file.toString()), answer.err());
    }

    @Test
    void withoutAGpuTheReasonIsGiven() {
        assumeTrue(Torch.gpus() instanceof Gpus.None, "there is a GPU here");
        Answer answer = Answer.to("train", recipe, "--device", "gpu", "--run-dir", folder.resolve("run"));
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("use --device cpu"), answer.err());
    }

    @Test
    void aSweepDrawsTheCurveAndDoesNothingTwice() throws IOException {
        Path sweep = folder.resolve("sweep");
        Answer answer = Answer.to("sweep", recipe, "--lambda", "1e-3:1e-2:2", "--run-dir", sweep);
        assertSucceeded(answer);
        assertTrue(answer.out().lines().anyMatch(line -> line.startsWith("0.001 ")), answer.out());
        assertTrue(Files.readString(sweep.resolve("sweep.html")).contains("lambda-0.01"));
        RunFolder weak = new RunFolder(sweep.resolve("lambda-0.001"));
        RunFolder strong = new RunFolder(sweep.resolve("lambda-0.01"));
        assertTrue(strong.result().orElseThrow().groupSparsity()
                < weak.result().orElseThrow().groupSparsity());

        Files.delete(strong.resultFile());
        Answer resumed = Answer.to("sweep", recipe, "--lambda", "1e-3:1e-2:2", "--run-dir", sweep, "--resume");
        assertSucceeded(resumed);
        assertTrue(strong.result().isPresent());
        assertFalse(resumed.err().contains("epoch"), resumed.err());
    }

    @Test
    void aLambdaThatLeavesNothingIsLeftOutOfTheCurve() throws IOException {
        Path sweep = folder.resolve("sweep");
        Answer answer = Answer.to("sweep", recipe, "--lambda", "1e-3:10:2", "--run-dir", sweep);
        assertSucceeded(answer);
        assertTrue(answer.err().contains("λ = 10.0 is left out: nothing is left of the model"), answer.err());
        assertFalse(answer.out().contains("10.0 "), answer.out());
    }

    @Test
    void aWarmSweepStartsWhereTheRunBeforeEnded() throws IOException {
        Path sweep = folder.resolve("warm");
        assertSucceeded(Answer.to("sweep", recipe, "--lambda", "1e-3:2e-3:2", "--warm-start", "--run-dir", sweep));
        RunFolder second = new RunFolder(sweep.resolve("lambda-0.002"));
        double firstLoss = second.metrics().getFirst().trainLoss();
        assertTrue(firstLoss < 1, "a loss of " + firstLoss + " in the first epoch is one of fresh weights");
    }

    @Test
    void aRangeOfLambdasMustBeOne() {
        for (String range : List.of("1e-3", "1e-3:1e-1", "0:1:3", "1:2:0", "a:b:c")) {
            Answer answer = Answer.to("sweep", recipe, "--lambda", range);
            assertEquals(2, answer.exitStatus());
            assertTrue(answer.err().contains("it must be A:B:N"), answer.err());
        }
    }

    /** The whole of it, as its promise is about what comes out: a good model, and a small one. */
    @Test
    void theDemoKeepsItsPromise() throws IOException {
        Path json = folder.resolve("demo.json");
        Path run = folder.resolve("demo");
        Answer answer = Answer.to("demo", "--run-dir", run, "--json", json);
        assertSucceeded(answer);
        assertTrue(answer.out().contains("dense baseline"), answer.out());
        JsonNode result = new ObjectMapper().readTree(json.toFile());
        for (String share : List.of(
                "baseline_accuracy", "sparse_accuracy", "pruned_accuracy", "group_sparsity", "effective_sparsity")) {
            double value = result.get(share).doubleValue();
            assertTrue(value > 0.05 && value <= 1, share + " = " + value);
        }
        assertTrue(result.get("group_sparsity").doubleValue() < 1);
        assertTrue(result.get("pruned_accuracy").doubleValue() >= 0.97, result.toString());
        assertTrue(result.get("effective_sparsity").doubleValue() <= 0.25, result.toString());
        assertTrue(result.get("max_abs_difference").doubleValue() < 1e-4);
        assertTrue(result.get("seconds").doubleValue() > 0);
        assertEquals(run.toString(), result.get("run_dir").textValue());
        RunFolder files = new RunFolder(run);
        assertTrue(Files.readString(files.report()).contains("baseline"));
        assertTrue(Files.exists(files.baseline().model()));
    }

    /** What Ctrl-C does, in a process of its own. */
    @Test
    void anInterruptedRunLeavesACheckpointAndGoesOn() throws Exception {
        List<String> settings = List.of("--set", "training.epochs=40");
        RunFolder stopped = new RunFolder(folder.resolve("stopped"));
        Process process = start(stopped, settings);
        waitForFirstEvaluation(stopped, process);
        assertEquals(
                0,
                new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                        .start()
                        .waitFor());
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it does not stop");
        assertEquals(130, process.exitValue());
        String told = Files.readString(folder.resolve("stopped.log"));
        assertTrue(told.contains("stopped; go on with --resume --run-dir " + stopped.path()), told);
        assertFalse(Files.exists(stopped.resultFile()));
        try (Stream<Path> checkpoints = Files.list(stopped.checkpoints())) {
            assertTrue(checkpoints.findAny().isPresent());
        }

        List<Object> arguments = new ArrayList<>(List.of("train", recipe, "--run-dir", stopped.path(), "--resume"));
        arguments.addAll(settings);
        assertSucceeded(Answer.to(arguments.toArray()));
        RunFolder whole = new RunFolder(folder.resolve("whole"));
        arguments = new ArrayList<>(List.of("train", recipe, "--run-dir", whole.path()));
        arguments.addAll(settings);
        assertSucceeded(Answer.to(arguments.toArray()));
        assertArrayEquals(Files.readAllBytes(whole.model()), Files.readAllBytes(stopped.model()));
    }

    private Process start(RunFolder run, List<String> settings) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules",
                "jdk.incubator.vector",
                "-Dai.djl.offline=true",
                "-classpath",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "train",
                recipe.toString(),
                "--run-dir",
                run.path().toString()));
        command.addAll(settings);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(new File(run.path() + ".log"))
                .start();
    }

    private static void waitForFirstEvaluation(RunFolder run, Process process) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (run.metrics().isEmpty()) {
            assertTrue(process.isAlive() && System.nanoTime() < end, () -> "it did not get to its first evaluation");
            Thread.sleep(20);
        }
    }
}
