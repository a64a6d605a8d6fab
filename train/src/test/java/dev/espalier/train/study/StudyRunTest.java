package dev.espalier.train.study;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Outcome.End;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyRunTest {
    private static final String RECIPE = """
            data = { kind = "digits", train_limit = 400, test_limit = 200 }
            model = { kind = "mlp", hidden = [24, 16] }
            penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
            optimizer.rate = 1e-2
            training = { epochs = 4, batch_size = 40 }
            checkpoint.every = 7
            """;
    private static final String STUDY = """
            study.recipe = "digits.toml"
            """;
    private static final String LAMBDAS = """
            [axes]
            penalty.lambda = [1e-3, 5e-3, 1e-2]
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    private Plan plan(String folder, String study) {
        return Study.parse(STUDY + study, RECIPE).plan(temporary.resolve(folder).toString());
    }

    private static StudyResult run(Plan plan, Launcher launcher, BooleanSupplier stop) throws IOException {
        try (launcher) {
            return new StudyRun(plan, launcher, StudyListener.NOBODY, stop).run();
        }
    }

    private static StudyResult direct(Plan plan) throws IOException {
        return run(plan, new DirectLauncher(new TrialRunner(), _ -> TrainingListener.NOBODY, () -> false), () -> false);
    }

    private static Launcher local(int jobs, BooleanSupplier stop) {
        return new LocalLauncher(jobs, _ -> TrainingListener.NOBODY, stop);
    }

    private void assertSame(Plan plan, StudyResult expected, StudyResult actual, String one, String other)
            throws IOException {
        assertEquals(expected.toJson(), actual.toJson());
        for (Trial trial : plan.trials()) {
            for (String file : List.of("model.onnx", "pruned.onnx", "recipe.toml")) {
                Path left = temporary.resolve(one).resolve(trial.name()).resolve(file);
                Path right = temporary.resolve(other).resolve(trial.name()).resolve(file);
                if (Files.exists(left)) {
                    assertArrayEquals(Files.readAllBytes(left), Files.readAllBytes(right), right.toString());
                } else {
                    assertFalse(Files.exists(right), right.toString());
                }
            }
        }
    }

    @Test
    void trialsAtOnceGiveTheSameBytesAsOneAfterTheOther() throws IOException {
        StudyResult one = direct(plan("one", LAMBDAS));
        StudyResult two = run(plan("two", LAMBDAS), local(3, () -> false), () -> false);
        assertEquals(3, two.ended(End.FINISHED).size(), two::toString);
        assertSame(plan("one", LAMBDAS), one, two, "one", "two");
    }

    @Test
    void aChainIsTrainedInItsOrderAndEachStartsWhereTheOneBeforeEnded() throws IOException {
        String chain = LAMBDAS + "[chain]\nalong = \"penalty.lambda\"\n";
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        StudyResult warm = run(
                plan("warm", chain),
                new LocalLauncher(
                        3,
                        trial -> {
                            order.add(trial.name());
                            return TrainingListener.NOBODY;
                        },
                        () -> false),
                () -> false);
        assertEquals(List.of("lambda-0.001", "lambda-0.005", "lambda-0.01"), order);
        StudyResult cold = direct(plan("cold", LAMBDAS));
        assertEquals(
                cold.of(cold.plan().trials().getFirst()).orElseThrow().result().scores(),
                warm.of(warm.plan().trials().getFirst()).orElseThrow().result().scores());
        RunFolder last = new RunFolder(temporary.resolve("warm/lambda-0.01"));
        RunFolder fresh = new RunFolder(temporary.resolve("cold/lambda-0.01"));
        assertTrue(
                last.metrics().getFirst().trainLoss()
                        < fresh.metrics().getFirst().trainLoss(),
                "it did not start from a trained model");
    }

    @Test
    void whatWasStoppedGoesOnAndEndsInTheSameBytes() throws IOException {
        StudyResult whole = direct(plan("whole", LAMBDAS));
        AtomicInteger asked = new AtomicInteger();
        BooleanSupplier afterSome = () -> asked.incrementAndGet() > 60;
        StudyResult stopped = run(plan("parts", LAMBDAS), local(1, afterSome), () -> false);
        assertTrue(stopped.isStopped());
        assertTrue(stopped.ended(End.FINISHED).size() < 3);
        StudyResult resumed = run(plan("parts", LAMBDAS), local(2, () -> false), () -> false);
        assertFalse(resumed.isStopped());
        assertSame(plan("whole", LAMBDAS), whole, resumed, "whole", "parts");
    }

    @Test
    void aTrialThatFailsOrGoesNowhereDoesNotKeepTheOthersFromGoingOn() throws IOException {
        String study = "[axes]\npenalty.lambda = [1e-3, 1e6, 1e-2]\n[chain]\nalong = \"penalty.lambda\"\n";
        StudyResult result = run(plan("lost", study), local(2, () -> false), () -> false);
        assertEquals(
                List.of(End.FINISHED, End.GIVEN_UP, End.FINISHED),
                result.outcomes().values().stream().map(Outcome::end).toList());
        assertTrue(result.toJson().contains("given_up"));
        // The third starts from the first: what came to nothing is gone round.
        assertTrue(Files.exists(temporary.resolve("lost/lambda-0.01/pruned.onnx")));

        Plan plan = plan("broken", "[axes]\npenalty.pilot = [\"\", \"nowhere.onnx\"]\n");
        StudyResult failed = run(plan, local(2, () -> false), () -> false);
        assertEquals(
                End.FINISHED, failed.of(plan.trials().getFirst()).orElseThrow().end());
        Outcome outcome = failed.of(plan.trials().getLast()).orElseThrow();
        assertEquals(End.FAILED, outcome.end());
        assertTrue(outcome.text().contains("nowhere.onnx"), outcome.text());
    }

    @Test
    void theWorstAreLeftBehindAndTheBestEndAsIfTheyHadBeenAlone() throws IOException {
        String study = "[axes]\noptimizer.rate = [1e-2, 1e-5, 3e-3]\n";
        List<String> notes = new ArrayList<>();
        Plan plan = plan("halved", study + "[halving]\nfirst = 1\n");
        StudyResult halved;
        try (Launcher launcher = local(2, () -> false)) {
            halved = new StudyRun(
                            plan,
                            launcher,
                            new StudyListener() {
                                @Override
                                public void onNote(String text) {
                                    notes.add(text);
                                }
                            },
                            () -> false)
                    .run();
        }
        assertEquals(List.of("after epoch 1, 1 of 3 go on: rate-0.01"), notes);
        assertEquals(
                List.of(End.FINISHED, End.LEFT_BEHIND, End.LEFT_BEHIND),
                halved.outcomes().values().stream().map(Outcome::end).toList());
        assertFalse(halved.isStopped());
        direct(plan("alone", study));
        assertArrayEquals(
                Files.readAllBytes(temporary.resolve("alone/rate-0.01/model.onnx")),
                Files.readAllBytes(temporary.resolve("halved/rate-0.01/model.onnx")));
        long steps = new RunFolder(temporary.resolve("halved/rate-0.003"))
                .metrics()
                .getLast()
                .step();
        assertEquals(10, steps);
        // Again, nothing is left to do.
        assertEquals(halved.toJson(), direct(plan).toJson());
    }

    @Test
    void whoIsLeftBehindIsToldWhenAllHaveComeAsFar() throws IOException {
        String study = "[axes]\noptimizer.rate = [1e-5, 1e-2, 3e-3]\n[halving]\nfirst = 1\nfactor = 2\n";
        List<String> told = new ArrayList<>();
        StudyListener listener = new StudyListener() {
            @Override
            public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) throws IOException {
                assertEquals(outcome, soFar.get().of(trial).orElseThrow());
                told.add(trial.name() + " " + outcome.end()
                        + (outcome.end() == End.FINISHED
                                ? ""
                                : " " + outcome.metrics().epoch()));
            }
        };
        new StudyRun(
                        plan("rungs", study),
                        Launching.DIRECT.open(_ -> TrainingListener.NOBODY, () -> false),
                        listener,
                        () -> false)
                .run();
        assertEquals(
                List.of(
                        "rate-1e-5 PAUSED 1.0",
                        "rate-0.01 PAUSED 1.0",
                        "rate-0.003 PAUSED 1.0",
                        "rate-1e-5 LEFT_BEHIND 1.0",
                        "rate-0.01 PAUSED 2.0",
                        "rate-0.003 PAUSED 2.0",
                        "rate-0.003 LEFT_BEHIND 2.0",
                        "rate-0.01 FINISHED"),
                told);
    }

    @Test
    void aStudyThatIsStoppedWhereAllPauseGoesOn() throws IOException {
        String study = "[axes]\noptimizer.rate = [1e-2, 1e-5]\n[halving]\nfirst = 1\n";
        StudyResult whole = direct(plan("whole", study));
        Launcher deaf = new DirectLauncher(new TrialRunner(), _ -> TrainingListener.NOBODY, () -> false);
        StudyResult stopped = run(plan("parts", study), deaf, () -> true);
        assertEquals(2, stopped.ended(End.PAUSED).size(), stopped::toString);
        assertTrue(stopped.isStopped());
        assertSame(plan("whole", study), whole, direct(plan("parts", study)), "whole", "parts");
    }

    @Test
    void aStudyThatCannotGoOnStopsWhatRuns() throws IOException {
        Plan plan = plan("full", LAMBDAS);
        StudyListener listener = new StudyListener() {
            @Override
            public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) throws IOException {
                throw new IOException("no space is left");
            }
        };
        try (Launcher launcher = local(1, () -> false)) {
            StudyRun study = new StudyRun(plan, launcher, listener, () -> false);
            assertThrows(IOException.class, study::run);
        }
        assertTrue(Files.exists(temporary.resolve("full/lambda-0.001/result.json")));
        assertFalse(Files.exists(temporary.resolve("full/lambda-0.01/result.json")), "it was trained to its end");
    }

    /** Counts, and ends every trial at once. */
    private static final class Counting implements Launcher {
        private final Map<String, Integer> launched = new ConcurrentHashMap<>();

        @Override
        public void launch(List<Trial> trials, Consumer<Outcome> told) {
            for (Trial trial : trials) {
                launched.merge(trial.name(), 1, Integer::sum);
                told.accept(new Outcome(trial.name(), End.FAILED, "nothing was done"));
            }
        }

        @Override
        public void stop() {
            throw new AssertionError("nobody asked");
        }

        @Override
        public void close() {
            // nothing is held
        }
    }

    @Test
    void thousandsOfTrialsAreLaunchedOnceEach() throws IOException {
        List<Plan.Branch> branches = new ArrayList<>();
        Plan one = plan("many", "");
        Trial trial = one.trials().getFirst();
        for (int i = 0; i < 2000; i++) {
            branches.add(new Plan.Branch(
                    "t" + i,
                    one.branches().getFirst().recipe(),
                    new LinkedHashMap<>(),
                    List.of(new Trial(
                            trial.root(),
                            "t" + i,
                            trial.recipe(),
                            i % 10 == 0 ? Trial.FRESH : "t" + (i - 1),
                            "t" + i,
                            0,
                            1,
                            "cpu"))));
        }
        Counting counting = new Counting();
        StudyResult result = run(new Plan(one.root(), branches, Optional.empty()), counting, () -> false);
        assertEquals(2000, result.ended(End.FAILED).size());
        assertEquals(2000, counting.launched.size());
        assertTrue(counting.launched.values().stream().allMatch(times -> times == 1));
    }

    @Test
    void aMirroredTrialGoesOnOnAnotherMachine() throws IOException {
        Plan plan = plan("shared", LAMBDAS);
        StudyResult whole = direct(plan("whole", LAMBDAS));
        Storage storage = Storage.of(plan.root());
        Trial trial = plan.trials().get(1);
        AtomicInteger steps = new AtomicInteger();
        Outcome first = new MirroredTrial(trial, storage, temporary.resolve("machine-1"))
                .run(new TrialRunner(), TrainingListener.NOBODY, () -> {
                    if (steps.incrementAndGet() > 17) {
                        throw new IllegalStateException("the machine is gone");
                    }
                    return false;
                });
        assertEquals(End.FAILED, first.end());
        AtomicInteger left = new AtomicInteger();
        Outcome second = new MirroredTrial(trial, storage, temporary.resolve("machine-2"))
                .run(new TrialRunner(), TrainingListener.NOBODY, () -> {
                    left.incrementAndGet();
                    return false;
                });
        assertEquals(End.FINISHED, second.end(), second.text());
        assertEquals(40 - 14, left.get(), "it did not go on from the checkpoint after step 14");
        // A straggler that ends too: one of the two counts.
        Outcome third = new MirroredTrial(trial, storage, temporary.resolve("machine-3"))
                .run(new TrialRunner(), TrainingListener.NOBODY, () -> false);
        assertEquals(End.FINISHED, third.end());
        assertFalse(storage.exists(trial.name() + "/result.json"), "nobody has committed yet");
        assertTrue(MirroredTrial.commit(storage, trial.name()));
        assertTrue(MirroredTrial.commit(storage, trial.name()));
        assertEquals(List.of(), storage.list(trial.name() + "/attempts"));
        for (String file : List.of("model.onnx", "pruned.onnx", "recipe.toml")) {
            assertArrayEquals(
                    Files.readAllBytes(
                            temporary.resolve("whole").resolve(trial.name()).resolve(file)),
                    Files.readAllBytes(
                            temporary.resolve("shared").resolve(trial.name()).resolve(file)),
                    file);
        }
        assertEquals(
                whole.of(trial).orElseThrow().result().scores(),
                new RunFolder(temporary.resolve("shared").resolve(trial.name()))
                        .result()
                        .orElseThrow()
                        .scores());
        try (Stream<Path> all = Files.walk(temporary.resolve("shared"))) {
            assertEquals(
                    List.of(),
                    all.filter(file -> file.toString().endsWith(".tmp")).toList());
        }
    }

    @Test
    void aFolderIsAStorage() throws IOException {
        Storage storage = Storage.of("file:" + temporary.resolve("store"));
        assertEquals(List.of(), storage.list(""));
        storage.write("a/b.txt", "one");
        storage.write("a/b.txt", "two");
        storage.write("a/c/d.txt", "three");
        assertEquals(List.of("a/b.txt", "a/c/d.txt"), storage.list("a"));
        assertEquals("two", storage.read("a/b.txt").orElseThrow());
        String sum = storage.checksum("a/b.txt");
        storage.rename("a/b.txt", "e.txt");
        assertEquals(sum, storage.checksum("e.txt"));
        assertFalse(storage.exists("a/b.txt"));
        storage.delete("a");
        storage.delete("a");
        assertEquals(List.of("e.txt"), storage.list(""));
        assertFalse(storage.fetch("none", temporary.resolve("copy")));
    }
}
