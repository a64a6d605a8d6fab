package dev.espalier.bench;

import dev.espalier.kernel.StepKernel;
import dev.espalier.tensor.TensorView;

/** Where a workload lives: what makes its kernel, and what moves its tensors there. */
public sealed interface Home extends AutoCloseable permits HostHome, GpuHome {

    /**
     * What steps run on here.
     *
     * @return the factory of kernels
     */
    StepKernel.Factory kernels();

    /**
     * Brings a tensor here.
     *
     * @param tensor in host memory
     * @return the tensor here, good until this is closed; itself if it is here already
     */
    TensorView bring(TensorView tensor);

    /**
     * Takes the time of a step here.
     *
     * @param step does it
     * @return milliseconds
     */
    double time(Runnable step);

    /**
     * Copies memory here, as fast as it can be, and takes the time.
     *
     * @param bytes how much is read, and written again
     * @return milliseconds
     */
    double copy(long bytes);

    /** Gives back what was brought. */
    @Override
    void close();
}
