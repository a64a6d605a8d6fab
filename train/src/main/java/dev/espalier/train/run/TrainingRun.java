package dev.espalier.train.run;

import dev.espalier.core.check.Writing;
import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Device;
import dev.espalier.engine.GpuFailure;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.runtime.Timing.Goal;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.MetricsLog;
import dev.espalier.train.journal.PriceList;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A training from one seed, in a folder of its own: from a model's first weights to {@code pruned.onnx}.
 *
 * <p>Killed at any moment, a run that is resumed ends with the same weights as one that was not: what it goes on from is
 * written down every so many steps, and nothing else has a memory.
 */
public final class TrainingRun {
    /** The part of the time that is left in which layers may be timed. */
    private static final double PRICES = 0.1;

    private final Recipe written;
    private final Recipe recipe;
    private final Task task;
    private final Graph initial;
    private final long seed;
    private final RunFolder folder;
    private final RunOptions options;
    private final Networks networks;
    private final Checkpoints checkpoints;

    /** Where the run stands, as memory that a checkpoint holds: the epoch and the number of the next batch. */
    private final long[] position = new long[2];

    /** Lines of metrics that are written. */
    private final long[] lines = new long[1];

    /** Seconds that were spent on the run, up to the last checkpoint. */
    private final double[] seconds = new double[1];

    /** When {@link #seconds} was set. */
    private long since = System.nanoTime();

    /** Makes a network to be trained. */
    @FunctionalInterface
    interface Networks {
        Network make(Graph initial, Objective objective, Device device);
    }

    /**
     * A run.
     *
     * @param recipe how to train
     * @param task what is learned
     * @param seed what all that is random depends on
     * @param folder where everything is written
     * @param options what does not change the outcome
     */
    public TrainingRun(Recipe recipe, Task task, long seed, RunFolder folder, RunOptions options) {
        this(recipe, task, task.model(Weights.seeded(seed)), seed, folder, options);
    }

    /**
     * A run that starts from given weights.
     *
     * @param recipe how to train
     * @param task what is learned
     * @param initial the model to start from
     * @param seed what all that is random depends on
     * @param folder where everything is written
     * @param options what does not change the outcome
     */
    public TrainingRun(Recipe recipe, Task task, Graph initial, long seed, RunFolder folder, RunOptions options) {
        this(recipe, recipe, task, initial, seed, folder, options);
    }

    /**
     * A run whose recipe names files that are elsewhere.
     *
     * @param written the recipe as it is written down
     * @param recipe the same with those files where they are on this machine
     * @param task what is learned
     * @param initial the model to start from
     * @param seed what all that is random depends on
     * @param folder where everything is written
     * @param options what does not change the outcome
     */
    public TrainingRun(
            Recipe written, Recipe recipe, Task task, Graph initial, long seed, RunFolder folder, RunOptions options) {
        this(written, recipe, task, initial, seed, folder, options, Network::new);
    }

    /** A run on a network that is made in some other way. */
    TrainingRun(
            Recipe written,
            Recipe recipe,
            Task task,
            Graph initial,
            long seed,
            RunFolder folder,
            RunOptions options,
            Networks networks) {
        this.written = written.withSeed(seed);
        this.recipe = recipe.withSeed(seed);
        this.task = task;
        this.initial = initial;
        this.seed = seed;
        this.folder = folder;
        this.options = options;
        this.networks = networks;
        this.checkpoints =
                new Checkpoints(folder.checkpoints(), recipe.checkpoint().keep());
    }

    /**
     * What came out of the run in a folder, if it is finished. Neither data nor model is loaded.
     *
     * @param recipe how it was trained, with one seed
     * @param folder the run's folder; it may not be there
     * @return what came out; empty if there is something left to do
     * @throws IOException if the folder cannot be read
     * @throws IllegalArgumentException if the run was begun with another recipe
     */
    public static Optional<RunResult> finished(Recipe recipe, RunFolder folder) throws IOException {
        RecipeChanges.requireSame(folder, recipe);
        return isEmpty(folder.model()) || isEmpty(folder.pruned()) ? Optional.empty() : folder.result();
    }

    /** What a disk leaves of a model that it said was written, and was not, when the power was cut: then there is a result, and no model. */
    private static boolean isEmpty(Path file) throws IOException {
        return Files.exists(file) && Files.size(file) == 0;
    }

    /**
     * How the run in a folder stood after an epoch, if it can go on from there or from later.
     *
     * @param folder the run's folder; it may not be there
     * @param epoch the epoch, which it was evaluated after
     * @return the line of its metrics; empty if it has not come so far
     * @throws IOException if the folder cannot be read
     */
    public static Optional<Metrics> after(RunFolder folder, int epoch) throws IOException {
        long saved = Files.exists(folder.resultFile())
                ? Long.MAX_VALUE
                : new Checkpoints(folder.checkpoints(), 1)
                        .steps().stream().mapToLong(Long::longValue).max().orElse(0);
        return folder.metrics().stream()
                .filter(line -> line.epoch() == epoch && line.step() <= saved)
                .findFirst();
    }

    /**
     * Trains from the beginning. The folder must be empty or not there yet; it is made when the first step can be done.
     *
     * @return what came out; empty if the run was stopped, and can be resumed
     * @throws IOException if something cannot be written; what was written before stays
     */
    public Optional<RunResult> begin() throws IOException {
        folder.requireFree();
        return train();
    }

    /**
     * Goes on from the last checkpoint, or starts if there is none. A run that is finished is left as it is. What was begun with
     * another recipe is refused.
     *
     * @return what came out; empty if the run was stopped again
     * @throws IOException if something cannot be read or written; what was written before stays
     */
    public Optional<RunResult> resume() throws IOException {
        Optional<RunResult> finished = finished(written, folder);
        return finished.isPresent() ? finished : train();
    }

    private Optional<RunResult> train() throws IOException {
        try {
            return trainOrGiveUp();
        } catch (DivergedException nowhere) {
            folder.giveUp(String.valueOf(nowhere.getMessage()));
            throw nowhere;
        } catch (RuntimeException failure) {
            Optional<GpuFailure> gpu = GpuFailure.in(failure);
            throw gpu.isEmpty() ? failure : gpu.get().with(whatIsLeft());
        }
    }

    private String whatIsLeft() throws IOException {
        return checkpoints
                .newest()
                .map(file -> "go on with --resume: " + file + " is still there")
                .orElse("there is no checkpoint yet, so nothing is lost: --resume begins with epoch 1");
    }

    private Optional<RunResult> trainOrGiveUp() throws IOException {
        // Before the model is built: that takes time.
        folder.requireNoOther();
        recipe.target()
                .ifPresent(target -> SmallestModel.require(
                        target, initial, recipe.groupRules().derive(initial)));
        Optional<PriceList> prices = prices();
        Network network = networks.make(initial, task.objective(), options.device());
        try (Session session = new Session(
                recipe,
                task,
                initial,
                seed,
                options.listener(),
                options.device().kernels(),
                network,
                prices)) {
            Writing.folder(folder.path());
            folder.enter();
            try {
                restore(session);
                if (prices.isPresent() && !Files.exists(folder.pricesFile())) {
                    JsonFile.write(folder.pricesFile(), prices.get());
                }
                Files.deleteIfExists(folder.reasonFile());
                since = System.nanoTime();
                if (!train(session)) {
                    return Optional.empty();
                }
                session.finish();
                return Optional.of(new Export(
                                task,
                                folder,
                                goal(),
                                recipe.target(),
                                recipe.evaluation().judged(),
                                options)
                        .deliver(session, seed, secondsNow()));
            } finally {
                folder.leave();
            }
        }
    }

    /** Goes back to the last checkpoint, if there is one. */
    private void restore(Session session) throws IOException {
        Optional<Path> checkpoint = checkpoints.load(state(session), options.listener()::onNote);
        if (checkpoint.isPresent()) {
            session.restore();
            options.listener().onNote("going on from " + checkpoint.get());
        } else {
            writeOrigin(session);
        }
    }

    /**
     * What layers take: as it was measured when the run began, or before in another run whose file was put here, so that the machine
     * has no say in how it goes on.
     */
    private Optional<PriceList> prices() throws IOException {
        if (!recipe.needsPrices()) {
            return Optional.empty();
        }
        if (Files.exists(folder.pricesFile())) {
            return Optional.of(JsonFile.read(folder.pricesFile(), PriceList.class));
        }
        return Optional.of(LatencyPrices.measure(
                initial,
                recipe.groupRules().derive(initial),
                1,
                options.limit().atMost(LatencyPrices.SECONDS, PRICES),
                options.listener()::onNote));
    }

    private Goal goal() {
        return recipe.training().pruneFor().goal(recipe.target().isPresent());
    }

    /** All that could fail before the first step has not: now there is something to write down. */
    private void writeOrigin(Session session) throws IOException {
        if (Standing.of(folder) != Standing.NOTHING) {
            options.listener()
                    .onNote(folder.path() + " has no checkpoint that could be gone on from: its training ended before"
                            + " the first, or all are damaged; it begins again with epoch 1");
        }
        RunFolder.replace(folder.recipe(), written.toToml());
        folder.write(Origin.provenance(seed, session.kernelName(), options.device()));
    }

    /** To the end; false if the run was stopped before. */
    private boolean train(Session session) throws IOException {
        Pace pace = new Pace(session.steps(), session.totalSteps());
        StepBudget budget = new StepBudget(options.limit());
        Examples examples = examples();
        try (MetricsLog log = new MetricsLog(folder, Math.toIntExact(lines[0]))) {
            if (session.steps() == 0 && recipe.startsReady()) {
                evaluateBefore(session, log);
                budget.evaluated();
            }
            boolean stop = false;
            while (session.isAhead() || examples.hasNext()) {
                budget.mark();
                int epoch = Math.toIntExact(session.position(examples).epoch());
                boolean saves = (session.steps() + 1) % recipe.checkpoint().every() == 0;
                boolean late = budget.isLate(session.totalSteps() - session.steps());
                session.step(examples, !stop && !saves && !late);
                Progress progress = session.progress(epoch, pace.secondsLeft(session.steps()));
                options.listener().onStep(progress);
                budget.stepped();
                if (session.isAhead()) {
                    stop = options.stop().getAsBoolean();
                    continue;
                }
                position[0] = examples.position().epoch();
                position[1] = examples.position().batch();
                if (position[0] > epoch && isEvaluated(session, epoch, budget)) {
                    budget.mark();
                    evaluate(session, progress, log);
                    budget.evaluated();
                }
                if (position[0] > epoch) {
                    session.checkConnected(epoch);
                }
                long left = budget.leaveOut(session.totalSteps() - session.steps(), session.dispensable());
                if (left > 0) {
                    examples.close();
                    leaveOut(session, left);
                    examples = examples();
                }
                stop |= options.stop().getAsBoolean();
                if (stop || !examples.hasNext() || saves) {
                    save(session);
                }
                if (stop && examples.hasNext()) {
                    return false;
                }
            }
        } finally {
            examples.close();
        }
        return true;
    }

    private Examples examples() {
        return new LookAhead(task.examples(seed, new BatchPosition(position[0], position[1]), recipe.totalEpochs()));
    }

    /** Moves on by some steps, whose batches nobody looks at. */
    private void leaveOut(Session session, long steps) {
        session.leaveOut(steps);
        long step = position[0] * session.stepsPerEpoch()
                + position[1] / recipe.training().accumulate()
                + steps;
        position[0] = step / session.stepsPerEpoch();
        position[1] = step % session.stepsPerEpoch() * recipe.training().accumulate();
    }

    /** After every so many epochs as far as there is time for that, and at the end of each phase. */
    private boolean isEvaluated(Session session, int epoch, StepBudget budget) {
        return ((epoch + 1) % recipe.evaluation().every() == 0 && budget.mayWatch()) || session.isLastOfPhase(epoch);
    }

    private void evaluate(Session session, Progress progress, MetricsLog log) throws IOException {
        Evaluation evaluation = session.evaluate();
        Metrics metrics = session.metrics(evaluation, progress, secondsNow());
        log.append(metrics);
        lines[0]++;
        options.listener().onEvaluation(progress, metrics);
        session.checkProgress(evaluation);
        session.meter().reset();
    }

    /** Epoch 0: what a model scores that could do the task before. */
    private void evaluateBefore(Session session, MetricsLog log) throws IOException {
        Evaluation evaluation = session.evaluate();
        Progress progress = session.before(evaluation);
        Metrics metrics = session.metrics(evaluation, progress, secondsNow());
        log.append(metrics);
        lines[0]++;
        options.listener().onEvaluation(progress, metrics);
    }

    private void save(Session session) throws IOException {
        seconds[0] = secondsNow();
        since = System.nanoTime();
        checkpoints.save(session.steps(), state(session));
        options.listener().onCheckpoint(folder, checkpoints.file(session.steps()));
    }

    private double secondsNow() {
        return seconds[0] + (System.nanoTime() - since) / 1e9;
    }

    /** All that a resumed run needs, as live memory by name. */
    private SequencedMap<String, MemorySegment> state(Session session) {
        SequencedMap<String, MemorySegment> state = session.state();
        state.put("run/position", MemorySegment.ofArray(position));
        state.put("run/lines", MemorySegment.ofArray(lines));
        state.put("run/seconds", MemorySegment.ofArray(seconds));
        return state;
    }
}
