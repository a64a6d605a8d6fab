package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Outcome.End;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** Carries trials out in this process, several at once on threads of their own. What brings the process down brings all down. */
public final class LocalLauncher implements Launcher {
    private final TrialRunner runner;
    private final DeviceDeal devices;
    private final Function<Trial, TrainingListener> listeners;
    private final BooleanSupplier asked;
    private final ExecutorService threads;
    private volatile boolean stopped;

    /**
     * A launcher.
     *
     * @param jobs how many trials run at once
     * @param listeners who is told how a trial goes
     * @param stop asked after each step: true to write a checkpoint and leave
     */
    public LocalLauncher(int jobs, Function<Trial, TrainingListener> listeners, BooleanSupplier stop) {
        this(jobs, DeviceDeal.NONE, listeners, stop);
    }

    /**
     * A launcher.
     *
     * @param jobs how many trials run at once
     * @param devices deals out what they run on
     * @param listeners who is told how a trial goes
     * @param stop asked after each step: true to write a checkpoint and leave
     */
    public LocalLauncher(
            int jobs, DeviceDeal devices, Function<Trial, TrainingListener> listeners, BooleanSupplier stop) {
        this(jobs, new TrialRunner(new TaskPool(jobs), place -> place), devices, listeners, stop);
    }

    /**
     * A launcher.
     *
     * @param jobs how many trials run at once
     * @param runner who carries them out
     * @param devices deals out what they run on
     * @param listeners who is told how a trial goes
     * @param stop asked after each step: true to write a checkpoint and leave
     */
    public LocalLauncher(
            int jobs,
            TrialRunner runner,
            DeviceDeal devices,
            Function<Trial, TrainingListener> listeners,
            BooleanSupplier stop) {
        this.runner = runner;
        this.devices = devices;
        this.listeners = listeners;
        this.asked = stop;
        this.threads = Executors.newFixedThreadPool(
                (int) Check.atLeast("jobs", jobs, 1),
                Thread.ofPlatform().name("espalier-trial-", 0).daemon().factory());
    }

    @Override
    public void launch(List<Trial> trials, Consumer<Outcome> told) {
        trials.forEach(trial -> threads.execute(() -> told.accept(run(trial))));
    }

    private Outcome run(Trial trial) {
        return isStopped()
                ? new Outcome(trial.name(), End.STOPPED, "")
                : devices.carryOut(
                        trial,
                        placed -> runner.run(
                                placed,
                                Storage.local(trial.root()).orElseThrow(),
                                listeners.apply(placed),
                                this::isStopped));
    }

    private boolean isStopped() {
        return stopped || asked.getAsBoolean();
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public void close() {
        threads.close();
    }
}
