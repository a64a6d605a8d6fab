package dev.espalier.bench;

import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/** Host memory and the processor. */
public final class HostHome implements Home {
    /** Bytes of a cache line, or a multiple of them. */
    private static final long LINE = 64;

    private final int threads;
    private Arena arena = Arena.ofShared();
    private MemorySegment a = MemorySegment.NULL;
    private MemorySegment b = MemorySegment.NULL;
    private MemorySegment c = MemorySegment.NULL;

    /** What reading adds up, so that nobody can leave the reading out. */
    private volatile long sum;

    /**
     * The processor.
     *
     * @param threads that move memory
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
    public List<MemoryLoop> loops() {
        return List.of(MemoryLoop.values());
    }

    @Override
    public double time(MemoryLoop loop, long weights) {
        long bytes = Math.ceilDiv(weights * Float.BYTES, LINE) * LINE;
        if (a.byteSize() != bytes) {
            arena.close();
            arena = Arena.ofShared();
            a = arena.allocate(bytes, LINE).fill((byte) 1);
            b = arena.allocate(bytes, LINE).fill((byte) 2);
            c = arena.allocate(bytes, LINE).fill((byte) 3);
        }
        return time(() -> move(loop)) * weights * Float.BYTES / bytes;
    }

    private void move(MemoryLoop loop) {
        long bytes = a.byteSize();
        long piece = Math.ceilDiv(bytes, threads * LINE) * LINE;
        IntStream.range(0, threads).parallel().forEach(thread -> {
            long first = Math.min(thread * piece, bytes);
            long length = Math.min(piece, bytes - first);
            MemorySegment x = a.asSlice(first, length);
            MemorySegment y = b.asSlice(first, length);
            MemorySegment z = c.asSlice(first, length);
            switch (loop) {
                case COPY -> y.copyFrom(x);
                case READ -> sum = sum(x, y, z);
                case UPDATE -> update(x);
                case TRIAD -> triad(x, y, z);
            }
        });
    }

    // The loops count in int: the compiler makes vectors of these, and of loops that count in long only where they are
    // simplest.

    private static long sum(MemorySegment x, MemorySegment y, MemorySegment z) {
        long sum = 0;
        int count = longs(x);
        for (int i = 0; i < count; i++) {
            sum += x.getAtIndex(ValueLayout.JAVA_LONG, i)
                    + y.getAtIndex(ValueLayout.JAVA_LONG, i)
                    + z.getAtIndex(ValueLayout.JAVA_LONG, i);
        }
        return sum;
    }

    private static void update(MemorySegment x) {
        int count = longs(x);
        for (int i = 0; i < count; i++) {
            x.setAtIndex(ValueLayout.JAVA_LONG, i, x.getAtIndex(ValueLayout.JAVA_LONG, i) + 1);
        }
    }

    private static void triad(MemorySegment x, MemorySegment y, MemorySegment z) {
        int count = longs(x);
        for (int i = 0; i < count; i++) {
            z.setAtIndex(
                    ValueLayout.JAVA_DOUBLE,
                    i,
                    x.getAtIndex(ValueLayout.JAVA_DOUBLE, i) + 0.5 * y.getAtIndex(ValueLayout.JAVA_DOUBLE, i));
        }
    }

    private static int longs(MemorySegment x) {
        return Math.toIntExact(x.byteSize() / Long.BYTES);
    }

    @Override
    public void close() {
        arena.close();
    }
}
