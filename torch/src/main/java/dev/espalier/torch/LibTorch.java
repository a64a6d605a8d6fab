package dev.espalier.torch;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.pytorch.engine.PtEngine;
import ai.djl.pytorch.jni.LibUtils;
import java.lang.System.Logger.Level;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * Functions of the libtorch that DJL has loaded, called without JNI. A function that cannot be found is a
 * {@link Lookup.Missing} with the reason, logged once.
 */
@SuppressWarnings("restricted") // calling native functions is what this class is for
final class LibTorch {
    /** What {@code aoti_torch_*} functions return when all went well. */
    private static final int SUCCESS = 0;

    private static final String GLOBAL_CONTEXT = "_ZN2at13globalContextEv";

    /** {@code void at::Context::set…(bool)}. */
    private static final FunctionDescriptor SETTER =
            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_BOOLEAN);

    private static final AddressLayout LONGS = ValueLayout.ADDRESS.withTargetLayout(
            MemoryLayout.sequenceLayout(Long.MAX_VALUE / 8, ValueLayout.JAVA_LONG));

    private LibTorch() {}

    /**
     * Something of libtorch that may be missing.
     *
     * @param <T> what it is
     */
    sealed interface Lookup<T> {
        /**
         * It is there.
         *
         * @param <T> what it is
         * @param value it
         */
        record Found<T>(T value) implements Lookup<T> {}

        /**
         * It is not there.
         *
         * @param <T> what it would be
         * @param reason why
         */
        record Missing<T>(String reason) implements Lookup<T> {}
    }

    /**
     * Where a tensor lies.
     *
     * @param dataPointer {@code int aoti_torch_get_data_ptr(Tensor*, void**)}
     * @param strides {@code int aoti_torch_get_strides(Tensor*, int64_t**)}
     */
    record Tensors(MethodHandle dataPointer, MethodHandle strides) {
        private static final String DATA_POINTER = "aoti_torch_get_data_ptr";
        private static final String STRIDES = "aoti_torch_get_strides";
        private static final FunctionDescriptor QUERY =
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS);

        static Tensors in(SymbolLookup library) {
            return new Tensors(function(library, DATA_POINTER, QUERY), function(library, STRIDES, QUERY));
        }

        long address(long handle) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
                require(DATA_POINTER, (int) dataPointer.invokeExact(handle, result));
                return result.get(ValueLayout.ADDRESS, 0).address();
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        long[] strides(long handle, int dimensions) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
                require(STRIDES, (int) strides.invokeExact(handle, result));
                MemorySegment values = result.get(LONGS, 0);
                long[] copy = new long[dimensions];
                MemorySegment.copy(values, ValueLayout.JAVA_LONG, 0, copy, 0, dimensions);
                return copy;
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        private static void require(String function, int code) {
            if (code != SUCCESS) {
                throw new IllegalArgumentException(function + " of libtorch refused the array with code " + code
                        + ": it must have plain, dense memory (not the layout of ai.djl.pytorch.use_mkldnn)");
            }
        }
    }

    /**
     * What is done to a tensor's memory as a whole.
     *
     * @param share {@code void at::TensorBase::set_data(const at::TensorBase&) const}
     * @param zero {@code int aoti_torch_zero_(Tensor*)}
     */
    record Memory(MethodHandle share, MethodHandle zero) {
        private static final String ZERO = "aoti_torch_zero_";

        static Memory in(SymbolLookup library) {
            return new Memory(
                    function(
                            library,
                            "_ZNK2at10TensorBase8set_dataERKS0_",
                            FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG)),
                    function(library, ZERO, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)));
        }

        void share(long handle, long memory) {
            try {
                share.invokeExact(handle, memory);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        void zero(long handle) {
            try {
                int code = (int) zero.invokeExact(handle);
                if (code != SUCCESS) {
                    throw failed(ZERO, code);
                }
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * The switch of oneDNN.
     *
     * @param context {@code at::Context& at::globalContext()}
     * @param setter {@code void at::Context::setUserEnabledMkldnn(bool)}
     * @param getter {@code bool at::Context::userEnabledMkldnn() const}
     */
    record OneDnnSwitch(MethodHandle context, MethodHandle setter, MethodHandle getter) {

        /** Names as a C++ compiler makes them, the same on every machine of ours. */
        static OneDnnSwitch in(SymbolLookup library) {
            return new OneDnnSwitch(
                    function(library, GLOBAL_CONTEXT, FunctionDescriptor.of(ValueLayout.ADDRESS)),
                    function(library, "_ZN2at7Context20setUserEnabledMkldnnEb", SETTER),
                    function(
                            library,
                            "_ZNK2at7Context17userEnabledMkldnnEv",
                            FunctionDescriptor.of(ValueLayout.JAVA_BOOLEAN, ValueLayout.ADDRESS)));
        }

        void switchTo(boolean enabled) {
            try {
                setter.invokeExact((MemorySegment) context.invokeExact(), enabled);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        boolean enabled() {
            try {
                return (boolean) getter.invokeExact((MemorySegment) context.invokeExact());
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * How libtorch computes on GPUs; the processor does not mind.
     *
     * @param context {@code at::Context& at::globalContext()}
     * @param cublas {@code void at::Context::setAllowTF32CuBLAS(bool)}, for products of matrices
     * @param cudnn {@code void at::Context::setAllowTF32CuDNN(bool)}, for convolutions
     * @param deterministic {@code void at::Context::setDeterministicCuDNN(bool)}
     */
    record GpuSwitches(MethodHandle context, MethodHandle cublas, MethodHandle cudnn, MethodHandle deterministic) {

        static GpuSwitches in(SymbolLookup library) {
            return new GpuSwitches(
                    function(library, GLOBAL_CONTEXT, FunctionDescriptor.of(ValueLayout.ADDRESS)),
                    function(library, "_ZN2at7Context18setAllowTF32CuBLASEb", SETTER),
                    function(library, "_ZN2at7Context17setAllowTF32CuDNNEb", SETTER),
                    function(library, "_ZN2at7Context21setDeterministicCuDNNEb", SETTER));
        }

        void allowTf32(boolean allowed) {
            try {
                MemorySegment global = (MemorySegment) context.invokeExact();
                cublas.invokeExact(global, allowed);
                cudnn.invokeExact(global, allowed);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        void requireDeterminism() {
            try {
                deterministic.invokeExact((MemorySegment) context.invokeExact(), true);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * Products in another type than their operands are stored in: libtorch's autocast, which each thread has for itself.
     *
     * @param isEnabled {@code bool at::autocast::is_autocast_enabled(c10::DeviceType)}
     * @param enable {@code void at::autocast::set_autocast_enabled(c10::DeviceType, bool)}
     * @param choose {@code void at::autocast::set_autocast_dtype(c10::DeviceType, c10::ScalarType)}
     * @param clear {@code void at::autocast::clear_cache()}: forgets the weights that were converted
     */
    record Autocast(MethodHandle isEnabled, MethodHandle enable, MethodHandle choose, MethodHandle clear) {
        /** {@code c10::ScalarType::BFloat16}. */
        private static final byte BFLOAT16 = 15;

        static Autocast in(SymbolLookup library) {
            return new Autocast(
                    function(
                            library,
                            "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE",
                            FunctionDescriptor.of(ValueLayout.JAVA_BOOLEAN, ValueLayout.JAVA_BYTE)),
                    function(
                            library,
                            "_ZN2at8autocast20set_autocast_enabledEN3c1010DeviceTypeEb",
                            FunctionDescriptor.ofVoid(ValueLayout.JAVA_BYTE, ValueLayout.JAVA_BOOLEAN)),
                    function(
                            library,
                            "_ZN2at8autocast18set_autocast_dtypeEN3c1010DeviceTypeENS1_10ScalarTypeE",
                            FunctionDescriptor.ofVoid(ValueLayout.JAVA_BYTE, ValueLayout.JAVA_BYTE)),
                    function(library, "_ZN2at8autocast11clear_cacheEv", FunctionDescriptor.ofVoid()));
        }

        /**
         * Switches to bfloat16, or back.
         *
         * @param deviceType {@code c10::DeviceType}
         * @param enabled whether from now on
         * @return whether before
         */
        boolean switchTo(byte deviceType, boolean enabled) {
            try {
                boolean before = (boolean) isEnabled.invokeExact(deviceType);
                choose.invokeExact(deviceType, BFLOAT16);
                enable.invokeExact(deviceType, enabled);
                // Weights change between passes: what they were converted to is good for one.
                clear.invokeExact();
                return before;
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * libtorch's operators by name, with all that belongs to them: gradients, and products in bfloat16. What one throws is caught
     * there, and comes out as a code.
     *
     * @param call {@code int aoti_torch_call_dispatcher(const char*, const char*, uint64_t*)}, which takes what the operator reads,
     *     owns the tensors and the options among it from then on, and leaves what it made in the same place
     * @param share {@code int aoti_torch_new_tensor_handle(Tensor*, Tensor**)}
     * @param allocate {@code void* malloc(size_t)}, as what libtorch comes to own it gives back
     */
    record Operators(MethodHandle call, MethodHandle share, MethodHandle allocate) {

        static Operators in(SymbolLookup library) {
            return new Operators(
                    function(
                            library,
                            "aoti_torch_call_dispatcher",
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.ADDRESS)),
                    function(
                            library,
                            "aoti_torch_new_tensor_handle",
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS)),
                    function(
                            Linker.nativeLinker().defaultLookup(),
                            "malloc",
                            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)));
        }

        /**
         * Calls an operator that makes one tensor.
         *
         * @param name as libtorch's schemas have it
         * @param read what it reads, each as 64 bits; becomes libtorch's
         * @return a handle of what it made
         */
        long call(String name, long... read) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment stack = arena.allocateFrom(ValueLayout.JAVA_LONG, read);
                int code = (int) call.invokeExact(arena.allocateFrom(name), arena.allocateFrom(""), stack);
                if (code != SUCCESS) {
                    throw failed(name, code);
                }
                return stack.get(ValueLayout.JAVA_LONG, 0);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        /** Another handle of the same tensor, to be given away. */
        long share(long handle) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(ValueLayout.JAVA_LONG);
                int code = (int) share.invokeExact(handle, result);
                if (code != SUCCESS) {
                    throw new IllegalStateException("libtorch gave no other handle of a tensor: code " + code);
                }
                return result.get(ValueLayout.JAVA_LONG, 0);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        /** Something that may be left out, and is not; 0 is what is. */
        long option(long value) {
            try {
                MemorySegment memory = (MemorySegment) allocate.invokeExact((long) Long.BYTES);
                memory.reinterpret(Long.BYTES).set(ValueLayout.JAVA_LONG, 0, value);
                return memory.address();
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * libtorch on GPUs.
     *
     * @param count {@code int8_t c10::cuda::device_count()}
     * @param stream {@code int aoti_torch_get_current_cuda_stream(int32_t, void**)}
     */
    record Cuda(MethodHandle count, MethodHandle stream) {
        private static final String STREAM = "aoti_torch_get_current_cuda_stream";

        static Cuda in(SymbolLookup library) {
            return new Cuda(
                    function(library, "_ZN3c104cuda12device_countEv", FunctionDescriptor.of(ValueLayout.JAVA_BYTE)),
                    function(
                            library,
                            STREAM,
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS)));
        }

        int deviceCount() {
            try {
                return (byte) count.invokeExact();
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        long currentStream(int gpu) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
                int code = (int) stream.invokeExact(gpu, result);
                if (code != SUCCESS) {
                    throw new IllegalArgumentException(STREAM + " of libtorch knows no GPU " + gpu + ": code " + code);
                }
                return result.get(ValueLayout.ADDRESS, 0).address();
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /**
     * libtorch's CUDA graphs ({@code at::cuda::CUDAGraph}), which bring memory of their own, and random numbers whose seed is
     * read when a graph is launched. Objects are kept in memory that is larger than any version of the class.
     *
     * @param guard {@code int aoti_torch_create_cuda_stream_guard(void*, int32_t, void**)}
     * @param unguard {@code int aoti_torch_delete_cuda_stream_guard(void*)}
     * @param pool {@code std::pair<uint64, uint64> at::cuda::graph_pool_handle()}
     * @param construct {@code CUDAGraph(bool keepGraph)}; a version without the parameter does not look at it
     * @param begin {@code void CUDAGraph::capture_begin(std::pair<uint64, uint64>, cudaStreamCaptureMode)}
     * @param end {@code void CUDAGraph::capture_end()}
     * @param replay {@code void CUDAGraph::replay()}
     * @param destroy {@code ~CUDAGraph()}
     */
    record Graphs(
            MethodHandle guard,
            MethodHandle unguard,
            MethodHandle pool,
            MethodHandle construct,
            MethodHandle begin,
            MethodHandle end,
            MethodHandle replay,
            MethodHandle destroy) {
        /** {@code c10::MempoolId_t}, which travels in registers. */
        private static final MemoryLayout POOL =
                MemoryLayout.structLayout(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

        private static final long OBJECT_BYTES = 1 << 14;

        /** {@code cudaStreamCaptureModeThreadLocal}. */
        private static final int THREAD_LOCAL = 1;

        private static final FunctionDescriptor METHOD = FunctionDescriptor.ofVoid(ValueLayout.ADDRESS);
        private static final String GUARD = "aoti_torch_create_cuda_stream_guard";
        private static final String CLASS = "_ZN2at4cuda9CUDAGraph";

        static Graphs in(SymbolLookup library) {
            return new Graphs(
                    function(
                            library,
                            GUARD,
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS)),
                    function(
                            library,
                            "aoti_torch_delete_cuda_stream_guard",
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS)),
                    function(library, "_ZN2at4cuda17graph_pool_handleEv", FunctionDescriptor.of(POOL)),
                    constructor(library),
                    function(
                            library,
                            CLASS + "13capture_beginESt4pairIyyE21cudaStreamCaptureMode",
                            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, POOL, ValueLayout.JAVA_INT)),
                    function(library, CLASS + "11capture_endEv", METHOD),
                    function(library, CLASS + "6replayEv", METHOD),
                    function(library, CLASS + "D1Ev", METHOD));
        }

        private static MethodHandle constructor(SymbolLookup library) {
            String since28 = CLASS + "C1Eb";
            return function(
                    library,
                    library.find(since28).isPresent() ? since28 : CLASS + "C1Ev",
                    FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_BOOLEAN));
        }

        /** Has this thread's work on a GPU put into a stream; returns what ends that. */
        MemorySegment guard(long stream, int gpu) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
                int code = (int) guard.invokeExact(stream, gpu, result);
                if (code != SUCCESS) {
                    throw new IllegalStateException(
                            GUARD + " of libtorch refused a stream of GPU " + gpu + ": code " + code);
                }
                return result.get(ValueLayout.ADDRESS, 0);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        void unguard(MemorySegment guarded) {
            try {
                int code = (int) unguard.invokeExact(guarded);
                if (code != SUCCESS) {
                    throw new IllegalStateException("libtorch did not leave a stream: code " + code);
                }
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        MemorySegment newPool(Arena arena) {
            try {
                return (MemorySegment) pool.invokeExact((SegmentAllocator) arena);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        MemorySegment newGraph(Arena arena) {
            try {
                MemorySegment graph = arena.allocate(OBJECT_BYTES, 64);
                construct.invokeExact(graph, false);
                return graph;
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        void begin(MemorySegment graph, MemorySegment memory) {
            try {
                begin.invokeExact(graph, memory, THREAD_LOCAL);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }

        void end(MemorySegment graph) {
            call(end, graph);
        }

        void replay(MemorySegment graph) {
            call(replay, graph);
        }

        void destroy(MemorySegment graph) {
            call(destroy, graph);
        }

        private static void call(MethodHandle method, MemorySegment graph) {
            try {
                method.invokeExact(graph);
            } catch (Throwable thrown) {
                throw unchecked(thrown);
            }
        }
    }

    /** Found when it is first asked for: loading libtorch takes a second. */
    private static final class Symbols {
        static final Lookup<SymbolLookup> LIBRARY = library();
    }

    /** See {@link #tensors()}. */
    private static final class TensorsHolder {
        static final Lookup<Tensors> TENSORS = find("the memory of arrays", Symbols.LIBRARY, Tensors::in);
    }

    /** See {@link #memory()}. */
    private static final class MemoryHolder {
        static final Lookup<Memory> MEMORY = find("the sharing of memory", Symbols.LIBRARY, Memory::in);
    }

    /** See {@link #gpuSwitches()}. */
    private static final class GpuSwitchesHolder {
        static final Lookup<GpuSwitches> SWITCHES = find("the switches of GPUs", Symbols.LIBRARY, GpuSwitches::in);
    }

    /** See {@link #autocast()}. */
    private static final class AutocastHolder {
        static final Lookup<Autocast> AUTOCAST = find("products in bfloat16", Symbols.LIBRARY, Autocast::in);
    }

    /** What libtorch says of a failure it writes to the error output itself, and gives nothing but a code. */
    private static EngineException failed(String name, int code) {
        return new EngineException(
                "%s %s %d: what went wrong stands above, in the error output; a GPU may be out of memory"
                        .formatted(name, Torch.FAILED, code));
    }

    /** See {@link #operators()}. */
    private static final class OperatorsHolder {
        static final Lookup<Operators> OPERATORS = find("operators by name", Symbols.LIBRARY, Operators::in);
    }

    /** See {@link #cuda()}. */
    private static final class CudaHolder {
        static final Lookup<SymbolLookup> LIBRARY = cudaIn(chosen());
        /** No GPU is the usual case, and nothing to warn of: whoever wants one is told. */
        static final Lookup<Cuda> CUDA = LIBRARY instanceof Lookup.Missing<SymbolLookup>(String reason)
                ? new Lookup.Missing<>(reason)
                : find("GPUs", LIBRARY, Cuda::in);

        /** Nobody has loaded libtorch yet, if all went well: then it is one that knows GPUs. */
        private static Lookup<SymbolLookup> chosen() {
            CudaLibTorch.choose();
            return Symbols.LIBRARY;
        }
    }

    /** See {@link #graphs()}. */
    private static final class GraphsHolder {
        static final Lookup<Graphs> GRAPHS = find("CUDA graphs", CudaHolder.LIBRARY, Graphs::in);
    }

    /** See {@link #oneDnnSwitch()}. */
    private static final class OneDnnHolder {
        static final Lookup<OneDnnSwitch> SWITCH = find("the switch of oneDNN", Symbols.LIBRARY, OneDnnSwitch::in);
    }

    static Lookup<Tensors> tensors() {
        return TensorsHolder.TENSORS;
    }

    static Lookup<Memory> memory() {
        return MemoryHolder.MEMORY;
    }

    static Lookup<OneDnnSwitch> oneDnnSwitch() {
        return OneDnnHolder.SWITCH;
    }

    static Lookup<GpuSwitches> gpuSwitches() {
        return GpuSwitchesHolder.SWITCHES;
    }

    static Lookup<Autocast> autocast() {
        return AutocastHolder.AUTOCAST;
    }

    static Lookup<Operators> operators() {
        return OperatorsHolder.OPERATORS;
    }

    static Lookup<Cuda> cuda() {
        return CudaHolder.CUDA;
    }

    static Lookup<Graphs> graphs() {
        return GraphsHolder.GRAPHS;
    }

    /** The libraries of a libtorch that is made for GPUs. */
    private static Lookup<SymbolLookup> cudaIn(Lookup<SymbolLookup> core) {
        if (core instanceof Lookup.Missing<SymbolLookup>(String reason)) {
            return new Lookup.Missing<>(reason);
        }
        Path folder = Path.of(LibUtils.getLibtorchPath());
        SymbolLookup library = SymbolLookup.loaderLookup();
        for (String name : List.of("c10_cuda", "torch_cuda")) {
            Path file = folder.resolve(System.mapLibraryName(name));
            if (!Files.exists(file)) {
                return new Lookup.Missing<>(CudaLibTorch.whyNot(folder));
            }
            try {
                library = library.or(SymbolLookup.libraryLookup(file, Arena.global()));
            } catch (IllegalArgumentException e) {
                return new Lookup.Missing<>(file + " cannot be loaded: " + e.getMessage());
            }
        }
        return new Lookup.Found<>(library);
    }

    /** A class loader sees the libraries that its own classes loaded; libtorch was loaded by DJL, whoever loaded that. */
    private static Lookup<SymbolLookup> library() {
        try {
            Engine.getEngine(PtEngine.ENGINE_NAME);
            Path file = Path.of(LibUtils.getLibtorchPath(), System.mapLibraryName("torch_cpu"));
            return new Lookup.Found<>(SymbolLookup.loaderLookup().or(SymbolLookup.libraryLookup(file, Arena.global())));
        } catch (EngineException | IllegalArgumentException e) {
            return new Lookup.Missing<>("libtorch cannot be loaded: " + cause(e));
        }
    }

    /** What is behind what DJL throws. */
    static Throwable cause(Throwable thrown) {
        Throwable cause = thrown;
        for (Throwable next = cause.getCause(); next != null; next = next.getCause()) {
            cause = next;
        }
        return cause;
    }

    static <T> Lookup<T> find(String what, Lookup<SymbolLookup> where, Function<SymbolLookup, T> make) {
        String reason;
        switch (where) {
            case Lookup.Found<SymbolLookup>(SymbolLookup library) -> {
                try {
                    return new Lookup.Found<>(make.apply(library));
                } catch (NoSuchElementException e) {
                    reason = "this libtorch has no such function: " + e.getMessage();
                }
            }
            case Lookup.Missing<SymbolLookup>(String why) -> reason = why;
        }
        System.getLogger(LibTorch.class.getName()).log(Level.WARNING, "No access to {0}: {1}", what, reason);
        return new Lookup.Missing<>(reason);
    }

    private static MethodHandle function(SymbolLookup library, String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), descriptor);
    }

    /** Native functions declare no exceptions; what comes out of a call can only be unchecked. */
    private static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> new IllegalStateException(thrown);
        };
    }
}
