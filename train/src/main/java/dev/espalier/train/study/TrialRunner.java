package dev.espalier.train.study;

import dev.espalier.engine.Device;
import dev.espalier.engine.GpuFailure;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.DivergedException;
import dev.espalier.train.run.Progress;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.TimeLimit;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * Carries out one trial in this process, in a folder of this machine. What is finished there is taken as it is, and what was stopped goes on.
 *
 * @param tasks where it has from what it learns
 * @param places from where a recipe says that files are to where they are on this machine
 * @param limit how long it may take
 */
public record TrialRunner(TaskSource tasks, UnaryOperator<String> places, TimeLimit limit) {

    /**
     * One without a limit of time.
     *
     * @param tasks where it has from what it learns
     * @param places from where a recipe says that files are to where they are on this machine
     */
    public TrialRunner(TaskSource tasks, UnaryOperator<String> places) {
        this(tasks, places, TimeLimit.NONE);
    }

    /** One that loads what recipes ask for from where they say, and keeps it for the next trial. */
    public TrialRunner() {
        this(new TaskPool(1), UnaryOperator.identity());
    }

    /**
     * Trains, and tells how it ended. Whatever goes wrong is an outcome too.
     *
     * @param trial the trial
     * @param root the study's folder on this machine
     * @param listener told how it goes
     * @param stop asked after each step: true to write a checkpoint and leave
     * @return how it ended
     */
    public Outcome run(Trial trial, Path root, TrainingListener listener, BooleanSupplier stop) {
        try {
            return runOrFail(trial, root, listener, stop);
        } catch (DivergedException nowhere) {
            return new Outcome(trial.name(), End.GIVEN_UP, message(nowhere));
        } catch (IOException | RuntimeException | Error failure) {
            return new Outcome(trial.name(), End.FAILED, message(failure));
        }
    }

    /** What an exception says; its name too, where that is not made for users. */
    static String message(Throwable failure) {
        String said = String.valueOf(failure.getMessage());
        return failure instanceof IllegalArgumentException
                        || failure instanceof DivergedException
                        || failure instanceof GpuFailure
                ? said
                : failure instanceof IOException
                        ? failure.getClass() == IOException.class
                                ? said
                                : failure.getClass().getSimpleName() + ": " + said
                        : failure.toString();
    }

    /**
     * Trains.
     *
     * @param trial the trial
     * @param root the study's folder on this machine
     * @param listener told how it goes
     * @param stop asked after each step: true to write a checkpoint and leave
     * @return how it ended: finished, paused or stopped
     * @throws IOException if something cannot be read or written
     * @throws DivergedException if the training goes nowhere
     */
    Outcome runOrFail(Trial trial, Path root, TrainingListener listener, BooleanSupplier stop) throws IOException {
        Recipe recipe = trial.parsed();
        RunFolder folder = new RunFolder(root.resolve(trial.name()));
        Optional<Outcome> before = before(trial, recipe, folder);
        if (before.isPresent()) {
            // Who finished it may have been killed before anybody was told.
            if (before.get().end() == End.FINISHED && Files.notExists(folder.report())) {
                listener.onEnd(folder);
            }
            return before.get();
        }
        // Before anything is computed: which libtorch is loaded depends on it.
        Device device = Device.parse(trial.device()).require();
        Recipe here = recipe.relocated(places);
        Task task = tasks.take(here, listener);
        try {
            task.notes().forEach(listener::onNote);
            copyPrices(trial, root, folder);
            Pause pause = new Pause(trial.untilEpoch());
            RunOptions options =
                    new RunOptions(device, pause.and(listener), () -> pause.isDue() || stop.getAsBoolean(), limit);
            long seed = recipe.training().seeds().getFirst();
            TrainingRun run =
                    new TrainingRun(recipe, here, task, start(trial, root, task, seed), seed, folder, options);
            try {
                if (run.resume().isPresent()) {
                    listener.onEnd(folder);
                }
            } catch (DivergedException nowhere) {
                listener.onEnd(folder);
                throw nowhere;
            }
        } finally {
            tasks.giveBack(here, task);
        }
        return before(trial, recipe, folder).orElseGet(() -> new Outcome(trial.name(), End.STOPPED, ""));
    }

    /** What is there already, if that is all that is wanted. */
    private static Optional<Outcome> before(Trial trial, Recipe recipe, RunFolder folder) throws IOException {
        Optional<RunResult> result = TrainingRun.finished(recipe, folder);
        if (trial.untilEpoch() > 0) {
            // What has gone on since is compared by how it stood then, like the others.
            return TrainingRun.after(folder, trial.untilEpoch())
                    .map(line -> new Outcome(trial.name(), End.PAUSED, JsonFile.line(line)));
        }
        return result.map(done -> new Outcome(trial.name(), End.FINISHED, JsonFile.line(done)));
    }

    private static Graph start(Trial trial, Path root, Task task, long seed) throws IOException {
        return trial.start().equals(Trial.FRESH)
                ? task.model(Weights.seeded(seed))
                : RawInputs.without(OnnxReader.read(new RunFolder(root.resolve(trial.start())).model())
                        .graph());
    }

    /** What another trial has measured is taken as it is: the machine has no say in how much a layer costs. */
    private static void copyPrices(Trial trial, Path root, RunFolder folder) throws IOException {
        Path others = new RunFolder(root.resolve(trial.prices())).pricesFile();
        if (!trial.prices().equals(trial.name()) && Files.exists(others) && !Files.exists(folder.pricesFile())) {
            Files.createDirectories(folder.path());
            RunFolder.replace(folder.pricesFile(), Files.readString(others));
        }
    }

    /** Knows when the epoch is done that a trial is to pause after. */
    private static final class Pause implements TrainingListener {
        private final int epoch;
        private volatile boolean due;

        Pause(int epoch) {
            this.epoch = epoch;
        }

        boolean isDue() {
            return due;
        }

        @Override
        public void onStep(Progress progress) {
            due = epoch > 0 && progress.step() * progress.epochs() >= epoch * progress.steps();
        }
    }
}
