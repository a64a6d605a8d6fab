package dev.espalier.runtime;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import dev.espalier.core.check.Writing;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;

/** A model that ONNX Runtime has loaded, on the CPU. */
public final class OnnxRuntimeModel implements AutoCloseable, Equivalence.Model {
    /** How much ONNX Runtime changes a model before it runs it. The function stays, its rounding does not. */
    enum Optimization {
        /** As much as it can: operators are joined, sums are reordered. */
        ALL(OrtSession.SessionOptions.OptLevel.ALL_OPT),
        /** Not at all: the file's operators, one after the other. */
        NONE(OrtSession.SessionOptions.OptLevel.NO_OPT);

        private final OrtSession.SessionOptions.OptLevel level;

        Optimization(OrtSession.SessionOptions.OptLevel level) {
            this.level = level;
        }
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static {
        Telemetry.off();
    }

    private final OrtEnvironment environment =
            OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR, "espalier");
    private final String name;
    /** What ONNX Runtime calls it. */
    private final String source;

    private final OrtSession session;
    private final int threads;

    /**
     * Loads a file.
     *
     * @param file an ONNX file
     * @param threads how many threads a single operator may use
     */
    public OnnxRuntimeModel(Path file, int threads) {
        this(file.toString(), file, threads, Optimization.ALL);
    }

    OnnxRuntimeModel(String name, Path file, int threads, Optimization optimization) {
        this.name = name;
        this.source = file.toString();
        this.threads = threads;
        try (OrtSession.SessionOptions options = options(threads, optimization)) {
            session = environment.createSession(file.toString(), options);
        } catch (OrtException refused) {
            throw refused(refused);
        }
    }

    /** Loads a model from memory, to be run as it is. */
    OnnxRuntimeModel(String name, byte[] model, Optional<Path> externalData) {
        this.name = name;
        this.source = name;
        this.threads = 1;
        try (OrtSession.SessionOptions options = options(1, Optimization.NONE)) {
            if (externalData.isPresent()) {
                options.addConfigEntry(
                        "session.model_external_initializers_file_folder_path",
                        externalData.get().toString());
            }
            session = environment.createSession(model, options);
        } catch (OrtException refused) {
            throw refused(refused);
        }
    }

    private static OrtSession.SessionOptions options(int threads, Optimization optimization) throws OrtException {
        OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        options.setOptimizationLevel(optimization.level);
        // What goes wrong is thrown, and not printed as well.
        options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
        options.setIntraOpNumThreads(threads);
        options.setInterOpNumThreads(1);
        return options;
    }

    /**
     * Loads a graph, by way of a file: a model may be larger than an array of bytes.
     *
     * @param graph the graph
     * @param threads how many threads a single operator may use
     * @return the model
     */
    public static OnnxRuntimeModel of(Graph graph, int threads) {
        return of(graph, OnnxWriter.Options.DEFAULT, threads, Optimization.ALL);
    }

    static OnnxRuntimeModel of(Graph graph, OnnxWriter.Options options, int threads, Optimization optimization) {
        try {
            Path folder = Files.createTempDirectory("espalier-");
            try {
                Path file = folder.resolve("model.onnx");
                OnnxWriter.write(graph, file, options);
                return new OnnxRuntimeModel(graph.name(), file, threads, optimization);
            } finally {
                remove(folder);
            }
        } catch (IOException failure) {
            String reason =
                    failure.getCause() instanceof IOException cause ? Writing.reason(cause) : Writing.reason(failure);
            throw new UncheckedIOException(
                    "ONNX Runtime reads models from files, and there is no way to write one to the folder of temporary files, %s: %s;"
                                    .formatted(System.getProperty("java.io.tmpdir"), reason)
                            + " -Djava.io.tmpdir=DIR in ESPALIER_JAVA_OPTS names another",
                    failure);
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /**
     * Runs the model.
     *
     * @param inputs what it is fed with, by name; what it does not read is left out
     * @return copies of its outputs by name, as far as they are tensors
     * @throws IllegalStateException if ONNX Runtime refuses them
     */
    @Override
    public SequencedMap<String, Tensor> run(Map<String, Tensor> inputs) {
        try (Feed feed = new Feed(inputs)) {
            return feed.outputs();
        }
    }

    /**
     * The lengths that the model declares for an input.
     *
     * @param input its name
     * @return one for each axis, negative where it is free; empty if there is no such tensor
     */
    Optional<long[]> declared(String input) {
        try {
            NodeInfo info = session.getInputInfo().get(input);
            return info != null && info.getInfo() instanceof TensorInfo tensor
                    ? Optional.of(tensor.getShape())
                    : Optional.empty();
        } catch (OrtException refused) {
            throw refused(refused);
        }
    }

    /**
     * The types of all outputs that are tensors of a type that graphs have. ONNX Runtime does not tell an output without axes from
     * one whose axes it does not know.
     */
    SequencedMap<String, TensorType> outputTypes() {
        SequencedMap<String, TensorType> types = new LinkedHashMap<>();
        try {
            session.getOutputInfo().forEach((output, info) -> {
                if (info.getInfo() instanceof TensorInfo tensor) {
                    find(tensor.onnxType)
                            .ifPresent(data -> types.put(output, new TensorType(data, shape(output, tensor))));
                }
            });
        } catch (OrtException refused) {
            throw refused(refused);
        }
        return types;
    }

    private static Shape shape(String output, TensorInfo tensor) {
        List<Dimension> lengths = new ArrayList<>();
        for (long length : tensor.getShape()) {
            String symbol = tensor.getDimensionNames()[lengths.size()];
            lengths.add(
                    length >= 0
                            ? Dimension.of(length)
                            : Dimension.symbol(symbol.isEmpty() ? output + ".length" + lengths.size() : symbol));
        }
        return new Shape(lengths);
    }

    private static Optional<DataType> find(TensorInfo.OnnxTensorType type) {
        return switch (type) {
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT -> Optional.of(DataType.FLOAT32);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE -> Optional.of(DataType.FLOAT64);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 -> Optional.of(DataType.FLOAT16);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 -> Optional.of(DataType.BFLOAT16);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 -> Optional.of(DataType.INT8);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 -> Optional.of(DataType.UINT8);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 -> Optional.of(DataType.INT16);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 -> Optional.of(DataType.UINT16);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 -> Optional.of(DataType.INT32);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 -> Optional.of(DataType.UINT32);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 -> Optional.of(DataType.INT64);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 -> Optional.of(DataType.UINT64);
            case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL -> Optional.of(DataType.BOOL);
            default -> Optional.empty();
        };
    }

    Set<String> inputs() {
        return session.getInputNames();
    }

    private IllegalStateException refused(OrtException refused) {
        // A file that holds a graph for a moment is none that a user knows.
        String message = String.valueOf(refused.getMessage()).replace(source, name);
        return new IllegalStateException("ONNX Runtime does not run " + name + ": " + message, refused);
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (OrtException refused) {
            throw refused(refused);
        }
    }

    /** Inputs in ONNX Runtime's own memory, to run the model on again and again. */
    final class Feed implements AutoCloseable {
        private final Map<String, OnnxTensor> tensors = new LinkedHashMap<>();

        Feed(Map<String, Tensor> inputs) {
            try {
                for (String input : session.getInputNames()) {
                    Tensor tensor = inputs.get(input);
                    if (tensor == null) {
                        throw new IllegalArgumentException("nothing to feed to " + input + " of " + name);
                    }
                    tensors.put(input, tensor(tensor));
                }
            } catch (OrtException refused) {
                close();
                throw refused(refused);
            } catch (RuntimeException failure) {
                close();
                throw failure;
            }
        }

        private OnnxTensor tensor(Tensor tensor) throws OrtException {
            ByteBuffer bytes = ByteBuffer.allocateDirect(
                            Math.toIntExact(tensor.data().byteSize()))
                    .order(ByteOrder.nativeOrder());
            MemorySegment.ofBuffer(bytes).copyFrom(tensor.data());
            return OnnxTensor.createTensor(environment, bytes, tensor.shape(), javaType(tensor.type()));
        }

        private SequencedMap<String, Tensor> outputs() {
            SequencedMap<String, Tensor> outputs = new LinkedHashMap<>();
            try (OrtSession.Result result = session.run(tensors)) {
                for (Map.Entry<String, OnnxValue> output : result) {
                    if (output.getValue() instanceof OnnxTensor tensor) {
                        outputs.put(output.getKey(), copy(tensor));
                    }
                }
            } catch (OrtException refused) {
                throw refused(refused);
            }
            return outputs;
        }

        private static Tensor copy(OnnxTensor value) {
            ByteBuffer bytes = value.getByteBuffer();
            MemorySegment copy = Arena.ofAuto().allocate(bytes.remaining(), 8);
            copy.copyFrom(MemorySegment.ofBuffer(bytes));
            return Tensor.of(dataType(value.getInfo().type), value.getInfo().getShape(), copy);
        }

        /** How many milliseconds a run takes by the clock, whoever else is at work. */
        double elapsed() {
            long start = System.nanoTime();
            try {
                session.run(tensors).close();
            } catch (OrtException refused) {
                throw refused(refused);
            }
            return (System.nanoTime() - start) / 1e6;
        }

        /**
         * How long a run takes. Where one thread does it all, that thread's own time: other programs on the same processor do not
         * count. A virtual machine whose time was taken away meanwhile may say that it took none; then all of the time counts.
         */
        double milliseconds() {
            boolean own = threads == 1 && THREADS.isCurrentThreadCpuTimeSupported();
            long start = System.nanoTime();
            long ownStart = own ? THREADS.getCurrentThreadCpuTime() : 0;
            try {
                session.run(tensors).close();
            } catch (OrtException refused) {
                throw refused(refused);
            }
            long ownTime = own ? THREADS.getCurrentThreadCpuTime() - ownStart : 0;
            return (ownTime > 0 ? ownTime : System.nanoTime() - start) / 1e6;
        }

        @Override
        public void close() {
            tensors.values().forEach(OnnxTensor::close);
        }
    }

    private static OnnxJavaType javaType(DataType type) {
        return switch (type) {
            case FLOAT32 -> OnnxJavaType.FLOAT;
            case FLOAT64 -> OnnxJavaType.DOUBLE;
            case FLOAT16 -> OnnxJavaType.FLOAT16;
            case BFLOAT16 -> OnnxJavaType.BFLOAT16;
            case INT8 -> OnnxJavaType.INT8;
            case UINT8 -> OnnxJavaType.UINT8;
            case INT16 -> OnnxJavaType.INT16;
            case INT32 -> OnnxJavaType.INT32;
            case INT64 -> OnnxJavaType.INT64;
            case BOOL -> OnnxJavaType.BOOL;
            case UINT16, UINT32, UINT64 ->
                throw new IllegalArgumentException("ONNX Runtime for Java has no tensors of " + type);
        };
    }

    private static DataType dataType(OnnxJavaType type) {
        return switch (type) {
            case FLOAT -> DataType.FLOAT32;
            case DOUBLE -> DataType.FLOAT64;
            case FLOAT16 -> DataType.FLOAT16;
            case BFLOAT16 -> DataType.BFLOAT16;
            case INT8 -> DataType.INT8;
            case UINT8 -> DataType.UINT8;
            case INT16 -> DataType.INT16;
            case INT32 -> DataType.INT32;
            case INT64 -> DataType.INT64;
            case BOOL -> DataType.BOOL;
            default -> throw new IllegalArgumentException("ONNX Runtime returned a tensor of " + type);
        };
    }
}
