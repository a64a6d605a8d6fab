package dev.espalier.train.run;

import dev.espalier.engine.Device;
import java.util.function.BooleanSupplier;

/**
 * What of a run is up to the machine and the user, and does not change its outcome.
 *
 * @param device where the model is
 * @param listener who wants to know how it goes
 * @param stop asked after each step: true to write a checkpoint and leave
 * @param limit how long all of it may take; a limit that makes itself felt changes the outcome
 */
public record RunOptions(Device device, TrainingListener listener, BooleanSupplier stop, TimeLimit limit) {
    /** On the CPU, silently, to the end. */
    public static final RunOptions DEFAULT = new RunOptions(Device.CPU, TrainingListener.NOBODY, () -> false);

    /**
     * Options without a limit of time.
     *
     * @param device where the model is
     * @param listener who wants to know how it goes
     * @param stop asked after each step: true to write a checkpoint and leave
     */
    public RunOptions(Device device, TrainingListener listener, BooleanSupplier stop) {
        this(device, listener, stop, TimeLimit.NONE);
    }

    /**
     * Whether models are in the memory of the CPU.
     *
     * @return false on a GPU
     */
    public boolean onCpu() {
        return !device.isGpu();
    }

    /**
     * The same with a listener.
     *
     * @param other who wants to know
     * @return the options
     */
    public RunOptions withListener(TrainingListener other) {
        return new RunOptions(device, other, stop, limit);
    }

    /**
     * The same with a way to stop.
     *
     * @param other asked after each step
     * @return the options
     */
    public RunOptions withStop(BooleanSupplier other) {
        return new RunOptions(device, listener, other, limit);
    }

    /**
     * The same with a limit of time.
     *
     * @param other how long all of it may take
     * @return the options
     */
    public RunOptions withLimit(TimeLimit other) {
        return new RunOptions(device, listener, stop, other);
    }
}
