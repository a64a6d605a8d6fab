package dev.espalier.train.study;

import dev.espalier.train.run.DivergedException;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Outcome.End;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Carries trials out on the thread that launches them, one after the other. What goes wrong, apart from a training that goes nowhere, is thrown.
 *
 * @param runner who carries them out
 * @param listeners who is told how a trial goes
 * @param asked asked after each step: true to write a checkpoint and leave
 */
public record DirectLauncher(TrialRunner runner, Function<Trial, TrainingListener> listeners, BooleanSupplier asked)
        implements Launcher {
    @Override
    public void launch(List<Trial> trials, Consumer<Outcome> told) throws IOException {
        boolean stopped = asked.getAsBoolean();
        for (Trial trial : trials) {
            Outcome outcome = stopped ? new Outcome(trial.name(), End.STOPPED, "") : run(trial);
            stopped |= outcome.end() == End.STOPPED;
            told.accept(outcome);
        }
    }

    private Outcome run(Trial trial) throws IOException {
        try {
            return runner.runOrFail(trial, Storage.local(trial.root()).orElseThrow(), listeners.apply(trial), asked);
        } catch (DivergedException nowhere) {
            return new Outcome(trial.name(), End.GIVEN_UP, TrialRunner.message(nowhere));
        }
    }

    @Override
    public void stop() {
        // asked after each step
    }

    @Override
    public void close() {
        // nothing is held
    }
}
