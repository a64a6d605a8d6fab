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
                case READ -> sum = sum(x) + sum(y) + sum(z);
                case UPDATE -> update(x);
                case TRIAD -> triad(x, y, z);
            }
        });
    }

    /** Four sums, for one would wait for itself. */
    private static long sum(MemorySegment x) {
        long first = 0;
        long second = 0;
        long third = 0;
        long fourth = 0;
        for (long i = 0; i < x.byteSize(); i += 4 * Long.BYTES) {
            first += x.get(ValueLayout.JAVA_LONG, i);
            second += x.get(ValueLayout.JAVA_LONG, i + Long.BYTES);
            third += x.get(ValueLayout.JAVA_LONG, i + 2 * Long.BYTES);
            fourth += x.get(ValueLayout.JAVA_LONG, i + 3 * Long.BYTES);
        }
        return first + second + third + fourth;
    }

    private static void update(MemorySegment x) {
        for (long i = 0; i < x.byteSize(); i += Long.BYTES) {
            x.set(ValueLayout.JAVA_LONG, i, x.get(ValueLayout.JAVA_LONG, i) + 1);
        }
    }

    private static void triad(MemorySegment x, MemorySegment y, MemorySegment z) {
        for (long i = 0; i < x.byteSize(); i += Double.BYTES) {
            z.set(
                    ValueLayout.JAVA_DOUBLE,
                    i,
                    x.get(ValueLayout.JAVA_DOUBLE, i) + 0.5 * y.get(ValueLayout.JAVA_DOUBLE, i));
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
