package dev.espalier.bench;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The memory of the first GPU. */
public final class GpuHome implements Home {
    /** Bytes that are copied ahead of a step, and how often: as after a backward pass, the GPU has not been idle, and its cache is full. */
    private static final long AHEAD = 1L << 29;

    private static final int TIMES_AHEAD = 2;

    private final Gpu gpu = Gpu.open(0);
    private final List<Gpu.Memory> memories = new ArrayList<>();
    private double milliseconds;

    private final long source;
    private final long target;

    /** Opens the GPU. */
    public GpuHome() {
        source = allocate(AHEAD).address();
        target = allocate(AHEAD).address();
    }

    private Gpu.Memory allocate(long bytes) {
        Gpu.Memory memory = gpu.allocate(bytes);
        memories.add(memory);
        return memory;
    }

    @Override
    public StepKernel.Factory kernels() {
        return CudaSteps.onFirstGpu().withClock(time -> milliseconds = time);
    }

    @Override
    @SuppressWarnings("restricted") // addresses of the GPU, which nobody here reads
    public TensorView bring(TensorView tensor) {
        Gpu.Memory memory = allocate(tensor.segment().byteSize());
        gpu.copyIn(tensor.segment(), memory.address());
        MemorySegment there = MemorySegment.ofAddress(memory.address()).reinterpret(memory.bytes());
        return TensorView.of(Place.gpu(gpu.index()), there, tensor.type(), tensor.shape(), tensor.strides());
    }

    /** {@inheritDoc} As the GPU counts, from the first launch of a step to the end of its last. */
    @Override
    public double time(Runnable step) {
        for (int i = 0; i < TIMES_AHEAD; i++) {
            gpu.copyWithin(source, target, AHEAD, Gpu.DEFAULT_STREAM);
        }
        step.run();
        return milliseconds;
    }

    /** {@inheritDoc} The driver's copy, which no loop beats. */
    @Override
    public List<MemoryLoop> loops() {
        return List.of(MemoryLoop.COPY);
    }

    /** {@inheritDoc} A copy too large for the cache, scaled. */
    @Override
    public double time(MemoryLoop loop, long weights) {
        double time = gpu.time(Gpu.DEFAULT_STREAM, () -> gpu.copyWithin(source, target, AHEAD, Gpu.DEFAULT_STREAM));
        return time * weights * Float.BYTES / AHEAD;
    }

    @Override
    public void close() {
        memories.forEach(Gpu.Memory::close);
        gpu.close();
    }
}
