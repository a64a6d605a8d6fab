package dev.espalier.spark;

import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.MirroredTrial;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.jspecify.annotations.Nullable;
import scala.collection.immutable.Range$;
import scala.concurrent.ExecutionContext;
import scala.runtime.BoxedUnit;

/**
 * Carries trials out on the machines of a Spark cluster. All that are launched together are one job with a task for each, so that Spark can
 * start a second attempt where one is slow ({@code spark.speculation}). A trial whose machine is lost goes on elsewhere from the last checkpoint
 * in the study's folder, which all machines must see.
 */
public final class SparkLauncher implements Launcher {
    private static final int COMMITTERS = 4;
    private static final String ATTEMPTS = "/attempts/";
    private static final String RESULT = "/result.json";
    private static final Pattern CRASHED = Pattern.compile("Task (\\d+) in stage \\S+ failed (\\d+) times");

    private final JavaSparkContext context;
    private final String id = UUID.randomUUID().toString();
    private final Path origin = Path.of("").toAbsolutePath();
    private final Map<String, Storage> roots = new ConcurrentHashMap<>();
    // Results are told by the thread that schedules all tasks: what takes longer must not be done there.
    private final ExecutorService committers = Executors.newFixedThreadPool(
            COMMITTERS, Thread.ofPlatform().name("espalier-commit-", 0).daemon().factory());
    private volatile boolean stopped;

    /**
     * Connects to a cluster, or starts one.
     *
     * @param conf Spark's settings
     * @param told told what a user should know, a sentence at a time, by any thread
     */
    public SparkLauncher(SparkConf conf, Consumer<String> told) {
        context = new JavaSparkContext(conf);
        context.sc().addSparkListener(new SparkListener() {
            @Override
            public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
                told.accept("Spark has lost executor %s (%s): what ran there goes on elsewhere"
                        .formatted(event.executorId(), event.reason().strip()));
            }
        });
    }

    @Override
    public void launch(List<Trial> trials, Consumer<Outcome> told) throws IOException {
        if (stopped) {
            trials.forEach(trial -> told.accept(new Outcome(trial.name(), End.STOPPED, "")));
            return;
        }
        List<Trial> placed = new ArrayList<>();
        for (Trial trial : trials) {
            Trial absolute = absolute(trial);
            prepare(absolute.root());
            placed.add(absolute);
        }
        if (context.sc().isStopped()) {
            throw new IOException(
                    "Spark has ended the application (its own messages say why); what was done is kept, and the same command"
                            + " goes on from there");
        }
        new Batch(placed, told).submit();
    }

    /** The same with a root that means the same folder in other processes. */
    private Trial absolute(Trial trial) {
        String root = Storage.local(trial.root())
                .map(path -> origin.resolve(path).normalize().toString())
                .orElse(trial.root());
        return new Trial(
                root,
                trial.name(),
                trial.recipe(),
                trial.start(),
                trial.prices(),
                trial.untilEpoch(),
                trial.threads(),
                trial.device());
    }

    /** The first time that a study's folder is seen: what an earlier launcher was told last, or did not come to do. */
    private void prepare(String root) throws IOException {
        if (roots.containsKey(root)) {
            return;
        }
        Storage storage = Storage.of(root);
        storage.delete(StopMarker.FILE);
        for (String name : storage.list("")) {
            int attempts = ("/" + name).lastIndexOf(ATTEMPTS);
            if (attempts >= 0 && name.endsWith(RESULT)) {
                MirroredTrial.commit(storage, name.substring(0, Math.max(0, attempts - 1)));
            }
        }
        roots.put(root, storage);
    }

    /** Trials that are launched together, and those of them that Spark has given back. */
    private final class Batch {
        private final List<Trial> trials;
        private final Consumer<Outcome> told;
        private final BitSet given = new BitSet();

        Batch(List<Trial> trials, Consumer<Outcome> told) {
            this.trials = trials;
            this.told = told;
        }

        void submit() {
            RDD<String> tasks = context.parallelize(
                            trials.stream().map(Trial::toJson).toList(), trials.size())
                    .rdd();
            TrialTask task =
                    new TrialTask(id, origin.toString(), context.getConf().get(SparkSettings.CACHE, ""));
            context.sc()
                    .<String, String, BoxedUnit>submitJob(
                            tasks,
                            task,
                            Range$.MODULE$.apply(0, trials.size()).toIndexedSeq(),
                            (index, outcome) -> {
                                give((Integer) index, outcome);
                                return BoxedUnit.UNIT;
                            },
                            () -> BoxedUnit.UNIT)
                    .onComplete(
                            end -> {
                                if (end.isFailure()) {
                                    fail(end.failed().get());
                                }
                                return BoxedUnit.UNIT;
                            },
                            ExecutionContext.fromExecutor(committers));
        }

        private void give(int index, String outcome) {
            synchronized (given) {
                given.set(index);
            }
            committers.execute(() -> told.accept(committed(trials.get(index), outcome)));
        }

        /** Spark has given the job up: because of one trial, or altogether. */
        private void fail(Throwable failure) {
            List<Integer> left;
            synchronized (given) {
                left = IntStream.range(0, trials.size())
                        .filter(index -> !given.get(index))
                        .boxed()
                        .toList();
            }
            String message = String.valueOf(failure.getMessage());
            Matcher crashed = CRASHED.matcher(message);
            Integer guilty = crashed.find() ? Integer.valueOf(crashed.group(1)) : null;
            if (stopped) {
                left.forEach(index -> told.accept(new Outcome(trials.get(index).name(), End.STOPPED, "")));
                return;
            }
            if (guilty == null || !left.contains(guilty)) {
                left.forEach(index -> told.accept(failed(
                        index,
                        "Spark has given up: " + message.lines().findFirst().orElse(""))));
                return;
            }
            told.accept(failed(guilty, reason(Integer.parseInt(crashed.group(2)), lastFailure(message))));
            List<Trial> others = left.stream()
                    .filter(index -> !index.equals(guilty))
                    .map(trials::get)
                    .toList();
            if (!others.isEmpty()) {
                new Batch(others, told).submit();
            }
        }

        private Outcome failed(int index, String message) {
            return new Outcome(trials.get(index).name(), End.FAILED, message);
        }
    }

    private static String lastFailure(String message) {
        int at = message.indexOf("most recent failure: ");
        return message.substring(Math.max(at, 0)).lines().findFirst().orElse("");
    }

    /** What a trial that no executor could carry out failed of; what goes wrong within a training is an outcome, and not told here. */
    static String reason(int attempts, String last) {
        if (last.contains("ExecutorLostFailure")) {
            return "%d executors were lost while they carried it out, so it is left alone; they may have had too little memory"
                            .formatted(attempts)
                    + " (spark.executor.memory, spark.executor.memoryOverhead). "
                    + last;
        }
        String mend = last.contains("ClassNotFoundException: dev.espalier")
                ? "they were not sent Espalier's JAR (spark.jars, see docs/spark.md). "
                : "";
        return "executors have tried it %d times, and could not: %s%s".formatted(attempts, mend, last);
    }

    private Outcome committed(Trial trial, String json) {
        try {
            Outcome outcome = Outcome.parse(json);
            Storage storage = storage(trial);
            return outcome.end() != End.FINISHED || MirroredTrial.commit(storage, trial.name())
                    ? outcome
                    : new Outcome(
                            trial.name(),
                            End.FAILED,
                            "it is finished, but its files are not in %s here: choose a folder that all machines share, such as one on NFS, hdfs://… or s3a://…"
                                    .formatted(trial.root()));
        } catch (IOException failure) {
            return new Outcome(trial.name(), End.FAILED, "its files cannot be put in their places: " + failure);
        }
    }

    private Storage storage(Trial trial) {
        @Nullable Storage storage = roots.get(trial.root());
        if (storage == null) {
            throw new IllegalStateException(trial.root() + " was not prepared");
        }
        return storage;
    }

    @Override
    public void stop() {
        stopped = true;
        roots.forEach((root, storage) -> {
            try {
                storage.write(StopMarker.FILE, "stop\n");
            } catch (IOException failure) {
                // Then no machine can be asked politely; what they had written stays.
                context.sc().cancelAllJobs();
            }
        });
    }

    @Override
    public void close() {
        committers.close();
        context.close();
        roots.values().forEach(storage -> {
            try {
                storage.delete(StopMarker.FILE);
            } catch (IOException _) {
                // The next launcher deletes it.
            }
        });
    }
}
