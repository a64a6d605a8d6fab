package dev.espalier.train.study;

import dev.espalier.train.run.TrainingListener;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Opens what carries trials out. */
@FunctionalInterface
public interface Launching {
    /** On the thread that launches them, one after the other; what goes wrong is thrown. */
    Launching DIRECT = (listeners, stop) -> new DirectLauncher(new TrialRunner(), listeners, stop);

    /**
     * Opens it.
     *
     * @param listeners who is told how a trial goes, if it is carried out in this process
     * @param stop asked after each step, if it is carried out in this process: true to write a checkpoint and leave
     * @return a launcher, to be closed
     * @throws IOException if it cannot be reached
     */
    Launcher open(Function<Trial, TrainingListener> listeners, BooleanSupplier stop) throws IOException;
}
