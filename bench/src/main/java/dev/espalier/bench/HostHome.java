package dev.espalier.bench;

import dev.espalier.kernel.LaneChoice;
import dev.espalier.kernel.StepKernel;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/** Host memory and the processor. */
public final class HostHome implements Home {
    private final int threads;
    private Arena arena = Arena.ofShared();
    private MemorySegment source = MemorySegment.NULL;
    private MemorySegment target = MemorySegment.NULL;

    /**
     * The processor.
     *
     * @param threads that copy
     */
    public HostHome(int threads) {
        this.threads = threads;
    }

    @Override
    public StepKernel.Factory kernels() {
        return LaneChoice.BEST;
    }

    @Override
    public TensorView bring(TensorView tensor) {
        return tensor;
    }

    @Override
    public double time(Runnable step) {
        long start = System.nanoTime();
        step.run();
        return (System.nanoTime() - start) / 1e6;
    }

    @Override
    public double copy(long bytes) {
        if (source.byteSize() != bytes) {
            arena.close();
            arena = Arena.ofShared();
            source = arena.allocate(bytes, 64).fill((byte) 1);
            target = arena.allocate(bytes, 64).fill((byte) 2);
        }
        return time(this::copyAll);
    }

    private void copyAll() {
        long bytes = source.byteSize();
        long piece = Math.ceilDiv(bytes, threads * 64L) * 64;
        IntStream.range(0, threads).parallel().forEach(thread -> {
            long first = Math.min(thread * piece, bytes);
            MemorySegment.copy(source, first, target, first, Math.min(piece, bytes - first));
        });
    }

    @Override
    public void close() {
        arena.close();
    }
}
