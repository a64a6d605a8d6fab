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
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Studies on two executors that are processes of this machine: the same bytes as in one process, whatever happens to them. */
@Timeout(300)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SparkLauncherTest {
    static final String RECIPE = """
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
            epochs = 8
            batch_size = 64
            prune_for = "size"

            [checkpoint]
            every = 5

            [divergence]
            chance_epochs = 0
            """;

    private static final String CLUSTER = "local-cluster[2,1,768]";

    private static final List<String> said = new CopyOnWriteArrayList<>();

    @TempDir
    private static Path folder;

    private static Launcher spark;
    private static StudyResult here;

    @BeforeAll
    static void startCluster() throws IOException {
        SparkHome.make();
        Plan plan = plan("here");
        try (Launcher local = new LocalLauncher(1, _ -> TrainingListener.NOBODY, () -> false)) {
            here = run(plan, local, () -> false);
        }
        System.setProperty("spark.task.maxFailures", "2");
        spark = open(CLUSTER);
    }

    @AfterAll
    static void stopCluster() {
        spark.close();
        System.clearProperty("spark.task.maxFailures");
    }

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("a recipe", RECIPE, List.of(overrides));
    }

    private static Branch branch(Path root, String name, Recipe recipe) {
        return Branch.of(root.toString(), name, recipe, new LinkedHashMap<>(), false)
                .with(trial -> trial.onThreads(1));
    }

    /** Three points, one of two seeds, and one that starts from where another ended. */
    private static Plan plan(String name) {
        return plan(folder.resolve(name));
    }

    private static Plan plan(Path root) {
        Branch first = branch(root, "a", recipe());
        Branch second = branch(root, "b", recipe("penalty.lambda=0.002", "training.seeds=[1, 2]"));
        Branch third = branch(root, "c", recipe("penalty.lambda=0.004")).startingFrom(first);
        return new Plan(root.toString(), List.of(first, second, third), Optional.empty());
    }

    private static StudyResult run(Plan plan, Launcher launcher, BooleanSupplier stop) throws IOException {
        return new StudyRun(plan, launcher, StudyListener.NOBODY, stop).run();
    }

    private static void assertSameAsHere(StudyResult found) throws IOException {
        StudyResult expected = here;
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
        StudyResult there = run(plan("there"), spark, () -> false);
        assertEquals(4, there.ended(End.FINISHED).size(), there.toJson());
        assertSameAsHere(there);
        List<String> files = new FolderStorage(folder.resolve("there")).list("");
        assertTrue(files.contains("a/report.html"), files::toString);
        assertFalse(files.stream().anyMatch(name -> name.contains("attempts") || name.equals("stop")), files::toString);

        assertSameAsHere(run(plan("there"), spark, () -> false));
    }

    @Test
    void anExecutorThatIsKilledChangesNothing() throws Exception {
        CompletableFuture<Void> killed = CompletableFuture.runAsync(() -> killInTheMiddle(folder.resolve("killed")));
        assertSameAsHere(run(plan("killed"), spark, () -> false));
        killed.get();
        assertTrue(said.stream().anyMatch(text -> text.startsWith("Spark has lost executor")), said::toString);
    }

    /** Kills an executor, once both are at a training and have written checkpoints. */
    private static void killInTheMiddle(Path root) {
        try {
            FolderStorage storage = new FolderStorage(root);
            while (Stream.of("a", "b/seed-1", "b/seed-2")
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
            new ProcessBuilder("kill", "-9", Long.toString(executors.getFirst().pid()))
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Directs the study in a folder, on a cluster of its own: to be killed. */
    static final class Victim {
        private Victim() {}

        static void main(String[] arguments) throws IOException {
            try (Launcher launcher = open(CLUSTER)) {
                run(plan(Path.of(arguments[0])), launcher, () -> false);
            }
        }

        static Process start(Path root) throws IOException {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.addAll(List.of(
                    "-classpath", System.getProperty("java.class.path"), Victim.class.getName(), root.toString()));
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("victim.log").toFile())
                    .start();
        }
    }

    /** Its executors end by themselves, and another driver goes on from their checkpoints. */
    @Test
    void aDriverThatIsKilledChangesNothing() throws Exception {
        Process driver = Victim.start(folder.resolve("orphaned"));
        FolderStorage storage = new FolderStorage(folder.resolve("orphaned"));
        List<ProcessHandle> executors;
        try {
            while (states(storage, "a") == 0) {
                assertTrue(driver.isAlive(), () -> log("victim.log"));
                Thread.sleep(5);
            }
            executors = driver.descendants().toList();
        } finally {
            driver.destroyForcibly().waitFor();
        }
        assertFalse(executors.isEmpty());
        for (ProcessHandle executor : executors) {
            executor.onExit().get(60, TimeUnit.SECONDS);
        }
        assertFalse(storage.exists("a/result.json"), "it was not killed in the middle");
        assertSameAsHere(run(plan("orphaned"), spark, () -> false));
    }

    private static String log(String name) {
        try {
            return Files.readString(folder.resolve(name));
        } catch (IOException failure) {
            return failure.toString();
        }
    }

    private static long states(FolderStorage storage, String trial) {
        try {
            return storage.list(trial + "/checkpoints").size();
        } catch (IOException _) {
            return 0;
        }
    }

    private static Outcome outcome(StudyResult result, String name) {
        return Objects.requireNonNull(result.outcomes().get(name));
    }

    @Test
    void whatFailsSaysWhyAndOthersGoOn() throws IOException {
        Path root = folder.resolve("failing");
        Recipe missing = recipe("data.kind=csv", "data.path=nowhere/none.csv", "data.label=y");
        Recipe far = recipe("data.kind=csv", "data.path=gopher://nowhere/none.csv", "data.label=y");
        Plan plan = new Plan(
                root.toString(),
                List.of(
                        branch(root, "bad", missing),
                        branch(root, "far", far),
                        branch(root, "good", recipe("training.epochs=1"))),
                Optional.empty());
        StudyResult result = run(plan, spark, () -> false);
        assertEquals(1, result.ended(End.FINISHED).size(), result.toJson());
        assertEquals(2, result.ended(End.FAILED).size(), result.toJson());
        String bad = outcome(result, "bad").text();
        assertTrue(bad.contains(Path.of("nowhere/none.csv").toAbsolutePath().toString()), bad);
        String away = outcome(result, "far").text();
        assertTrue(away.contains("gopher://nowhere/none.csv cannot be read"), away);
    }

    @Test
    void aTrialThatTakesExecutorsWithItIsLeftAlone() throws IOException {
        Path root = folder.resolve("crashing");
        Recipe crashing = recipe("data.kind=csv", "data.path=crash://nowhere/none.csv", "data.label=y");
        Plan plan = new Plan(
                root.toString(),
                List.of(branch(root, "bad", crashing), branch(root, "good", recipe())),
                Optional.empty());
        StudyResult result = run(plan, spark, () -> false);
        String bad = outcome(result, "bad").text();
        assertTrue(bad.startsWith("2 executors were lost while they carried it out"), bad);
        assertEquals(End.FINISHED, outcome(result, "good").end(), result.toJson());
    }

    /** A launcher that was stopped launches nothing more, and there is one Spark in a process: so the cluster has to go, and this is last. */
    @Test
    @Order(Integer.MAX_VALUE)
    void whatIsStoppedGoesOnToTheSame() throws IOException {
        spark.close();
        FolderStorage storage = new FolderStorage(folder.resolve("stopped"));
        try (Launcher first = open("local[1]")) {
            StudyResult stopped = run(plan("stopped"), first, () -> states(storage, "a") > 0);
            assertTrue(stopped.isStopped(), stopped.toJson());
        }
        assertFalse(storage.exists("stop"));
        try (Launcher second = open("local[1]")) {
            assertSameAsHere(run(plan("stopped"), second, () -> false));
        }
    }

    private static Launcher open(String on) throws IOException {
        return LauncherProvider.of(on)
                .orElseThrow()
                .open(on, new LauncherProvider.Settings("the test of Espalier", 1, Device.CPU, said::add));
    }
}
