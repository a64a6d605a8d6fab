package dev.espalier.bench;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.tensor.TensorView;
import java.util.List;

/** Where a workload lives: what makes its kernel, and what moves its tensors there. */
public sealed interface Home extends AutoCloseable permits HostHome, GpuHome {

    /** {@return what steps run on here} */
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
     * What there is here to measure the bandwidth of memory with.
     *
     * @return at least one loop
     */
    List<MemoryLoop> loops();

    /**
     * Moves memory here, as fast as it can be, and takes the time.
     *
     * @param loop how; one of {@link #loops}
     * @param weights over how many floats
     * @return milliseconds
     */
    double time(MemoryLoop loop, long weights);

    /** Gives back what was brought. */
    @Override
    void close();
}
