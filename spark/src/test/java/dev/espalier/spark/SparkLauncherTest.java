package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.engine.Device;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.FolderStorage;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.LocalLauncher;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Studies on two executors that are processes of this machine: the same bytes as in one process, whatever happens to them. */
@Timeout(120)
final class SparkLauncherTest {
    private static final String RECIPE =
            """
            [data]
            kind = "digits"

            [model]
            kind = "mlp"
            hidden = [24, 16]

            [penalty]
            kind = "group-mcp"
            lambda = 0.001
            beta = 20

            [optimizer]
            kind = "adam"
            rate = 2e-3

            [training]
            epochs = 3
            batch_size = 64
            prune_for = "size"

            [checkpoint]
            every = 10

            [divergence]
            chance_epochs = 0
            """;

    private static final List<String> said = new CopyOnWriteArrayList<>();

    @TempDir
    private static Path folder;

    private static Launcher spark;

    @BeforeAll
    static void startCluster() throws IOException {
        SparkHome.make();
        String on = "local-cluster[2,1,768]";
        spark = LauncherProvider.of(on)
                .orElseThrow()
                .open(on, new LauncherProvider.Settings("the test of Espalier", 1, Device.CPU, said::add));
    }

    @AfterAll
    static void stopCluster() {
        spark.close();
    }

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("a recipe", RECIPE, List.of(overrides));
    }

    private static Branch branch(Path root, String name, Recipe recipe) {
        return Branch.of(root.toString(), name, recipe, new LinkedHashMap<>(), false)
                .with(trial -> trial.onThreads(1));
    }

    /** Three λs, the last of which starts from where the first ended. */
    private static Plan plan(Path root, int epochs) {
        Branch first = branch(root, "a", recipe("training.epochs=" + epochs));
        Branch second = branch(root, "b", recipe("training.epochs=" + epochs, "penalty.lambda=0.002"));
        Branch third = branch(root, "c", recipe("training.epochs=" + epochs, "penalty.lambda=0.004", "training.seeds=[1, 2]"));
        Branch fourth = branch(root, "d", recipe("penalty.lambda=0.004")).startingFrom(first);
        return new Plan(root.toString(), List.of(first, second, third, fourth), Optional.empty());
    }

    private static StudyResult run(Plan plan, Launcher launcher, BooleanSupplier stop) throws IOException {
        return new StudyRun(plan, launcher, StudyListener.NOBODY, stop).run();
    }

    private static StudyResult runHere(Plan plan) throws IOException {
        try (Launcher here = new LocalLauncher(1, _ -> TrainingListener.NOBODY, () -> false)) {
            return run(plan, here, () -> false);
        }
    }

    private static void assertSame(StudyResult expected, StudyResult found) throws IOException {
        assertEquals(expected.toJson(), found.toJson());
        for (Trial trial : expected.plan().trials()) {
            for (String name : List.of("recipe.toml", "model.onnx", "pruned.onnx", "model.json")) {
                Path one = Path.of(expected.plan().root(), trial.name(), name);
                Path other = Path.of(found.plan().root(), trial.name(), name);
                assertArrayEquals(Files.readAllBytes(one), Files.readAllBytes(other), other::toString);
            }
        }
    }

    @Test
    void aStudyIsTheSameThereAndHere() throws IOException {
        StudyResult here = runHere(plan(folder.resolve("here"), 3));
        StudyResult there = run(plan(folder.resolve("there"), 3), spark, () -> false);
        assertEquals(5, there.ended(End.FINISHED).size(), there.toJson());
        assertSame(here, there);
        List<String> files = new FolderStorage(folder.resolve("there")).list("");
        assertTrue(files.contains("a/report.html"), files::toString);
        assertFalse(files.stream().anyMatch(name -> name.contains("attempts") || name.equals("stop")), files::toString);

        StudyResult again = run(plan(folder.resolve("there"), 3), spark, () -> false);
        assertSame(here, again);
    }

    @Test
    void anExecutorThatIsKilledChangesNothing() throws Exception {
        Path root = folder.resolve("killed");
        StudyResult here = runHere(plan(folder.resolve("unharmed"), 30));
        CompletableFuture<Void> killed = CompletableFuture.runAsync(() -> killInTheMiddle(root));
        StudyResult there = run(plan(root, 30), spark, () -> false);
        killed.get();
        assertSame(here, there);
        assertTrue(said.stream().anyMatch(text -> text.startsWith("Spark has lost executor")), said::toString);
    }

    /** Kills an executor, once both are at a training and have written checkpoints. */
    private static void killInTheMiddle(Path root) {
        try {
            FolderStorage storage = new FolderStorage(root);
            while (Stream.of("a", "b", "c/seed-1", "c/seed-2")
                            .filter(trial -> states(storage, trial) > 0)
                            .count()
                    < 2) {
                Thread.sleep(5);
            }
            List<ProcessHandle> executors = ProcessHandle.current()
                    .children()
                    .filter(process -> process.info().command().orElse("").endsWith("java"))
                    .toList();
            assertEquals(2, executors.size(), executors::toString);
            new ProcessBuilder("kill", "-9", Long.toString(executors.getFirst().pid())).start().waitFor();
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static long states(FolderStorage storage, String trial) {
        try {
            return storage.list(trial + "/checkpoints").size();
        } catch (IOException _) {
            return 0;
        }
    }

    @Test
    void whatFailsSaysWhyAndOthersGoOn() throws IOException {
        Path root = folder.resolve("failing");
        Recipe missing = recipe("data.kind=csv", "data.path=nowhere/none.csv", "data.label=y");
        Recipe far = recipe("data.kind=csv", "data.path=gopher://nowhere/none.csv", "data.label=y");
        Plan plan = new Plan(
                root.toString(),
                List.of(branch(root, "bad", missing), branch(root, "far", far), branch(root, "good", recipe())),
                Optional.empty());
        StudyResult result = run(plan, spark, () -> false);
        assertEquals(1, result.ended(End.FINISHED).size(), result.toJson());
        assertEquals(2, result.ended(End.FAILED).size(), result.toJson());
        String bad = result.outcomes().get("bad").text();
        assertTrue(bad.contains(Path.of("nowhere/none.csv").toAbsolutePath().toString()), bad);
        String away = result.outcomes().get("far").text();
        assertTrue(away.contains("gopher://nowhere/none.csv cannot be read"), away);
    }

    @Test
    void whatIsStoppedGoesOnToTheSame() throws IOException {
        Path root = folder.resolve("stopped");
        StudyResult here = runHere(plan(folder.resolve("unstopped"), 20));
        // A launcher that was stopped launches nothing more, so this one has a cluster of its own within this process.
        spark.close();
        Plan plan = plan(root, 20);
        List<StudyResult> results = new ArrayList<>();
        FolderStorage storage = new FolderStorage(root);
        try (Launcher first = own()) {
            results.add(run(plan, first, () -> states(storage, "a") > 0));
        }
        assertTrue(results.getFirst().isStopped());
        assertFalse(storage.exists("stop"));
        startCluster();
        results.add(run(plan, spark, () -> false));
        assertSame(here, results.getLast());
    }

    private static Launcher own() throws IOException {
        return LauncherProvider.of("local[1]")
                .orElseThrow()
                .open("local[1]", new LauncherProvider.Settings("a test", 1, Device.CPU, said::add));
    }
}
