package dev.espalier.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the CUDA driver that we use, each as the driver's reference names it. Handles (contexts, modules, streams,
 * device memory) are plain numbers. Whatever the driver refuses becomes a {@link CudaException} with its message.
 */
@SuppressWarnings("restricted") // the driver hands out addresses of strings and of host memory
final class Driver {
    static final int MULTIPROCESSORS = 16;
    static final int SHARED_MEMORY = 81;
    static final int CAPABILITY_MAJOR = 75;
    static final int CAPABILITY_MINOR = 76;

    private static final int MAX_DYNAMIC_SHARED_MEMORY = 8;

    /** Pointer attributes: of which kind the memory is, and on which device. */
    static final int MEMORY_TYPE = 2;

    static final int DEVICE_ORDINAL = 9;

    private static final int NON_BLOCKING = 1;
    private static final int WITHOUT_TIME = 2;
    private static final int THREAD_LOCAL = 1;
    private static final int CAPTURE_ACTIVE = 1;

    /** What a map is of, and how much memory is read at once. */
    private static final int MAP_OF_FLOATS = 7;

    private static final int PROMOTE_TO_128 = 2;

    private static final int SUCCESS = 0;
    private static final int LONGEST_NAME = 256;

    private final MethodHandle getErrorName;
    private final MethodHandle getErrorString;
    private final MethodHandle driverGetVersion;
    private final MethodHandle deviceGetCount;
    private final MethodHandle deviceGet;
    private final MethodHandle deviceGetName;
    private final MethodHandle deviceGetAttribute;
    private final MethodHandle deviceTotalMemory;
    private final MethodHandle primaryContextRetain;
    private final MethodHandle primaryContextRelease;
    private final MethodHandle contextPush;
    private final MethodHandle contextPop;
    private final MethodHandle moduleLoadData;
    private final MethodHandle moduleUnload;
    private final MethodHandle moduleGetFunction;
    private final MethodHandle moduleGetGlobal;
    private final MethodHandle functionAttribute;
    private final MethodHandle occupancy;
    private final MethodHandle launch;
    private final MethodHandle launchCooperative;
    private final MethodHandle allocate;
    private final MethodHandle free;
    private final MethodHandle allocateHost;
    private final MethodHandle freeHost;
    private final MethodHandle fill;
    private final MethodHandle copyIn;
    private final MethodHandle copyOut;
    private final MethodHandle copyInAsync;
    private final MethodHandle copyOutAsync;
    private final MethodHandle copyOnDevice;
    private final MethodHandle streamCreate;
    private final MethodHandle streamDestroy;
    private final MethodHandle streamSynchronize;
    private final MethodHandle streamBeginCapture;
    private final MethodHandle streamEndCapture;
    private final MethodHandle streamIsCapturing;
    private final MethodHandle graphDestroy;
    private final MethodHandle eventCreate;
    private final MethodHandle eventDestroy;
    private final MethodHandle streamWaitEvent;
    private final MethodHandle eventRecord;
    private final MethodHandle eventSynchronize;
    private final MethodHandle eventElapsed;
    private final MethodHandle pointerAttribute;

    /** Older drivers do not have it. */
    private final @Nullable MethodHandle encodeTiled;

    /** Loaded when it is first asked for; a failure is kept as a value. */
    private static final class Holder {
        static final Object DRIVER = load();

        private static Object load() {
            try {
                return new Driver(NativeLibrary.open(
                        "the CUDA driver",
                        List.of(
                                "libcuda.so.1",
                                "/usr/lib/wsl/lib/libcuda.so.1",
                                "/usr/local/nvidia/lib64/libcuda.so.1"),
                        "install NVIDIA's driver, or run on the processor"));
            } catch (CudaException e) {
                return e;
            }
        }
    }

    /** The driver; throws with the reason if there is none, or no GPU that it serves. */
    static Driver get() {
        return switch (Holder.DRIVER) {
            case Driver driver -> driver;
            case CudaException reason -> throw new CudaException(String.valueOf(reason.getMessage()));
            default -> throw new AssertionError();
        };
    }

    private Driver(NativeLibrary library) {
        getErrorName = library.function("cuGetErrorName", JAVA_INT, ADDRESS);
        getErrorString = library.function("cuGetErrorString", JAVA_INT, ADDRESS);
        driverGetVersion = library.function("cuDriverGetVersion", ADDRESS);
        deviceGetCount = library.function("cuDeviceGetCount", ADDRESS);
        deviceGet = library.function("cuDeviceGet", ADDRESS, JAVA_INT);
        deviceGetName = library.function("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
        deviceGetAttribute = library.function("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
        deviceTotalMemory = library.function("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT);
        primaryContextRetain = library.function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
        primaryContextRelease = library.function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
        contextPush = library.function("cuCtxPushCurrent_v2", JAVA_LONG);
        contextPop = library.function("cuCtxPopCurrent_v2", ADDRESS);
        moduleLoadData = library.function("cuModuleLoadData", ADDRESS, ADDRESS);
        moduleUnload = library.function("cuModuleUnload", JAVA_LONG);
        moduleGetFunction = library.function("cuModuleGetFunction", ADDRESS, JAVA_LONG, ADDRESS);
        moduleGetGlobal = library.function("cuModuleGetGlobal_v2", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
        functionAttribute = library.function("cuFuncSetAttribute", JAVA_LONG, JAVA_INT, JAVA_INT);
        occupancy = library.function(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
        MemoryLayout[] launchTail = {
            JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS,
        };
        launchCooperative = library.function("cuLaunchCooperativeKernel", launchTail);
        launch = library.function(
                "cuLaunchKernel",
                JAVA_LONG,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_LONG,
                ADDRESS,
                ADDRESS);
        allocate = library.function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
        free = library.function("cuMemFree_v2", JAVA_LONG);
        allocateHost = library.function("cuMemAllocHost_v2", ADDRESS, JAVA_LONG);
        freeHost = library.function("cuMemFreeHost", JAVA_LONG);
        fill = library.function("cuMemsetD8_v2", JAVA_LONG, JAVA_BYTE, JAVA_LONG);
        copyIn = library.function("cuMemcpyHtoD_v2", JAVA_LONG, ADDRESS, JAVA_LONG);
        copyOut = library.function("cuMemcpyDtoH_v2", ADDRESS, JAVA_LONG, JAVA_LONG);
        copyInAsync = library.function("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
        copyOutAsync = library.function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        copyOnDevice = library.function("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        streamCreate = library.function("cuStreamCreate", ADDRESS, JAVA_INT);
        streamDestroy = library.function("cuStreamDestroy_v2", JAVA_LONG);
        streamSynchronize = library.function("cuStreamSynchronize", JAVA_LONG);
        streamBeginCapture = library.function("cuStreamBeginCapture_v2", JAVA_LONG, JAVA_INT);
        streamEndCapture = library.function("cuStreamEndCapture", JAVA_LONG, ADDRESS);
        streamIsCapturing = library.function("cuStreamIsCapturing", JAVA_LONG, ADDRESS);
        graphDestroy = library.function("cuGraphDestroy", JAVA_LONG);
        eventCreate = library.function("cuEventCreate", ADDRESS, JAVA_INT);
        eventDestroy = library.function("cuEventDestroy_v2", JAVA_LONG);
        streamWaitEvent = library.function("cuStreamWaitEvent", JAVA_LONG, JAVA_LONG, JAVA_INT);
        eventRecord = library.function("cuEventRecord", JAVA_LONG, JAVA_LONG);
        eventSynchronize = library.function("cuEventSynchronize", JAVA_LONG);
        eventElapsed = library.function("cuEventElapsedTime", ADDRESS, JAVA_LONG, JAVA_LONG);
        pointerAttribute = library.function("cuPointerGetAttribute", ADDRESS, JAVA_INT, JAVA_LONG);
        encodeTiled = library.symbols().find("cuTensorMapEncodeTiled").isEmpty()
                ? null
                : library.function(
                        "cuTensorMapEncodeTiled",
                        ADDRESS,
                        JAVA_INT,
                        JAVA_INT,
                        JAVA_LONG,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        JAVA_INT,
                        JAVA_INT,
                        JAVA_INT,
                        JAVA_INT);
        MethodHandle initialize = library.function("cuInit", JAVA_INT);
        try {
            require("cuInit", (int) initialize.invokeExact(0));
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    /** Something that the driver does, or refuses with a status. */
    @FunctionalInterface
    private interface Call {
        @SuppressWarnings("checkstyle:IllegalThrows") // as method handles declare
        int run() throws Throwable;
    }

    /** The same with a place for an answer. */
    @FunctionalInterface
    private interface Question {
        @SuppressWarnings("checkstyle:IllegalThrows")
        int run(MemorySegment answer) throws Throwable;
    }

    private void call(String what, Call call) {
        try {
            require(what, call.run());
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    private long ask(String what, Question question) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(JAVA_LONG);
            require(what, question.run(answer));
            return answer.get(JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    private void require(String what, int status) {
        if (status != SUCCESS) {
            throw new CudaException(
                    "%s failed: %s, %s".formatted(what, text(getErrorName, status), text(getErrorString, status)));
        }
    }

    private static String text(MethodHandle describe, int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(ADDRESS);
            boolean known = (int) describe.invokeExact(status, answer) == SUCCESS;
            return known ? answer.get(ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0) : "status " + status;
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    /** The newest CUDA that it can serve, 1000 times the first number and 10 times the second. */
    int cudaVersion() {
        return (int) ask("cuDriverGetVersion", answer -> (int) driverGetVersion.invokeExact(answer));
    }

    int devices() {
        return (int) ask("cuDeviceGetCount", answer -> (int) deviceGetCount.invokeExact(answer));
    }

    int device(int index) {
        return (int) ask("cuDeviceGet", answer -> (int) deviceGet.invokeExact(answer, index));
    }

    String deviceName(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(LONGEST_NAME);
            call("cuDeviceGetName", () -> (int) deviceGetName.invokeExact(name, LONGEST_NAME, device));
            return name.getString(0);
        }
    }

    int deviceAttribute(int attribute, int device) {
        return (int)
                ask("cuDeviceGetAttribute", answer -> (int) deviceGetAttribute.invokeExact(answer, attribute, device));
    }

    long deviceMemory(int device) {
        return ask("cuDeviceTotalMem", answer -> (int) deviceTotalMemory.invokeExact(answer, device));
    }

    long retainPrimaryContext(int device) {
        return ask("cuDevicePrimaryCtxRetain of GPU " + device, answer ->
                (int) primaryContextRetain.invokeExact(answer, device));
    }

    void releasePrimaryContext(int device) {
        call("cuDevicePrimaryCtxRelease", () -> (int) primaryContextRelease.invokeExact(device));
    }

    void pushContext(long context) {
        call("cuCtxPushCurrent", () -> (int) contextPush.invokeExact(context));
    }

    void popContext() {
        ask("cuCtxPopCurrent", answer -> (int) contextPop.invokeExact(answer));
    }

    long loadModule(byte[] binary) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment image = arena.allocate(binary.length + 8L, 8).copyFrom(MemorySegment.ofArray(binary));
            return ask("cuModuleLoadData", answer -> (int) moduleLoadData.invokeExact(answer, image));
        }
    }

    void unloadModule(long module) {
        call("cuModuleUnload", () -> (int) moduleUnload.invokeExact(module));
    }

    long function(long module, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            return ask("cuModuleGetFunction of " + name, answer ->
                    (int) moduleGetFunction.invokeExact(answer, module, text));
        }
    }

    long global(long module, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            MemorySegment size = arena.allocate(JAVA_LONG);
            return ask("cuModuleGetGlobal of " + name, answer ->
                    (int) moduleGetGlobal.invokeExact(answer, size, module, text));
        }
    }

    void allowSharedMemory(long function, int bytes) {
        call("cuFuncSetAttribute of " + bytes + " bytes of shared memory", () ->
                (int) functionAttribute.invokeExact(function, MAX_DYNAMIC_SHARED_MEMORY, bytes));
    }

    int blocksPerMultiprocessor(long function, int threads, long shared) {
        return (int) ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", answer ->
                (int) occupancy.invokeExact(answer, function, threads, shared));
    }

    void launch(long function, int blocks, int threads, int shared, long stream) {
        call("cuLaunchKernel", () -> (int) launch.invokeExact(
                function, blocks, 1, 1, threads, 1, 1, shared, stream, MemorySegment.NULL, MemorySegment.NULL));
    }

    void launchCooperative(long function, int blocks, int threads, int shared, long stream) {
        call("cuLaunchCooperativeKernel", () -> (int) launchCooperative.invokeExact(
                function, blocks, 1, 1, threads, 1, 1, shared, stream, MemorySegment.NULL));
    }

    long allocate(long bytes) {
        return ask("cuMemAlloc of " + bytes + " bytes", answer -> (int) allocate.invokeExact(answer, bytes));
    }

    void free(long address) {
        call("cuMemFree", () -> (int) free.invokeExact(address));
    }

    MemorySegment allocateHost(long bytes) {
        long address =
                ask("cuMemAllocHost of " + bytes + " bytes", answer -> (int) allocateHost.invokeExact(answer, bytes));
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    void freeHost(MemorySegment memory) {
        call("cuMemFreeHost", () -> (int) freeHost.invokeExact(memory.address()));
    }

    void clear(long address, long bytes) {
        call("cuMemsetD8", () -> (int) fill.invokeExact(address, (byte) 0, bytes));
    }

    void copyIn(long to, MemorySegment from) {
        call("cuMemcpyHtoD", () -> (int) copyIn.invokeExact(to, from, from.byteSize()));
    }

    void copyOut(MemorySegment to, long from) {
        call("cuMemcpyDtoH", () -> (int) copyOut.invokeExact(to, from, to.byteSize()));
    }

    void copyIn(long to, MemorySegment from, long stream) {
        call("cuMemcpyHtoDAsync", () -> (int) copyInAsync.invokeExact(to, from, from.byteSize(), stream));
    }

    void copyOut(MemorySegment to, long from, long stream) {
        call("cuMemcpyDtoHAsync", () -> (int) copyOutAsync.invokeExact(to, from, to.byteSize(), stream));
    }

    void copyOnDevice(long to, long from, long bytes, long stream) {
        call("cuMemcpyDtoDAsync", () -> (int) copyOnDevice.invokeExact(to, from, bytes, stream));
    }

    void synchronize(long stream) {
        call("cuStreamSynchronize", () -> (int) streamSynchronize.invokeExact(stream));
    }

    /** A stream that does not wait for the default one. */
    long createStream() {
        return ask("cuStreamCreate", answer -> (int) streamCreate.invokeExact(answer, NON_BLOCKING));
    }

    void destroyStream(long stream) {
        call("cuStreamDestroy", () -> (int) streamDestroy.invokeExact(stream));
    }

    /** From now on what is put into a stream is written down, not done; this thread must not do what would wait for it. */
    void beginCapture(long stream) {
        call("cuStreamBeginCapture", () -> (int) streamBeginCapture.invokeExact(stream, THREAD_LOCAL));
    }

    /** What was written down; throws, and ends it all the same, if something was not possible. */
    long endCapture(long stream) {
        return ask("cuStreamEndCapture", answer -> (int) streamEndCapture.invokeExact(stream, answer));
    }

    boolean isCapturing(long stream) {
        return (int) ask("cuStreamIsCapturing", answer -> (int) streamIsCapturing.invokeExact(stream, answer))
                == CAPTURE_ACTIVE;
    }

    void destroyGraph(long graph) {
        call("cuGraphDestroy", () -> (int) graphDestroy.invokeExact(graph));
    }

    long createEvent(boolean timed) {
        int flags = timed ? 0 : WITHOUT_TIME;
        return ask("cuEventCreate", answer -> (int) eventCreate.invokeExact(answer, flags));
    }

    void destroyEvent(long event) {
        call("cuEventDestroy", () -> (int) eventDestroy.invokeExact(event));
    }

    void record(long event, long stream) {
        call("cuEventRecord", () -> (int) eventRecord.invokeExact(event, stream));
    }

    /** Has what is put into a stream from now on wait for an event. */
    void awaitIn(long stream, long event) {
        call("cuStreamWaitEvent", () -> (int) streamWaitEvent.invokeExact(stream, event, 0));
    }

    void await(long event) {
        call("cuEventSynchronize", () -> (int) eventSynchronize.invokeExact(event));
    }

    /** Milliseconds from one event to another, which is waited for. */
    double elapsed(long from, long to) {
        await(to);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(JAVA_FLOAT);
            call("cuEventElapsedTime", () -> (int) eventElapsed.invokeExact(answer, from, to));
            return answer.get(JAVA_FLOAT, 0);
        }
    }

    boolean describesBoxes() {
        return encodeTiled != null;
    }

    /** A map of a matrix of single precision, whose rows lie behind each other, for copies of boxes of it. */
    void describeBoxes(MemorySegment map, long address, long columns, long rows, int boxColumns, int boxRows) {
        MethodHandle encode = Objects.requireNonNull(encodeTiled);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocateFrom(JAVA_LONG, columns, rows);
            MemorySegment stride = arena.allocateFrom(JAVA_LONG, columns * Float.BYTES);
            MemorySegment box = arena.allocateFrom(JAVA_INT, boxColumns, boxRows);
            MemorySegment every = arena.allocateFrom(JAVA_INT, 1, 1);
            call("cuTensorMapEncodeTiled", () -> (int) encode.invokeExact(
                    map, MAP_OF_FLOATS, 2, address, size, stride, box, every, 0, 0, PROMOTE_TO_128, 0));
        }
    }

    /** An attribute of an address; throws if the driver knows nothing of it. */
    int pointerAttribute(int attribute, long address) {
        return (int) ask("cuPointerGetAttribute of 0x" + Long.toHexString(address), answer ->
                (int) pointerAttribute.invokeExact(answer, attribute, address));
    }
}
