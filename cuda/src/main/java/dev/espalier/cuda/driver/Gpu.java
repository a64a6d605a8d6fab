package dev.espalier.cuda.driver;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A GPU, in its primary context: the one that PyTorch uses too, so that memory of either is good for both.
 *
 * <p>Streams are the driver's handles; 0 is the default stream. Not for several threads at once.
 */
public final class Gpu implements AutoCloseable {
    /** The default stream. */
    public static final long DEFAULT_STREAM = 0;

    /** What the driver calls memory on a device. */
    private static final int DEVICE_MEMORY = 2;

    private final Driver driver;
    private final int index;
    private final int device;
    private final long context;
    private boolean closed;

    private Gpu(Driver driver, int index) {
        this.driver = driver;
        this.index = index;
        this.device = driver.device(index);
        this.context = driver.retainPrimaryContext(device);
    }

    /**
     * Opens a GPU.
     *
     * @param index its number, from 0
     * @return the GPU, to be closed
     */
    public static Gpu open(int index) {
        Driver driver = Driver.get();
        int devices = driver.devices();
        if (index < 0 || index >= devices) {
            throw new CudaException("there is no GPU %d: the driver knows of %d".formatted(index, devices));
        }
        return new Gpu(driver, index);
    }

    /**
     * What a GPU is, told by the driver without opening it.
     *
     * @param index its number, from 0
     * @param name its name
     * @param memory its memory, in bytes
     * @param capability its compute capability, times ten
     */
    public record Card(int index, String name, long memory, int capability) {

        /**
         * Why it cannot be used.
         *
         * @param least the compute capability that it must have at least, times ten
         * @return the reason; empty if it can
         */
        public Optional<String> whyNot(int least) {
            return capability >= least
                    ? Optional.empty()
                    : Optional.of(String.format(
                            Locale.ROOT,
                            "%s has compute capability %.1f: it must be at least %.1f",
                            name,
                            capability / 10.0,
                            least / 10.0));
        }
    }

    /**
     * The GPUs that the driver knows.
     *
     * @return one after the other, from 0
     * @throws CudaException with the reason, if there is no driver or no GPU
     */
    public static List<Card> cards() {
        Driver driver = Driver.get();
        return IntStream.range(0, driver.devices())
                .mapToObj(index -> {
                    int device = driver.device(index);
                    return new Card(
                            index, driver.deviceName(device), driver.deviceMemory(device), capability(driver, device));
                })
                .toList();
    }

    /**
     * What the driver is.
     *
     * @return its version, if the system tells, and the newest CUDA that it serves
     * @throws CudaException with the reason, if there is no driver
     */
    public static String driver() {
        int cuda = Driver.get().cudaVersion();
        String serves = "CUDA %d.%d".formatted(cuda / 1000, cuda % 1000 / 10);
        try {
            return Files.readString(Path.of("/sys/module/nvidia/version")).strip() + ", " + serves;
        } catch (IOException e) {
            return serves; // within some containers the system does not tell
        }
    }

    /**
     * Why a GPU cannot be used here.
     *
     * @param index its number, from 0
     * @param capability the compute capability that it must have at least, times ten
     * @return the reason; empty if it can
     */
    public static Optional<String> whyNot(int index, int capability) {
        try (Gpu gpu = open(index)) {
            new Nvrtc();
            return new Card(index, gpu.name(), 0, gpu.capability()).whyNot(capability);
        } catch (CudaException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** The context, current as long as this is open. */
    private final class Current implements AutoCloseable {
        Current() {
            if (closed) {
                throw new IllegalStateException("the GPU is closed: open it again");
            }
            driver.pushContext(context);
        }

        @Override
        public void close() {
            driver.popContext();
        }
    }

    /**
     * Its number.
     *
     * @return from 0
     */
    public int index() {
        return index;
    }

    /**
     * Its name.
     *
     * @return as the driver says
     */
    public String name() {
        return driver.deviceName(device);
    }

    /**
     * Its compute capability.
     *
     * @return times ten
     */
    public int capability() {
        return capability(driver, device);
    }

    private static int capability(Driver driver, int device) {
        return 10 * driver.deviceAttribute(Driver.CAPABILITY_MAJOR, device)
                + driver.deviceAttribute(Driver.CAPABILITY_MINOR, device);
    }

    /**
     * Its architecture.
     *
     * @return as compilers name it, {@code sm_90}
     */
    public String architecture() {
        return "sm_" + capability();
    }

    /**
     * How many multiprocessors it has.
     *
     * @return the number
     */
    public int multiprocessors() {
        return driver.deviceAttribute(Driver.MULTIPROCESSORS, device);
    }

    /**
     * How much memory the threads of a multiprocessor share.
     *
     * @return bytes, for all blocks that run on it at once
     */
    public int sharedMemory() {
        return driver.deviceAttribute(Driver.SHARED_MEMORY, device);
    }

    /**
     * Compiles kernels for this GPU, or takes them from the user's cache.
     *
     * @param name what messages call the source
     * @param source CUDA C
     * @param options of the compiler, but the architecture
     * @return the kernels, to be closed before the GPU
     */
    public Kernels compile(String name, String source, List<String> options) {
        List<String> all = Stream.concat(Stream.of("--gpu-architecture=" + architecture()), options.stream())
                .toList();
        KernelCache cache = KernelCache.ofUser(System.getenv());
        try (Current _ = new Current()) {
            Optional<byte[]> kept = cache.get(source, all);
            if (kept.isPresent()) {
                try {
                    return new Kernels(driver.loadModule(kept.get()));
                } catch (CudaException e) {
                    // damaged, or of another driver: compiled again
                }
            }
            byte[] code = new Nvrtc().compile(name, source, all);
            long module = driver.loadModule(code);
            cache.put(source, all, code);
            return new Kernels(module);
        }
    }

    /** Compiled kernels. */
    public final class Kernels implements AutoCloseable {
        private final long module;

        private Kernels(long module) {
            this.module = module;
        }

        /**
         * A kernel without parameters.
         *
         * @param name its name in the source
         * @return the kernel
         */
        public Kernel kernel(String name) {
            try (Current _ = new Current()) {
                return new Kernel(driver.function(module, name));
            }
        }

        /**
         * Where a variable of the source is.
         *
         * @param name its name in the source
         * @return the address on the GPU
         */
        public long variable(String name) {
            try (Current _ = new Current()) {
                return driver.global(module, name);
            }
        }

        @Override
        public void close() {
            try (Current _ = new Current()) {
                driver.unloadModule(module);
            }
        }
    }

    /** A kernel, to be launched. */
    public final class Kernel {
        private final long function;
        private int sharedBytes;

        private Kernel(long function) {
            this.function = function;
        }

        /**
         * Gives every block memory that its threads share, beyond what the source declares.
         *
         * @param bytes how much
         */
        public void useSharedMemory(int bytes) {
            try (Current _ = new Current()) {
                driver.allowSharedMemory(function, bytes);
                sharedBytes = bytes;
            }
        }

        /**
         * How many blocks can run at once.
         *
         * @param threads of a block
         * @return on all multiprocessors
         */
        public int residentBlocks(int threads) {
            try (Current _ = new Current()) {
                return driver.blocksPerMultiprocessor(function, threads, sharedBytes) * multiprocessors();
            }
        }

        /**
         * Puts the kernel into a stream.
         *
         * @param blocks how many
         * @param threads of each
         * @param stream the stream
         */
        public void launch(int blocks, int threads, long stream) {
            try (Current _ = new Current()) {
                driver.launch(function, blocks, threads, sharedBytes, stream);
            }
        }

        /**
         * The same, with all blocks running at once, so that they may wait for each other.
         *
         * @param blocks how many
         * @param threads of each
         * @param stream the stream
         */
        public void launchTogether(int blocks, int threads, long stream) {
            try (Current _ = new Current()) {
                driver.launchCooperative(function, blocks, threads, sharedBytes, stream);
            }
        }
    }

    /** Bytes of a map of boxes. */
    public static final int BOX_MAP_BYTES = 128;

    /** The compute capability from which on boxes can be copied, times ten. */
    private static final int BOXES_FROM = 90;

    /**
     * Whether kernels can copy boxes of matrices as a whole.
     *
     * @return true if the GPU and its driver know how
     */
    public boolean copiesBoxes() {
        return capability() >= BOXES_FROM && driver.describesBoxes();
    }

    /**
     * Writes a map by which a kernel copies boxes of a matrix of single precision.
     *
     * @param map native host memory for {@link #BOX_MAP_BYTES}, to be taken to the GPU
     * @param address where the matrix is on the GPU, a multiple of 16
     * @param columns its columns, a multiple of 4
     * @param rows its rows
     * @param boxColumns columns of a box, a multiple of 4, at most 256
     * @param boxRows rows of a box, at most 256
     */
    public void describeBoxes(MemorySegment map, long address, long columns, long rows, int boxColumns, int boxRows) {
        try (Current _ = new Current()) {
            driver.describeBoxes(map, address, columns, rows, boxColumns, boxRows);
        }
    }

    /** Memory on the GPU. */
    public final class Memory implements AutoCloseable {
        private final long address;
        private final long bytes;
        private boolean freed;

        private Memory(long address, long bytes) {
            this.address = address;
            this.bytes = bytes;
        }

        /**
         * Where it is.
         *
         * @return the address on the GPU
         */
        public long address() {
            return address;
        }

        /**
         * How much it is.
         *
         * @return bytes
         */
        public long bytes() {
            return bytes;
        }

        /** Makes it zeros, and waits for it. */
        public void clear() {
            try (Current _ = new Current()) {
                driver.clear(address, bytes);
                driver.synchronize(DEFAULT_STREAM);
            }
        }

        @Override
        public void close() {
            if (!freed) {
                freed = true;
                try (Current _ = new Current()) {
                    driver.free(address);
                }
            }
        }
    }

    /**
     * Takes memory on the GPU.
     *
     * @param bytes how much
     * @return memory of zeros, to be closed before the GPU
     */
    public Memory allocate(long bytes) {
        long some = Math.max(bytes, 1);
        try (Current _ = new Current()) {
            Memory memory = new Memory(driver.allocate(some), some);
            driver.clear(memory.address(), some);
            return memory;
        }
    }

    /** Host memory that copies to and from the GPU need not wait for. */
    public final class Pinned implements AutoCloseable {
        private final MemorySegment segment;

        private Pinned(MemorySegment segment) {
            this.segment = segment;
        }

        /**
         * The memory.
         *
         * @return good until this is closed
         */
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public void close() {
            try (Current _ = new Current()) {
                driver.freeHost(segment);
            }
        }
    }

    /**
     * Takes host memory that the GPU can reach.
     *
     * @param bytes how much
     * @return the memory, to be closed before the GPU
     */
    public Pinned allocatePinned(long bytes) {
        try (Current _ = new Current()) {
            return new Pinned(driver.allocateHost(Math.max(bytes, 1)));
        }
    }

    /**
     * Copies to the GPU, and waits for it.
     *
     * @param from native host memory
     * @param to address on the GPU
     */
    public void copyIn(MemorySegment from, long to) {
        try (Current _ = new Current()) {
            driver.copyIn(to, from);
        }
    }

    /**
     * Copies from the GPU, and waits for it.
     *
     * @param from address on the GPU
     * @param to native host memory, filled
     */
    public void copyOut(long from, MemorySegment to) {
        try (Current _ = new Current()) {
            driver.copyOut(to, from);
        }
    }

    /**
     * Puts a copy to the GPU into a stream.
     *
     * @param from pinned memory, left alone until the stream has been waited for
     * @param to address on the GPU
     * @param stream the stream
     */
    public void copyIn(MemorySegment from, long to, long stream) {
        try (Current _ = new Current()) {
            driver.copyIn(to, from, stream);
        }
    }

    /**
     * Puts a copy from the GPU into a stream.
     *
     * @param from address on the GPU
     * @param to pinned memory, filled once the stream has been waited for
     * @param stream the stream
     */
    public void copyOut(long from, MemorySegment to, long stream) {
        try (Current _ = new Current()) {
            driver.copyOut(to, from, stream);
        }
    }

    /**
     * Puts a copy within the GPU into a stream.
     *
     * @param from address on the GPU
     * @param to address on the GPU
     * @param bytes how much
     * @param stream the stream
     */
    public void copyWithin(long from, long to, long bytes, long stream) {
        try (Current _ = new Current()) {
            driver.copyOnDevice(to, from, bytes, stream);
        }
    }

    /** A stream that waits for no other by itself. */
    public final class SideStream implements AutoCloseable {
        private final long handle;

        private SideStream(long handle) {
            this.handle = handle;
        }

        /**
         * The driver's handle.
         *
         * @return good until this is closed
         */
        public long handle() {
            return handle;
        }

        /**
         * Has work put into this stream written down, and thrown away: nothing is done, and it is known whether all of it can be
         * written down.
         *
         * @param work puts things into this stream
         * @return why not; empty if it can
         */
        public Optional<String> rehearse(Runnable work) {
            try (Current _ = new Current()) {
                driver.beginCapture(handle);
                Optional<String> problem = Optional.empty();
                try {
                    work.run();
                } catch (RuntimeException e) {
                    problem = Optional.of(String.valueOf(e.getMessage()));
                }
                try {
                    driver.destroyGraph(driver.endCapture(handle));
                } catch (CudaException e) {
                    return problem.or(() -> Optional.of(String.valueOf(e.getMessage())));
                }
                return problem;
            }
        }

        /**
         * Whether what is put into this stream is being written down, and all of it could be so far.
         *
         * @return false if it is done as ever, or something could not be written down
         */
        public boolean writesDown() {
            try (Current _ = new Current()) {
                return driver.isCapturing(handle);
            }
        }

        /** Stops writing down, after something could not be. */
        public void abandon() {
            try (Current _ = new Current()) {
                driver.endCapture(handle);
            } catch (CudaException e) {
                // as expected: it tells again what could not be written down
            }
        }

        @Override
        public void close() {
            try (Current _ = new Current()) {
                driver.destroyStream(handle);
            }
        }
    }

    /**
     * Makes a stream.
     *
     * @return the stream, to be closed before the GPU
     */
    public SideStream newStream() {
        try (Current _ = new Current()) {
            return new SideStream(driver.createStream());
        }
    }

    /**
     * Waits until all that is in a stream is done.
     *
     * @param stream the stream
     */
    public void synchronize(long stream) {
        try (Current _ = new Current()) {
            driver.synchronize(stream);
        }
    }

    /** A mark in a stream, which can be waited for whatever is put there behind it. */
    public final class Mark implements AutoCloseable {
        private final long event;

        private Mark(long event) {
            this.event = event;
        }

        /**
         * Puts it into a stream, behind what is there; where it was before it is no more.
         *
         * @param stream the stream
         */
        public void put(long stream) {
            try (Current _ = new Current()) {
                driver.record(event, stream);
            }
        }

        /**
         * Has what is put into another stream from now on wait until all before it is done; not at all if it was never put anywhere.
         *
         * @param stream the other stream
         */
        public void holdBack(long stream) {
            try (Current _ = new Current()) {
                driver.awaitIn(stream, event);
            }
        }

        /** Waits until all before it is done; not at all if it was never put anywhere. */
        public void await() {
            try (Current _ = new Current()) {
                driver.await(event);
            }
        }

        @Override
        public void close() {
            try (Current _ = new Current()) {
                driver.destroyEvent(event);
            }
        }
    }

    /**
     * Makes a mark.
     *
     * @return the mark, to be closed before the GPU
     */
    public Mark newMark() {
        try (Current _ = new Current()) {
            return new Mark(driver.createEvent(false));
        }
    }

    /**
     * How long something takes on the GPU.
     *
     * @param stream the stream that it is put into
     * @param work puts it there
     * @return milliseconds, as the GPU counts
     */
    public double time(long stream, Runnable work) {
        try (Current _ = new Current()) {
            long from = driver.createEvent(true);
            long to = driver.createEvent(true);
            try {
                driver.record(from, stream);
                work.run();
                driver.record(to, stream);
                return driver.elapsed(from, to);
            } finally {
                driver.destroyEvent(from);
                driver.destroyEvent(to);
            }
        }
    }

    /**
     * Requires an address to be in this GPU's memory.
     *
     * @param name what the caller calls it
     * @param address the address
     */
    public void requireOwn(String name, long address) {
        try (Current _ = new Current()) {
            int kind;
            int owner;
            try {
                kind = driver.pointerAttribute(Driver.MEMORY_TYPE, address);
                owner = driver.pointerAttribute(Driver.DEVICE_ORDINAL, address);
            } catch (CudaException e) {
                throw new CudaException(name + " is at an address that the GPU does not know", e);
            }
            if (kind != DEVICE_MEMORY || owner != index) {
                throw new CudaException("%s is %s, but the step runs on GPU %d: move it there"
                        .formatted(name, kind == DEVICE_MEMORY ? "on GPU " + owner : "in host memory", index));
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            driver.releasePrimaryContext(device);
        }
    }
}
