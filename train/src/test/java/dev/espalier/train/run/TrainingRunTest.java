package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.PriceList;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TrainingRunTest {
    private static final String RECIPE = """
            [data]
            kind = "digits"
            train_limit = 400
            test_limit = 200
            [model]
            kind = "mlp"
            hidden = [24, 16]
            [penalty]
            kind = "group-mcp"
            lambda = 1e-2
            beta = 10
            [optimizer]
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 4
            batch_size = 40
            [checkpoint]
            every = 7
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("test.toml", RECIPE, List.of(overrides));
    }

    private RunFolder folder(String name) {
        return new RunFolder(temporary.resolve(name));
    }

    private static TrainingRun run(Recipe recipe, RunFolder folder, RunOptions options) throws IOException {
        return new TrainingRun(recipe, Tasks.of(recipe), 1, folder, options);
    }

    private static RunResult train(Recipe recipe, RunFolder folder) throws IOException {
        return run(recipe, folder, RunOptions.DEFAULT).begin().orElseThrow();
    }

    /** Goes on until it is done; returns how many times it was begun or gone on. */
    private static int sessions(Recipe recipe, RunFolder folder, RunOptions stopping) throws IOException {
        int sessions = 1;
        while (run(recipe, folder, stopping).resume().isEmpty()) {
            sessions++;
        }
        return sessions;
    }

    /** Stops after these steps, counted over all sessions. */
    private static RunOptions stoppingAfter(Long... last) {
        AtomicLong steps = new AtomicLong();
        return RunOptions.DEFAULT.withStop(() -> List.of(last).contains(steps.incrementAndGet()));
    }

    /** ONNX Runtime is asked about some samples, and the network about the rest: the scores are the same. */
    @Test
    void aRunIsJudgedBySomeSamplesIfTheRecipeSaysSo() throws IOException {
        RunResult all = train(recipe(), folder("all"));
        RunResult some = train(recipe("evaluation.judged=70", "evaluation.batch_size=32"), folder("some"));
        assertEquals(0, all.files().judged());
        assertEquals(70, some.files().judged());
        assertEquals(all.scores(), some.scores());
        assertEquals(all.prunedScores(), some.prunedScores());
        assertTrue(some.maxAbsDifference() < 1e-4, some.toString());
    }

    @Test
    void aRunLeavesAFolderThatExplainsItself() throws IOException {
        RunFolder folder = folder("run");
        RunResult result = train(recipe(), folder);
        assertEquals(40, result.steps());
        assertTrue(result.scores().firstEntry().getValue() > 0.7, result.toString());
        assertEquals(result.scores(), result.prunedScores());
        assertTrue(result.maxAbsDifference() < 1e-4, result.toString());
        assertTrue(result.groupsLeft() < 0.9, "nothing became zero: " + result);
        assertTrue(result.parametersLeft() < 0.9, result.toString());
        assertEquals(Optional.of(result), folder.result());
        Findings findings = folder.findings().orElseThrow();
        assertEquals(new Findings.Samples(400, 0, 200), findings.samples());
        List<Findings.Tally> classes = ((Findings.Outcome.Classes) findings.outcome()).classes();
        long right = classes.stream().mapToLong(Findings.Tally::right).sum();
        assertEquals(result.prunedScores().firstEntry().getValue(), right / 200.0, 1e-9);
        assertEquals(
                Math.min(200 - right, Findings.MOST_MISTAKES),
                findings.mistakes().size());

        assertEquals(recipe(), Recipe.read(folder.recipe(), List.of()));
        Provenance provenance = folder.provenance();
        assertEquals(1, provenance.seed());
        assertEquals(System.getProperty("os.arch"), provenance.architecture());
        assertTrue(provenance.engine().contains("PyTorch"), provenance.engine());

        List<Metrics> metrics = folder.metrics();
        assertEquals(
                List.of(10L, 20L, 30L, 40L), metrics.stream().map(Metrics::step).toList());
        assertTrue(metrics.getLast().trainLoss() < metrics.getFirst().trainLoss());
        assertEquals(result.groupsLeft(), metrics.getLast().groupsLeft());
        assertEquals(1e-2, metrics.getLast().lambda());
        assertEquals(1e-2, metrics.getLast().learningRate());
        assertTrue(metrics.getLast().iterationsPerGroup() > 0);

        Graph model = OnnxReader.read(folder.model()).graph();
        assertEquals(
                metrics.getLast().nonZeroGroups().values().stream()
                        .mapToInt(Integer::intValue)
                        .sum(),
                recipe().groupRules().derive(model).count()
                        - recipe().groupRules().derive(model).zeroGroups(model));
        try (Stream<Path> events = Files.list(folder.tensorBoard())) {
            assertEquals(1, events.count());
        }
        try (Stream<Path> states = Files.list(folder.checkpoints())) {
            assertEquals(
                    List.of("step-0000000035.state", "step-0000000040.state"),
                    states.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void theSameSeedGivesTheSameModelAndAnotherAnother() throws IOException {
        train(recipe(), folder("one"));
        train(recipe(), folder("two"));
        assertSameModel(folder("one"), folder("two"));
        new TrainingRun(recipe(), Tasks.of(recipe()), 2, folder("three"), RunOptions.DEFAULT).begin();
        assertFalse(Arrays.equals(
                Files.readAllBytes(folder("one").model()),
                Files.readAllBytes(folder("three").model())));
    }

    private static void assertSameModel(RunFolder expected, RunFolder actual) throws IOException {
        assertArrayEquals(Files.readAllBytes(expected.model()), Files.readAllBytes(actual.model()));
        assertEquals(timeless(expected), timeless(actual));
    }

    private static List<Metrics> timeless(RunFolder folder) throws IOException {
        List<Metrics> lines = new ArrayList<>();
        for (Metrics line : folder.metrics()) {
            lines.add(new Metrics(
                    line.step(),
                    line.epoch(),
                    line.phase(),
                    0,
                    0,
                    line.learningRate(),
                    line.lambda(),
                    line.trainLoss(),
                    line.trainScores(),
                    line.penalty(),
                    line.loss(),
                    line.scores(),
                    line.groupsLeft(),
                    line.iterationsPerGroup(),
                    line.skippedSteps(),
                    line.nonZeroGroups(),
                    line.data()));
        }
        return lines;
    }

    private static final String[] EVERYTHING_THAT_HAS_A_MEMORY = {
        "model.kind=small-cnn",
        "model.channels=[8,8]",
        "phases.warm_up_epochs=1",
        "phases.heal_epochs=2",
        "training.epochs=3",
        "training.accumulate=3",
        "target.kind=groups",
        "target.share=0.95",
        "data.padding=1",
        "schedule.kind=cosine",
        "divergence.chance_epochs=0",
        "penalty.lambda=1e-4",
    };

    @Test
    void aStoppedRunThatIsResumedEndsAsIfNothingHadHappened() throws IOException {
        Recipe recipe = recipe(EVERYTHING_THAT_HAS_A_MEMORY);
        train(recipe, folder("whole"));
        AtomicLong steps = new AtomicLong();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() % 5 == 0);
        RunFolder folder = folder("stopped");
        int sessions = sessions(recipe, folder, stopping);
        assertTrue(sessions > 4, sessions + " sessions");
        assertSameModel(folder("whole"), folder);
    }

    /** Where steps are begun ahead, one that has begun is done before a run stops. */
    @Test
    void aRunWhoseStepsAreBegunAheadIsGoneOnFrom() throws IOException {
        Recipe recipe = recipe(EVERYTHING_THAT_HAS_A_MEMORY);
        queued(recipe, folder("whole"), RunOptions.DEFAULT).begin();
        AtomicLong steps = new AtomicLong();
        List<Long> stopped = new ArrayList<>();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() % 3 == 0);
        RunFolder folder = folder("stopped");
        while (queued(recipe, folder, stopping).resume().isEmpty()) {
            stopped.add(new Checkpoints(folder.checkpoints(), 1).steps().getLast() % 3);
        }
        assertEquals(Set.of(0L, 1L), Set.copyOf(stopped), "at the step, and one after it");
        assertSameModel(folder("whole"), folder);
    }

    private static TrainingRun queued(Recipe recipe, RunFolder folder, RunOptions options) throws IOException {
        Task task = Tasks.of(recipe);
        return new TrainingRun(
                recipe, recipe, task, task.model(Weights.seeded(1)), 1, folder, options, Network::outOfReach);
    }

    /** Stopped before λ is estimated, in the step that does it, and after it. */
    @Test
    void anEstimatedStrengthSurvivesAStop() throws IOException {
        Recipe recipe = recipe("penalty.lambda=auto", "target.kind=groups", "target.share=0.5");
        List<String> notes = new ArrayList<>();
        train(recipe, folder("whole"));
        AtomicLong steps = new AtomicLong();
        RunOptions stopping = RunOptions.DEFAULT
                .withStop(() -> steps.incrementAndGet() < 5 || steps.get() == 20)
                .withListener(new TrainingListener() {
                    @Override
                    public void onNote(String text) {
                        notes.add(text);
                    }
                });
        RunFolder folder = folder("stopped");
        assertEquals(6, sessions(recipe, folder, stopping));
        assertEquals(
                1,
                notes.stream().filter(note -> note.startsWith("λ starts at ")).count(),
                notes.toString());
        assertSameModel(folder("whole"), folder);
    }

    /** Before that nobody teaches. Stopped in the last step before, in the one in which it begins, and later. */
    @Test
    void theStartTeachesOnceGroupsCanGo() throws IOException {
        Recipe plain = recipe("phases.warm_up_epochs=2", "phases.heal_epochs=1", "training.epochs=2");
        Recipe taught = plain.with("task.start_teaches=true");
        train(plain, folder("plain"));
        train(taught, folder("taught"));
        List<Metrics> alone = timeless(folder("plain"));
        List<Metrics> together = timeless(folder("taught"));
        assertEquals(alone.subList(0, 2), together.subList(0, 2));
        assertNotEquals(alone.get(2), together.get(2));

        RunFolder stopped = folder("stopped");
        assertEquals(5, sessions(taught, stopped, stoppingAfter(19L, 20L, 21L, 34L)));
        assertSameModel(folder("taught"), stopped);
    }

    /** With all weight on the teacher the loss is how far the model has gone from it: from nothing, to as far as the penalty takes it. */
    @Test
    void whoIsTaughtByItsStartBeginsWithWhatItKnows() throws IOException {
        RunFolder folder = folder("taught");
        train(
                recipe(
                        "phases.warm_up_epochs=2",
                        "training.epochs=2",
                        "penalty.lambda=1e-4",
                        "task.start_teaches=true",
                        "task.teacher_weight=1"),
                folder);
        List<Metrics> metrics = folder.metrics();
        assertTrue(metrics.get(2).trainLoss() < 0.1 * metrics.get(1).trainLoss(), metrics.toString());
        assertTrue(metrics.get(2).trainLoss() > 0, metrics.toString());
    }

    private static final String[] COST_AWARE = {
        "model.kind=small-cnn",
        "model.channels=[8,8]",
        "data.padding=1",
        "training.epochs=3",
        "divergence.chance_epochs=0",
        "penalty.lambda=1e-3",
        "penalty.beta=1000",
    };

    /** Within an epoch, where the factors are those that its beginning found, and between two. */
    @Test
    void whatGroupsCostSurvivesAStop() throws IOException {
        Recipe recipe = recipe(COST_AWARE).with("penalty.cost=flops");
        train(recipe, folder("whole"));
        RunFolder folder = folder("stopped");
        assertEquals(4, sessions(recipe, folder, stoppingAfter(4L, 10L, 17L)));
        assertSameModel(folder("whole"), folder);
        train(recipe(COST_AWARE), folder("plain"));
        assertFalse(
                Arrays.equals(
                        Files.readAllBytes(folder("whole").model()),
                        Files.readAllBytes(folder("plain").model())),
                "the cost decides nothing");
    }

    /** A pilot with some zeros, which stay zero while nothing is penalised too; and stopped in the first epoch and the last. */
    @Test
    void aPilotSaysHowStronglyEachGroupIsPenalised() throws IOException {
        Recipe piloting = recipe();
        RunFolder pilot = folder("pilot");
        train(piloting, pilot);
        Recipe recipe = recipe("phases.warm_up_epochs=1", "penalty.lambda=1e-3")
                .with("penalty.pilot=" + pilot.path(), "penalty.pilot_power=0.5");
        RunFolder whole = folder("whole");
        train(recipe, whole);
        RunFolder folder = folder("stopped");
        assertEquals(3, sessions(recipe, folder, stoppingAfter(4L, 23L)));
        assertSameModel(whole, folder);

        Graph before = OnnxReader.read(pilot.model()).graph();
        Graph after = OnnxReader.read(whole.model()).graph();
        int zeros = 0;
        for (LayerGroups layer : piloting.groupRules().derive(before).layers()) {
            boolean[] were = layer.zeros(before);
            boolean[] are = layer.zeros(after);
            for (int group = 0; group < were.length; group++) {
                assertTrue(are[group] || !were[group], layer.name() + ", group " + group);
                zeros += were[group] ? 1 : 0;
            }
        }
        assertTrue(zeros > 0, "the pilot has no zeros");
        Metrics warmUp = whole.metrics().getFirst();
        assertEquals(0, warmUp.lambda());
        assertEquals(pilot.metrics().getLast().groupsLeft(), warmUp.groupsLeft(), 1e-9);

        train(recipe.with("penalty.pilot="), folder("plain"));
        assertFalse(
                Arrays.equals(
                        Files.readAllBytes(whole.model()),
                        Files.readAllBytes(folder("plain").model())),
                "the pilot decides nothing");
        Recipe pruned = recipe.with("penalty.pilot=" + pilot.pruned());
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> train(pruned, folder("wrong")))
                        .getMessage());
        assertTrue(message.contains("does not fit: the groups of "), message);
    }

    /** A run is a function of its files: the list that is there, not another measurement, says what is dear. */
    @Test
    void theMillisecondsOfALayerAreMeasuredOnce() throws IOException {
        Recipe recipe = recipe(COST_AWARE).with("penalty.cost=latency", "target.kind=latency", "target.share=0.95");
        RunFolder whole = folder("whole");
        train(recipe, whole);
        PriceList list = JsonFile.read(whole.pricesFile(), PriceList.class);
        assertTrue(list.fixed() >= 0 && list.fixed() <= list.milliseconds(), list.toString());
        assertTrue(list.prices().values().stream().allMatch(price -> price >= 0), list.toString());
        RunFolder folder = folder("stopped");
        Files.createDirectories(folder.path());
        Files.copy(whole.pricesFile(), folder.pricesFile());
        AtomicLong steps = new AtomicLong();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 13);
        assertEquals(Optional.empty(), run(recipe, folder, stopping).resume());
        run(recipe, folder, RunOptions.DEFAULT).resume();
        assertArrayEquals(Files.readAllBytes(whole.pricesFile()), Files.readAllBytes(folder.pricesFile()));
        assertSameModel(whole, folder);
    }

    @Test
    void aKilledRunThatIsResumedEndsAsIfNothingHadHappened() throws IOException {
        Recipe recipe = recipe(EVERYTHING_THAT_HAS_A_MEMORY);
        train(recipe, folder("whole"));
        RunFolder folder = folder("killed");
        for (int death : List.of(3, 9, 12)) {
            AtomicLong steps = new AtomicLong();
            RunOptions deadly = RunOptions.DEFAULT.withStop(() -> {
                if (steps.incrementAndGet() == death) {
                    throw new IllegalStateException("killed");
                }
                return false;
            });
            assertThrows(
                    IllegalStateException.class,
                    () -> run(recipe, folder, deadly).resume());
        }
        run(recipe, folder, RunOptions.DEFAULT).resume();
        assertSameModel(folder("whole"), folder);
    }

    @Test
    void aDamagedCheckpointIsToldAndTheOneBeforeIsTaken() throws IOException {
        RunFolder folder = folder("damaged");
        AtomicLong steps = new AtomicLong();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 16);
        assertEquals(Optional.empty(), run(recipe(), folder, stopping).begin());
        Path newest = folder.checkpoints().resolve("step-0000000016.state");
        byte[] bytes = Files.readAllBytes(newest);
        bytes[bytes.length / 2] ^= 1;
        Files.write(newest, bytes);
        List<String> notes = new ArrayList<>();
        RunOptions listening = RunOptions.DEFAULT.withListener(new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        });
        run(recipe(), folder, listening).resume();
        assertTrue(notes.getFirst().contains("step-0000000016.state is damaged"), notes.toString());
        assertTrue(notes.getLast().contains("step-0000000014.state"), notes.toString());
        train(recipe(), folder("whole"));
        assertSameModel(folder("whole"), folder);
    }

    @Test
    void aFullDiskStopsTheRunAndKeepsTheLastCheckpoint() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "there is no /dev/full here to play a full disk");
        RunFolder folder = folder("full");
        Files.createDirectories(folder.checkpoints());
        Path temporaryFile = folder.checkpoints().resolve("step-0000000021.state.tmp");
        Files.createSymbolicLink(temporaryFile, full);
        String message = String.valueOf(assertThrows(
                        IOException.class,
                        () -> run(recipe(), folder, RunOptions.DEFAULT).resume())
                .getMessage());
        assertTrue(message.contains("No space left on device"), message);
        assertTrue(message.contains("step-0000000014.state is still there"), message);
        Files.delete(temporaryFile);
        run(recipe(), folder, RunOptions.DEFAULT).resume();
        train(recipe(), folder("whole"));
        assertSameModel(folder("whole"), folder);
    }

    @Test
    void aFolderThatHoldsSomethingIsNotOverwritten() throws IOException {
        RunFolder folder = folder("run");
        Files.createDirectories(folder.path());
        Files.writeString(folder.recipe(), "precious");
        assertThrows(DirectoryNotEmptyException.class, () -> train(recipe(), folder));
        assertEquals("precious", Files.readString(folder.recipe()));
    }

    @Test
    void anotherRecipeIsNoWayToGoOn() throws IOException {
        RunFolder folder = folder("run");
        AtomicLong steps = new AtomicLong();
        run(recipe(), folder, RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 3))
                .begin();
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> run(recipe("optimizer.rate=0.1"), folder, RunOptions.DEFAULT)
                                .resume())
                .getMessage());
        assertTrue(message.contains("optimizer.rate was 0.01, and is 0.1 now"), message);
        assertTrue(run(recipe("checkpoint.every=100"), folder, RunOptions.DEFAULT)
                .resume()
                .isPresent());
    }

    @Test
    void aFinishedRunIsLeftAsItIs() throws IOException {
        RunResult result = train(recipe(), folder("run"));
        assertEquals(
                Optional.of(result),
                run(recipe(), folder("run"), RunOptions.DEFAULT).resume());
        assertThrows(
                IllegalArgumentException.class,
                () -> run(recipe("training.epochs=9"), folder("run"), RunOptions.DEFAULT)
                        .resume(),
                "it is not what another recipe asks for");
        assertEquals(Optional.of(result), folder("run").result());
    }

    /** A disk may say that a file is written, and lose it when the power is cut; what was written later may still be there. */
    @Test
    void aFinishedRunWithoutItsModelIsDeliveredAgain() throws IOException {
        RunFolder folder = folder("run");
        RunResult result = train(recipe(), folder);
        byte[] pruned = Files.readAllBytes(folder.pruned());
        Files.write(folder.pruned(), new byte[0]);
        RunResult again = run(recipe(), folder, RunOptions.DEFAULT).resume().orElseThrow();
        assertEquals(result.steps(), again.steps());
        assertArrayEquals(pruned, Files.readAllBytes(folder.pruned()));
    }

    @Test
    void phasesAreMarkedAndDoWhatTheyAreFor() throws IOException {
        RunFolder folder = folder("phases");
        train(
                recipe("phases.warm_up_epochs=2", "phases.heal_epochs=2", "phases.heal_rate=1e-3", "training.epochs=3"),
                folder);
        List<Metrics> metrics = folder.metrics();
        assertEquals(
                List.of("warm-up", "warm-up", "sparsify", "sparsify", "sparsify", "heal", "heal"),
                metrics.stream().map(Metrics::phase).toList());
        assertEquals(
                List.of(0.0, 0.0, 1e-2, 1e-2, 1e-2, 0.0, 0.0),
                metrics.stream().map(Metrics::lambda).toList());
        assertEquals(1, metrics.get(1).groupsLeft());
        assertTrue(metrics.get(4).groupsLeft() < 0.95);
        assertEquals(metrics.get(4).nonZeroGroups(), metrics.getLast().nonZeroGroups());
        assertNotEquals(metrics.get(4).loss(), metrics.getLast().loss());
        assertEquals(1e-3, metrics.getLast().learningRate());
    }

    @Test
    void theSubgradientMethodMakesZerosAtTheEnd() throws IOException {
        RunFolder folder = folder("subgradient");
        RunResult result = train(recipe("method.kind=subgradient", "method.threshold=0.1"), folder);
        assertEquals(1, folder.metrics().getLast().groupsLeft());
        assertTrue(result.groupsLeft() < 0.95, result.toString());
    }

    @Test
    void halfSpaceStepsMakeZerosFromSomeEpochOn() throws IOException {
        Recipe recipe = recipe("method.kind=half-space", "method.epsilon=0.7", "penalty.lambda=2e-2")
                .with("phases.warm_up_epochs=1", "phases.heal_epochs=1");
        RunFolder whole = folder("half-space");
        RunResult result = train(recipe, whole);
        List<Double> left = whole.metrics().stream().map(Metrics::groupsLeft).toList();
        assertEquals(List.of(1.0, 1.0, 1.0), left.subList(0, 3)); // warm-up, and half of four epochs
        assertTrue(left.get(3) < 1 && left.get(4) < 0.95, left.toString());
        assertEquals(left.get(4), left.get(5)); // healed
        assertEquals(left.getLast(), result.groupsLeft());
        assertEquals(result.scores(), result.prunedScores());
        assertTrue(result.parametersLeft() < 0.95, result.toString());

        RunFolder folder = folder("stopped");
        assertEquals(4, sessions(recipe, folder, stoppingAfter(15L, 38L, 55L)));
        assertSameModel(whole, folder);
    }

    /** Every kind of groups and penalty that the subgradient method takes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "penalty.kind=group-lasso",
                "penalty.kind=group-scad penalty.beta=100 penalty.flat=0.3",
                "penalty.kind=sparse-group-lasso penalty.share=0.3",
                "penalty.kind=nested-lasso penalty.share=0.5 groups.join=nested",
                "penalty.kind=group-lasso penalty.cost=flops",
            })
    void halfSpaceStepsTakeAnyGroups(String overrides) throws IOException {
        RunResult result = train(
                recipe("method.kind=half-space", "method.epsilon=0.7", "penalty.lambda=2e-2")
                        .with(overrides.split(" ")),
                folder("run"));
        assertTrue(result.groupsLeft() < 1, result.toString());
        assertEquals(result.scores(), result.prunedScores());
    }

    @Test
    void aBaselineHasNoZeros() throws IOException {
        RunResult result = train(recipe().asBaseline(), folder("baseline"));
        assertEquals(1, result.groupsLeft());
        assertEquals(0, result.lambda());
        assertEquals("train", folder("baseline").metrics().getFirst().phase());
        assertEquals(result.parametersBefore(), result.parametersAfter());
    }

    @Test
    void accumulatedBatchesMakeOneLargeOne() throws IOException {
        RunResult large = train(recipe("training.batch_size=80", "training.epochs=2"), folder("large"));
        RunResult small =
                train(recipe("training.batch_size=20", "training.accumulate=4", "training.epochs=2"), folder("small"));
        assertEquals(large.steps(), small.steps());
        assertEquals(large.loss(), small.loss(), 1e-3 * large.loss());
    }

    @Test
    void aClippedGradientIsAnother() throws IOException {
        RunResult free = train(recipe("optimizer.kind=sgd", "optimizer.rate=0.1"), folder("free"));
        RunResult clipped =
                train(recipe("optimizer.kind=sgd", "optimizer.rate=0.1", "training.clip_norm=0.01"), folder("clipped"));
        assertTrue(clipped.loss() > free.loss());
    }

    @Test
    void aLossThatIsNotANumberIsReported() {
        DivergedException problem = assertThrows(
                DivergedException.class,
                () -> train(recipe("optimizer.kind=sgd", "optimizer.rate=1e30"), folder("run")));
        assertTrue(problem.toString().contains("lower"), problem.toString());
    }

    @Test
    void atChanceForTooLongIsReported() throws IOException {
        RunFolder folder = folder("run");
        DivergedException problem = assertThrows(
                DivergedException.class,
                () -> train(recipe("optimizer.rate=1e-9", "divergence.chance_epochs=2"), folder));
        assertTrue(problem.toString().contains("no better than without learning"), problem.toString());
        assertEquals(2, folder.metrics().size());
    }

    @Test
    void aPenaltyThatLeavesNothingIsReported() throws IOException {
        RunFolder folder = folder("run");
        DivergedException problem = assertThrows(
                DivergedException.class,
                () -> train(recipe("penalty.lambda=10", "divergence.chance_epochs=0"), folder));
        List<String> layers =
                List.copyOf(folder.metrics().getLast().nonZeroGroups().keySet());
        assertEquals(
                "all groups of %s are zero after epoch 1, at λ = 10.0, and nothing of the input gets through: lower penalty.lambda (to 1.0, say), or leave it out and say how much shall be left, as with --keep 30%%"
                        .formatted(String.join(", ", layers)),
                problem.getMessage());
        assertEquals(0, folder.metrics().getLast().groupsLeft());
        assertEquals(1, folder.metrics().size());
    }

    @Test
    void aRunThatPrunedNothingSaysSo() throws IOException {
        RunFolder folder = folder("run");
        RunResult result = train(recipe("penalty.lambda=1e-7", "training.epochs=1"), folder);
        List<String> verdict = Verdict.of(folder, result);
        assertEquals(1, verdict.size());
        assertTrue(
                verdict.getFirst().startsWith("Nothing was pruned: no group is zero in any of "), verdict.toString());
        for (String layer : folder.metrics().getLast().nonZeroGroups().keySet()) {
            assertTrue(verdict.getFirst().contains(layer), verdict.toString());
        }
    }

    /** One that is multiplied with a constant twice in a row, and read after both: ONNX Runtime, when it optimizes that, loses the first. */
    private static Graph brokenByOnnxRuntime(Weights weights) {
        GraphBuilder graph = new GraphBuilder("products");
        Layers layers = new Layers(graph, weights);
        Value image = graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        Value shares = graph.add("shares", new Softmax(2, true), image);
        Binary times = new Binary(Binary.Function.MULTIPLY);
        Value half = graph.constant("half", Tensor.scalar(DataType.FLOAT32, 0.5));
        Value once = graph.add("once", times, shares, half);
        Value twice = graph.add("twice", times, once, half);
        Value one = graph.add("one", new MatMul(), once, graph.parameter("a", weights(8, 4)));
        Value two = graph.add("two", new MatMul(), twice, graph.parameter("b", weights(8, 4)));
        Value both = layers.flatten("both", layers.add("sum", two, one));
        return graph.outputs(layers.linear("answer", both, 10, "logits"));
    }

    private static Tensor weights(long... shape) {
        SplittableRandom random = new SplittableRandom(5);
        return Tensor.compute(DataType.FLOAT32, shape, _ -> random.nextGaussian());
    }

    @Test
    void whatCannotBePrunedIsNotLost() throws IOException {
        Recipe recipe = recipe("model.kind=own", "training.epochs=1");
        LoadedData data = DataSection.load(recipe.data(), Context.QUIET);
        Task task = Tasks.of(recipe, data, TrainingRunTest::brokenByOnnxRuntime);
        RunFolder folder = folder("run");
        List<String> notes = new ArrayList<>();
        RunOptions listening = RunOptions.DEFAULT.withListener(new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        });
        assertThrows(RuntimeException.class, () -> new TrainingRun(recipe, task, 1, folder, listening).begin());
        assertEquals("What was trained is in %s, uncut".formatted(folder.model()), notes.getLast());
        assertEquals("products", OnnxReader.read(folder.model()).graph().name());
        assertFalse(Files.exists(folder.pruned()));
    }

    @Test
    void aPrunedModelThatIsSlowerIsToldWithItsLayers() throws IOException {
        RunFolder folder = folder("run");
        RunResult result = train(recipe("penalty.lambda=1e-2"), folder);
        assertTrue(result.parametersLeft() < 1);
        assertEquals(List.of(), Verdict.of(folder, result.withLatency(2, 1)));
        String verdict = Verdict.of(folder, result.withLatency(1, 2)).getFirst();
        assertTrue(
                verdict.startsWith("The pruned model is slower: 2.00 ms instead of 1.00 ms. Changed were "), verdict);
        assertTrue(verdict.contains(" inputs, "), verdict);
    }

    /** A percentage point is less than any width of this network takes along; of the pixels, each is about one. */
    @Test
    void aTargetIsReachedWithoutAnyLambda() throws IOException {
        for (String kind : List.of("groups", "parameters", "flops")) {
            Recipe recipe =
                    recipe("target.kind=" + kind, "target.share=0.3", "training.epochs=20", "penalty.lambda=auto");
            RunResult result = train(recipe, folder(kind));
            assertReached(recipe, result);
            assertTrue(result.scores().firstEntry().getValue() > 0.6, result.toString());
        }
    }

    private static void assertReached(Recipe recipe, RunResult result) {
        RequestedSize size = RequestedSize.of(recipe, List.of(result)).orElseThrow();
        assertTrue(size.isMet(), size.toString());
        assertEquals(new RunResult.Size(size.kind(), size.requested(), size.reached()), result.size());
        assertTrue(size.reached() <= size.requested() + 1e-9, size.toString());
    }

    @Test
    void aTargetIsReachedFromALambdaThatIsTooSmall() throws IOException {
        Recipe recipe = recipe("target.kind=groups", "target.share=0.4", "training.epochs=20", "penalty.lambda=1e-5");
        RunResult result = train(recipe, folder("run"));
        assertReached(recipe, result);
        assertTrue(result.lambda() > 1e-5);
    }

    /** Far too strong a penalty takes most of the model before λ is lowered. No group of the network is more than 2.1 % of it. */
    @Test
    void groupsComeBackWhereThePenaltyHasTakenMoreThanRequested() throws IOException {
        List<String> notes = new ArrayList<>();
        TrainingListener listener = new TrainingListener() {
            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        };
        Recipe recipe =
                recipe("target.kind=parameters", "target.share=0.6", "training.epochs=1", "penalty.lambda=0.03");
        RunResult result = run(recipe, folder("run"), RunOptions.DEFAULT.withListener(listener))
                .begin()
                .orElseThrow();
        Matcher left = Pattern.compile("([\\d.]+) % left under the penalty").matcher(String.join("\n", notes));
        assertTrue(left.find(), notes::toString);
        assertTrue(Double.parseDouble(left.group(1)) < 57, notes::toString);
        assertEquals(0.6, result.parametersLeft(), 0.021, notes::toString);
        assertTrue(result.parametersLeft() <= 0.6, notes::toString);
    }

    @Test
    void aTargetThatNoGroupsAllowIsRefusedBeforeTraining() {
        for (String kind : List.of("groups", "parameters", "flops")) {
            RunFolder folder = folder(kind);
            String message = String.valueOf(assertThrows(
                            IllegalArgumentException.class,
                            () -> train(recipe("target.kind=" + kind, "target.share=0.001"), folder))
                    .getMessage());
            assertTrue(message.startsWith("target.share = 0.00100 cannot be reached"), message);
            assertFalse(Files.exists(folder.path()));
        }
    }
}
