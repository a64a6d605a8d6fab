package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.engine.Device;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.FlushedModel;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Axis;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
            prune_for = "size"
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
        assertTrue(answer.out().contains("Groups kept "), answer.out());
        assertTrue(answer.out().contains(run.report().toString()), answer.out());
        for (Path file : List.of(run.model(), run.pruned(), run.report(), run.provenanceFile(), run.metricsFile())) {
            assertTrue(Files.size(file) > 0, file.toString());
        }
        Answer pruned = Answer.to("prune", run.path(), "--for", "size", "-o", folder.resolve("again.onnx"));
        assertSucceeded(pruned);
        assertArrayEquals(Files.readAllBytes(run.pruned()), Files.readAllBytes(folder.resolve("again.onnx")));
    }

    @Test
    void whatShallBeLeftIsAllThatOneHasToSay() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Files.writeString(recipe, RECIPE.replace("lambda = 1e-2\n", ""));
        Answer answer =
                Answer.to("train", recipe, "--keep", "30%", "--set", "training.epochs=25", "--run-dir", run.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains("λ starts at "), answer.err());
        assertEquals(0.3, run.result().orElseThrow().parametersLeft(), 0.01);
        assertTrue(answer.out().lines().anyMatch(line -> line.startsWith("requested ") && line.contains("30.0 %")));
        assertTrue(answer.out().lines().anyMatch(line -> line.startsWith("reached ")), answer.out());
        String written = Files.readString(run.recipe());
        assertTrue(written.contains("kind = \"parameters\"\nshare = 0.3\n"), written);
        for (String wrong : List.of("30", "0", "100%", "layers=30%", "much", "0.1.2")) {
            Answer refused = Answer.to("train", recipe, "--keep", wrong);
            assertEquals(2, refused.exitStatus());
            assertTrue(refused.err().contains("--keep " + wrong + " is not possible"), refused.err());
            assertTrue(refused.err().contains("flops=30%"), refused.err());
        }
    }

    @Test
    void itCanBeAShareOfTheMilliseconds() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Answer answer = Answer.to(
                "train", recipe, "--keep", "latency=60%", "--set", "training.epochs=1", "--run-dir", run.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains("measuring what layers take in ONNX Runtime"), answer.err());
        assertTrue(Files.readString(run.pricesFile()).contains("\"prices\""), run.pricesFile()::toString);
    }

    @Test
    void aBaselineIsShownBeside() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Answer answer = Answer.to("train", recipe, "--baseline", "--set", "training.epochs=1", "--run-dir", run.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains("dense: epoch 1 of 1"), answer.err());
        assertTrue(answer.out().contains("original "), answer.out());
        assertEquals(0, run.baseline().result().orElseThrow().lambda());
        assertTrue(Files.readString(run.report()).contains(" points to the original"));
        Answer without = Answer.to("train", recipe, "--baseline", "--set", "method.kind=baseline");
        assertEquals(2, without.exitStatus());
        assertTrue(without.err().contains("leave --baseline out"), without.err());
    }

    @Test
    void aSweepHasALineForItsBaseline() throws IOException {
        RunFolder sweep = new RunFolder(folder.resolve("sweep"));
        Answer answer = Answer.to(
                "sweep",
                recipe,
                "--lambda",
                "1e-3:1e-2:2",
                "--baseline",
                "--set",
                "training.epochs=1",
                "--run-dir",
                sweep.path());
        assertSucceeded(answer);
        assertTrue(answer.out().contains("original "), answer.out());
        assertTrue(Files.readString(sweep.sweepReport()).contains("aseline"));
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
        Answer answer = Answer.to(
                "train",
                recipe,
                "--set",
                "model.kind=onnx",
                "--set",
                "model.file=" + first.pruned(),
                "--run-dir",
                second.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains("epoch 0 of 3, before training: accuracy "), answer.err());
        Metrics before = second.metrics().getFirst();
        assertEquals(0, before.epoch());
        assertEquals(Metrics.BEFORE, before.phase());
        assertEquals(first.metrics().getLast().scores(), before.scores());
        assertTrue(Files.readString(second.report()).contains("\"points\":[[0,"), "no epoch 0 in the curves");
        assertEquals(1, first.metrics().getFirst().epoch());
        double fresh = first.metrics().getFirst().trainLoss();
        double continued = second.metrics().get(1).trainLoss();
        assertTrue(
                continued < 0.6 * fresh,
                "the loss starts at " + continued + ", and at " + fresh + " for fresh weights");
        assertEquals(
                first.result().orElseThrow().parametersAfter(),
                second.result().orElseThrow().parametersBefore());
    }

    /** As subgradients and decay leave them: ONNX Runtime takes many times as long with them. */
    @Test
    void subnormalWeightsAreFlushedWhenTheModelIsWritten() throws IOException {
        RunFolder first = new RunFolder(folder.resolve("first"));
        RunFolder second = new RunFolder(folder.resolve("second"));
        assertSucceeded(Answer.to("train", recipe, "--run-dir", first.path()));
        Graph trained = OnnxReader.read(first.model()).graph();
        Map<String, Tensor> faded = new TreeMap<>();
        trained.tensors(Initializer.Kind.PARAMETER)
                .forEach((name, tensor) -> faded.put(
                        name,
                        Tensor.compute(
                                tensor.type(),
                                tensor.shape(),
                                i -> i % 3 == 0 ? 1e-40 * tensor.getDouble(i) : tensor.getDouble(i))));
        Path file = folder.resolve("faded.onnx");
        OnnxWriter.write(trained.withTensors(faded), file);
        Answer answer = Answer.to(
                "train",
                recipe,
                "--set",
                "model.kind=onnx",
                "--set",
                "model.file=" + file,
                "--set",
                "method.kind=baseline",
                "--set",
                "penalty.kind=none",
                "--set",
                "optimizer.kind=sgd",
                "--set",
                "optimizer.rate=1e-38",
                "--run-dir",
                second.path());
        assertSucceeded(answer);
        assertTrue(answer.err().contains(" weights below 7.9e-31 were set to zero"), answer.err());
        assertTrue(FlushedModel.count(OnnxReader.read(file).graph()) > 0);
        assertEquals(0, FlushedModel.count(OnnxReader.read(second.model()).graph()));
        assertEquals(0, FlushedModel.count(OnnxReader.read(second.pruned()).graph()));
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
        assertTrue(run.result().orElseThrow().groupsLeft() < 1, "nothing became zero");
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
    void aTrainingThatGoesNowhereIsGivenUpAndItsReportSaysWhy() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Answer answer = Answer.to("train", recipe, "--set", "divergence.largest_loss=0.5", "--run-dir", run.path());
        assertEquals(1, answer.exitStatus());
        assertTrue(answer.err().contains("espalier: training was given up: the mean loss is "), answer.err());
        String reason = run.reason().orElseThrow();
        assertTrue(answer.err().contains(reason), reason);
        assertTrue(Files.readString(run.report()).contains("The training was given up: " + reason));
        Files.delete(run.report());
        assertSucceeded(Answer.to("report", run.path()));
        assertTrue(Files.readString(run.report()).contains("The training was given up: " + reason));
    }

    @Test
    void whatFailsBeforeTheTrainingLeavesNoFolder() {
        Path run = folder.resolve("run");
        List<List<String>> failures = List.of(
                List.of("data.kind=mnist", "data.dir=" + folder.resolve("missing")),
                List.of("model.kind=onnx", "model.file=" + folder.resolve("missing.onnx")));
        for (List<String> settings : failures) {
            for (String seeds : List.of("[1]", "[1,2]")) {
                for (List<String> command : List.of(List.of("train"), List.of("sweep", "--lambda", "1e-3:1e-2:2"))) {
                    List<Object> arguments = new ArrayList<>(command);
                    arguments.addAll(List.of(recipe, "--run-dir", run, "--set", "training.seeds=" + seeds));
                    settings.forEach(setting -> arguments.addAll(List.of("--set", setting)));
                    Answer answer = Answer.to(arguments.toArray());
                    assertTrue(answer.exitStatus() != 0, () -> arguments + " does not fail");
                    assertFalse(Files.exists(run), () -> arguments + " leaves a folder");
                }
            }
        }
    }

    /** A stop, a start that fails on missing data, and what versions that left a folder behind for that have left. */
    @Test
    void goingOnTakesTheNewestRunThatHasSomethingToGoOnFrom() throws Exception {
        Path runs = folder.resolve("runs");
        RunFolder stopped = new RunFolder(runs.resolve("small-20260101-000000"));
        AtomicInteger steps = new AtomicInteger();
        assertTrue(Experiment.of(
                        Recipe.read(recipe, List.of()),
                        stopped,
                        RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 8))
                .begin()
                .isEmpty());
        RunFolder lost = new RunFolder(runs.resolve("small-20260102-000000"));
        Files.createDirectory(lost.path());
        Files.copy(stopped.recipe(), lost.recipe());
        Path empty = Files.createDirectory(runs.resolve("small-20260103-000000"));
        Files.createDirectory(runs.resolve("smaller-20260104-000000"));

        List<String> resume = List.of("train", recipe.toString(), "--resume");
        Process process = start(folder.resolve("resumed.log"), resume);
        assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it does not end");
        String told = Files.readString(folder.resolve("resumed.log"));
        assertEquals(0, process.exitValue(), told);
        assertTrue(
                told.contains(
                        "going on with runs/small-20260101-000000; the newer runs/small-20260103-000000 has nothing"
                                + " in it; the newer runs/small-20260102-000000 ended before its first checkpoint"),
                told);
        assertFalse(told.contains("epoch 1 of 3"), told);
        assertTrue(stopped.result().isPresent());

        try (Stream<Path> files = Files.walk(stopped.path())) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
        process = start(folder.resolve("refused.log"), resume);
        assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it does not end");
        told = Files.readString(folder.resolve("refused.log"));
        assertEquals(2, process.exitValue(), told);
        assertTrue(told.contains("runs/small-20260102-000000 ended before its first checkpoint"), told);
        assertTrue(told.contains("start anew without --resume"), told);

        Answer again = Answer.to("train", recipe, "--resume", "--run-dir", lost.path());
        assertSucceeded(again);
        assertTrue(again.err().contains("has no checkpoint that could be gone on from"), again.err());
        assertTrue(again.err().contains("epoch 1 of 3"), again.err());
        Answer begun = Answer.to("train", recipe, "--resume", "--run-dir", empty);
        assertSucceeded(begun);
        assertTrue(begun.err().contains("there is nothing to go on with in " + empty), begun.err());
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
    void aFolderInPlaceOfARecipeIsTold() throws IOException {
        Answer answer = Answer.to("train", folder);
        assertEquals(2, answer.exitStatus());
        assertEquals(
                "espalier: %s is a folder, and a recipe is a TOML file: there is %s%n".formatted(folder, recipe),
                answer.err());
        Path run = Files.createDirectory(folder.resolve("run"));
        Files.copy(recipe, run.resolve("recipe.toml"));
        assertTrue(Answer.to("train", run)
                .err()
                .contains("give %s --run-dir %s --resume".formatted(run.resolve("recipe.toml"), run)));
    }

    /** A run without its model and its result, as one that was stopped. */
    @Test
    void whatAnUnfinishedRunHasSoFarCanBeLookedAtAndPruned() throws IOException {
        Path run = folder.resolve("run");
        assertSucceeded(Answer.to("train", recipe, "--run-dir", run, "--set", "checkpoint.every=6"));
        RunFolder stopped = new RunFolder(run);
        Files.delete(stopped.resultFile());
        Files.delete(stopped.model());
        for (String command : List.of("prune", "inspect")) {
            Answer refused = Answer.to(command, run);
            assertEquals(2, refused.exitStatus());
            assertEquals(
                    "espalier: %s is a run that is not finished: it has no model.onnx. Go on with it by espalier train %s --run-dir %s"
                                    .formatted(run, stopped.recipe(), run)
                            + " --resume, or take the model as it is in a checkpoint: --checkpoint latest, or one of the"
                            + " steps [12, 18]\n",
                    refused.err());
        }
        Path small = folder.resolve("small.onnx");
        Answer latest = Answer.to("prune", run, "--checkpoint", "latest", "-o", small, "--for", "size");
        assertSucceeded(latest);
        assertTrue(latest.out().startsWith("the model of " + run + " after step 18\n"), latest.out());
        assertTrue(Files.size(small) > 0);
        assertSucceeded(Answer.to("inspect", run, "--checkpoint", "12"));
        assertSucceeded(Answer.to("convert", run, folder.resolve("twelve.onnx"), "--checkpoint", "12"));
        Answer unknown = Answer.to("prune", run, "--checkpoint", "7", "-o", small, "--for", "size");
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().contains("there are those of steps [12, 18]"), unknown.err());
        assertTrue(Answer.to("inspect", run, "--checkpoint", "last").err().contains("it must be latest"));
        assertTrue(Answer.to("prune", run, "--checkpoint", "latest", "--for", "size")
                .err()
                .contains("nowhere to write"));
        Answer none = Answer.to("inspect", folder, "--checkpoint", "latest");
        assertTrue(none.err().contains("there are no checkpoints in"), none.err());
    }

    @Test
    void withoutAGpuTheReasonIsGiven() {
        assumeTrue(Device.gpu(0).whyNot().isPresent(), "there is a GPU here");
        Answer answer = Answer.to("train", recipe, "--device", "gpu", "--run-dir", folder.resolve("run"));
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("use --device cpu"), answer.err());
    }

    /** Stopped after a few steps, and as if it had been begun on another device. */
    private RunFolder begunOn(String device) throws IOException {
        RunFolder run = new RunFolder(folder.resolve("begun"));
        AtomicInteger steps = new AtomicInteger();
        assertTrue(Experiment.of(
                        Recipe.read(recipe, List.of()),
                        run,
                        RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 8))
                .begin()
                .isEmpty());
        String cpu = "\"device\" : \"cpu\"";
        String provenance = Files.readString(run.provenanceFile());
        assertTrue(provenance.contains(cpu), provenance);
        Files.writeString(run.provenanceFile(), provenance.replace(cpu, "\"device\" : \"" + device + "\""));
        return run;
    }

    @Test
    void withoutAWordTheDeviceIsTheCpuWhereThereIsNoGpuAndNothingIsSaidOfIt() throws IOException {
        assumeTrue(CudaSteps.whyNoGpu().isPresent(), "there is a GPU here");
        RunFolder run = begunOn("cpu");
        Answer resumed = Answer.to("train", recipe, "--run-dir", run.path(), "--resume");
        assertSucceeded(resumed);
        assertFalse(resumed.err().toLowerCase(Locale.ROOT).contains("gpu"), resumed.err());
        RunFolder fresh = new RunFolder(folder.resolve("fresh"));
        assertSucceeded(Answer.to("train", recipe, "--run-dir", fresh.path(), "--device", "AUTO"));
        assertEquals("cpu", fresh.provenance().device());
        assertArrayEquals(Files.readAllBytes(fresh.model()), Files.readAllBytes(run.model()));
    }

    @Test
    void whatWasBegunOnAnotherDeviceDoesNotChangeItWithoutAWord() throws IOException {
        assumeTrue(CudaSteps.whyNoGpu().isPresent(), "there is a GPU here");
        RunFolder run = begunOn("gpu:1");
        Answer refused = Answer.to("train", recipe, "--run-dir", run.path(), "--resume");
        assertEquals(2, refused.exitStatus());
        assertTrue(refused.err().contains("was begun with --device gpu:1"), refused.err());
        assertTrue(refused.err().contains("with --device cpu it goes on"), refused.err());
        assertSucceeded(Answer.to("train", recipe, "--run-dir", run.path(), "--resume", "--device", "cpu"));
    }

    @Test
    void aDeviceThatIsNoneIsRefusedWithThoseThatAre() {
        Answer answer = Answer.to("train", recipe, "--device", "tpu", "--run-dir", folder.resolve("run"));
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("there is no device \"tpu\": it must be cpu, gpu"), answer.err());
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
        assertTrue(strong.result().orElseThrow().groupsLeft()
                < weak.result().orElseThrow().groupsLeft());

        Files.delete(strong.resultFile());
        Answer resumed = Answer.to("sweep", recipe, "--lambda", "1e-3:1e-2:2", "--run-dir", sweep, "--resume");
        assertSucceeded(resumed);
        assertTrue(strong.result().isPresent());
        assertFalse(resumed.err().contains("epoch"), resumed.err());

        Files.delete(sweep.resolve("sweep.html"));
        Answer report = Answer.to("report", sweep);
        assertSucceeded(report);
        assertEquals(sweep.resolve("sweep.html").toString(), report.out().strip());
        assertTrue(Files.readString(sweep.resolve("sweep.html")).contains("lambda-0.01"));
        assertSucceeded(Answer.to("report", sweep, weak.path(), "-o", folder.resolve("all.html")));
        Answer inspected = Answer.to("inspect", sweep);
        assertEquals(2, inspected.exitStatus());
        assertTrue(
                inspected.err().contains("holds several runs: give one of " + weak.path() + ", " + strong.path()),
                inspected.err());
    }

    @Test
    void lambdasAreWrittenAsPeopleDo() {
        assertEquals("5e-4", Axis.number(5e-4));
        assertEquals("3.125e-5", Axis.number(3.125e-5));
        assertEquals("0.0125", Axis.number(0.0125));
        assertEquals("10", Axis.number(10));
    }

    @Test
    void aLambdaThatLeavesNothingIsLeftOutOfTheCurve() throws IOException {
        Path sweep = folder.resolve("sweep");
        Answer answer = Answer.to("sweep", recipe, "--lambda", "1e-3:10:2", "--run-dir", sweep);
        assertSucceeded(answer);
        assertTrue(answer.err().contains("λ = 10 is omitted: all groups of "), answer.err());
        assertFalse(answer.out().lines().anyMatch(line -> line.startsWith("10 ")), answer.out());
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
        assertTrue(answer.out().contains("original "), answer.out());
        JsonNode result = new ObjectMapper().readTree(json.toFile());
        for (String share :
                List.of("baseline_accuracy", "sparse_accuracy", "pruned_accuracy", "groups_left", "parameters_left")) {
            double value = result.get(share).doubleValue();
            assertTrue(value > 0.05 && value <= 1, share + " = " + value);
        }
        assertTrue(result.get("groups_left").doubleValue() < 1);
        assertTrue(result.get("pruned_accuracy").doubleValue() >= 0.97, result.toString());
        assertTrue(result.get("parameters_left").doubleValue() <= 0.25, result.toString());
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
        List<String> train = new ArrayList<>(
                List.of("train", recipe.toString(), "--run-dir", stopped.path().toString()));
        train.addAll(settings);
        Process process = start(folder.resolve("stopped.log"), train);
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

    /** A process of its own, in the test's folder. */
    private Process start(Path log, List<String> arguments) throws IOException {
        return new ProcessBuilder(ThisProgram.command(List.of(), arguments))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
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
