package dev.espalier.spark;

import dev.espalier.engine.Device;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.MirroredTrial;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.TaskSource;
import dev.espalier.train.study.Trial;
import dev.espalier.train.study.TrialRunner;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.SignalUtils;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * What an executor does with a trial. Whatever goes wrong with it is an outcome, so that Spark tries again only what it has lost.
 */
final class TrialTask extends AbstractFunction1<Iterator<String>, String> implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String GPU = "gpu";

    /** The data of the trial before is kept for the next. */
    private static final TaskSource TASKS = new TrialRunner().tasks();

    private static final Map<String, DataCache> CACHES = new ConcurrentHashMap<>();

    static {
        // A terminal sends Ctrl-C to all processes of its own, and so to executors of this machine: they are asked to
        // stop by the driver.
        if (!SparkEnv.get().executorId().equals("driver")) {
            SignalUtils.register("INT", () -> true);
        }
    }

    private final String launcher;
    private final String origin;
    private final String cache;

    /**
     * A task.
     *
     * @param launcher what tells one launcher from another
     * @param origin the folder that the study was started in
     * @param cache where copies of data are kept; empty for the executor's own folder
     */
    TrialTask(String launcher, String origin, String cache) {
        this.launcher = launcher;
        this.origin = origin;
        this.cache = cache;
    }

    /**
     * Carries out a trial.
     *
     * @param trials one trial, as JSON
     * @return its outcome, as JSON
     */
    @Override
    public String apply(Iterator<String> trials) {
        TaskContext context = TaskContext.get();
        try {
            Trial trial = Trial.parse(trials.next());
            Outcome outcome = run(trial, context);
            context.killTaskIfInterrupted();
            return outcome.toJson();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private Outcome run(Trial trial, TaskContext context) {
        try {
            Storage storage = Storage.of(trial.root());
            StopMarker marker = StopMarker.of(launcher, trial.root(), storage);
            BooleanSupplier stop = () -> context.isInterrupted() || marker.isThere();
            if (stop.getAsBoolean()) {
                return new Outcome(trial.name(), End.STOPPED, "");
            }
            Device.useThreads(trial.threads() > 0 ? trial.threads() : context.cpus());
            return train(trial.on(device(trial, context)), storage, stop);
        } catch (IOException | RuntimeException failure) {
            return new Outcome(
                    trial.name(),
                    End.FAILED,
                    failure instanceof IllegalArgumentException
                            ? String.valueOf(failure.getMessage())
                            : failure.toString());
        }
    }

    private Outcome train(Trial trial, Storage storage, BooleanSupplier stop) throws IOException {
        Path scratch = Files.createTempDirectory(folder(), "trial-");
        try {
            TrialRunner runner = new TrialRunner(TASKS, places());
            return new MirroredTrial(trial, storage, scratch).run(runner, listener(trial), stop);
        } finally {
            DataCache.delete(scratch);
        }
    }

    private DataCache places() throws IOException {
        Path folder = cache.isEmpty() ? folder().resolve("data") : Path.of(cache);
        Files.createDirectories(folder);
        return CACHES.computeIfAbsent(
                folder + "\n" + origin, _ -> new DataCache(folder, Path.of(origin), HadoopStorage.configuration()));
    }

    /** A folder of this machine that the cluster deletes when the application ends, even after a crash. */
    private static Path folder() throws IOException {
        Path top = Stream.of("SPARK_EXECUTOR_DIRS", "LOCAL_DIRS", "SPARK_LOCAL_DIRS")
                .map(name -> Optional.ofNullable(System.getenv(name)).orElse(""))
                .filter(folders -> !folders.isEmpty())
                .map(folders -> folders.split("[,:]", -1)[0])
                .findFirst()
                .map(Path::of)
                .orElseGet(() ->
                        Path.of(SparkEnv.get().conf().get("spark.local.dir", System.getProperty("java.io.tmpdir"))));
        Path ours = top.resolve("espalier-" + SparkEnv.get().executorId() + "-"
                + ProcessHandle.current().pid());
        Files.createDirectories(ours);
        return ours;
    }

    /** The GPU that Spark has given the task, for a trial that wants one. */
    private static Device device(Trial trial, TaskContext context) {
        Device wanted = Device.parse(trial.device());
        ResourceInformation given = context.resourcesJMap().get(GPU);
        if (!wanted.isGpu() || given == null || given.addresses().length == 0) {
            return wanted;
        }
        String address = given.addresses()[0];
        if (!address.matches("\\d{1,4}")) {
            throw new IllegalArgumentException(
                    "Spark calls this task's GPU \"%s\": the discovery script must print numbers, as nvidia-smi --query-gpu=index does"
                            .formatted(address));
        }
        return Device.gpu(Integer.parseInt(address));
    }

    private static TrainingListener listener(Trial trial) {
        return new ReportAtEnd().and(new TrainingListener() {
            @Override
            public void onNote(String text) {
                System.err.println(trial.label() + ": " + text);
            }
        });
    }
}
