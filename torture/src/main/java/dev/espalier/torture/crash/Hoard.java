package dev.espalier.torture.crash;

import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import java.util.ArrayDeque;
import java.util.Deque;

/** Memory of the first GPU that this process holds, so that others do not have it. */
final class Hoard implements AutoCloseable {
    private static final long LARGEST = 8L << 30;
    private static final long SMALLEST = 1L << 20;

    private final Gpu gpu = Gpu.open(0);
    private final Deque<Gpu.Memory> held = new ArrayDeque<>();

    private Hoard() {}

    /** All but so many bytes, or about that. */
    static Hoard leaving(long bytes) {
        Hoard hoard = new Hoard();
        try (Gpu.Memory _ = hoard.gpu.allocate(bytes)) {
            hoard.fill();
        } catch (CudaException failure) {
            hoard.close();
            throw failure;
        }
        return hoard;
    }

    /** Takes what there is. */
    void fill() {
        for (long size = LARGEST; size >= SMALLEST; ) {
            try {
                held.push(gpu.allocate(size));
            } catch (CudaException _) {
                size /= 2;
            }
        }
    }

    @Override
    public void close() {
        held.forEach(Gpu.Memory::close);
        gpu.close();
    }
}
