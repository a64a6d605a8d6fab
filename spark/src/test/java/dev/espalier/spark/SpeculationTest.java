package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.engine.Device;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.FolderStorage;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.LocalLauncher;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;

/**
 * A machine that stands still in the middle of a training. Spark starts a second attempt only on another host, and the executors of
 * {@code local-cluster} are all on one: so this is a standalone cluster, with workers on two addresses of this machine.
 */
@Timeout(200)
final class SpeculationTest {
    private static final List<String> HOSTS = List.of("127.0.0.1", "127.0.0.2");
    private static final int MEGABYTES = 768;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** A master and two workers in this process. */
    private static final class Cluster implements AutoCloseable {
        private final RpcEnv master;
        private final List<RpcEnv> workers = new ArrayList<>();

        Cluster(Path work) {
            SparkConf conf = new SparkConf().set("spark.master.rest.enabled", "false");
            master = Master.startRpcEnvAndEndpoint(HOSTS.getFirst(), 0, 0, conf)._1();
            for (String host : HOSTS) {
                workers.add(Worker.startRpcEnvAndEndpoint(
                        host,
                        0,
                        0,
                        1,
                        MEGABYTES,
                        new String[] {address()},
                        work.toString(),
                        Option.apply(workers.size()),
                        conf,
                        Option.empty()));
            }
        }

        String address() {
            return "spark://" + master.address().hostPort();
        }

        @Override
        public void close() {
            workers.forEach(RpcEnv::shutdown);
            workers.forEach(RpcEnv::awaitTermination);
            master.shutdown();
            master.awaitTermination();
        }
    }

    /** Knows where the first attempt of the first task is, and when all attempts of it have ended. */
    private static final class Attempts extends SparkListener {
        private final CompletableFuture<String> host = new CompletableFuture<>();
        private final CountDownLatch second = new CountDownLatch(1);
        private final CountDownLatch ends = new CountDownLatch(2);

        @Override
        public void onTaskStart(SparkListenerTaskStart event) {
            if (event.taskInfo().index() == 0) {
                host.complete(event.taskInfo().host());
                if (event.taskInfo().speculative()) {
                    second.countDown();
                }
            }
        }

        @Override
        public void onTaskEnd(SparkListenerTaskEnd event) {
            if (event.taskInfo().index() == 0) {
                ends.countDown();
            }
        }
    }

    private Plan plan(String name) {
        Path root = folder.resolve(name);
        List<Branch> branches = new ArrayList<>();
        for (String trial : List.of("straggler", "quick")) {
            Recipe recipe = Recipe.parse(
                    "a recipe",
                    SparkLauncherTest.RECIPE,
                    List.of("training.epochs=" + (trial.equals("quick") ? 1 : 4)));
            branches.add(Branch.of(root.toString(), trial, recipe, new LinkedHashMap<>(), false)
                    .with(one -> one.onThreads(1)));
        }
        return new Plan(root.toString(), branches, Optional.empty());
    }

    private static StudyResult run(Plan plan, Launcher launcher) throws IOException {
        return new StudyRun(plan, launcher, StudyListener.NOBODY, () -> false).run();
    }

    @Test
    void aMachineThatStandsStillIsOvertakenAndOneResultIsKept() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/cmdline")), "what an executor was told is read from /proc");
        StudyResult here;
        try (Launcher local = new LocalLauncher(1, _ -> TrainingListener.NOBODY, () -> false)) {
            here = run(plan("here"), local);
        }
        SparkHome.make();
        FolderStorage storage = new FolderStorage(folder.resolve("there"));
        Attempts attempts = new Attempts();
        try (Cluster cluster = new Cluster(folder.resolve("work"));
                Launcher spark = new SparkLauncher(conf(cluster), _ -> {})) {
            SparkContext.getOrCreate().addSparkListener(attempts);
            CompletableFuture<ProcessHandle> still =
                    CompletableFuture.supplyAsync(() -> standStill(storage, attempts.host));
            try {
                assertEquals(here.toJson(), run(plan("there"), spark).toJson());
            } finally {
                signal("-CONT", still.get());
            }
            assertEquals(0, attempts.second.getCount(), "there was no second attempt");
            assertTrue(attempts.ends.await(60, TimeUnit.SECONDS), "the first attempt does not end");
        }
        List<String> files = storage.list("");
        assertFalse(files.stream().anyMatch(name -> name.contains("attempts")), files::toString);
        for (String file : List.of("straggler/model.onnx", "straggler/pruned.onnx")) {
            assertArrayEquals(
                    Files.readAllBytes(folder.resolve("here").resolve(file)),
                    Files.readAllBytes(folder.resolve("there").resolve(file)),
                    file);
        }
    }

    private static SparkConf conf(Cluster cluster) {
        // Executors are as those of local-cluster: processes of this machine, with this class path.
        SparkConf conf = SparkSettings.of(
                "local-cluster[2,1,%d]".formatted(MEGABYTES),
                new LauncherProvider.Settings("speculation", 1, Device.CPU, _ -> {}));
        return conf.setMaster(cluster.address())
                .set("spark.speculation", "true")
                .set("spark.speculation.interval", "100ms")
                .set("spark.speculation.quantile", "0.5")
                .set("spark.speculation.multiplier", "0.1")
                .set("spark.speculation.minTaskRuntime", "100ms")
                .set("spark.speculation.efficiency.enabled", "false");
    }

    /** Lets the executor of the straggler stand still, once there is a checkpoint. */
    private static ProcessHandle standStill(FolderStorage storage, CompletableFuture<String> host) {
        try {
            while (storage.list("straggler/checkpoints").isEmpty()) {
                Thread.sleep(5);
            }
            String told = "\0--hostname\0" + host.get() + "\0";
            for (ProcessHandle child : ProcessHandle.current().children().toList()) {
                if (Files.readString(Path.of("/proc", Long.toString(child.pid()), "cmdline"))
                        .contains(told)) {
                    signal("-STOP", child);
                    return child;
                }
            }
            throw new IllegalStateException("no executor is on " + host.get());
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void signal(String signal, ProcessHandle process) throws IOException, InterruptedException {
        assertEquals(
                0,
                new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                        .start()
                        .waitFor());
    }
}
