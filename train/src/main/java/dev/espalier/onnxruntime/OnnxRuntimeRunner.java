package dev.espalier.onnxruntime;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Runner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** Runs graphs in ONNX Runtime, on the CPU, and measures how long that takes. */
public final class OnnxRuntimeRunner implements Runner {
    /** Runs before the first that counts. */
    private static final int WARM_UP = 3;

    private final OrtEnvironment environment =
            OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR, "espalier");
    private final int threads;

    /**
     * A runner.
     *
     * @param threads how many threads a single operator may use
     */
    public OnnxRuntimeRunner(int threads) {
        this.threads = threads;
    }

    /**
     * Medians of the milliseconds that a run takes.
     *
     * @param before of the first model
     * @param after of the second model
     */
    public record Latency(double before, double after) {}

    @Override
    public Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
        try (Loaded model = new Loaded(graph, inputs)) {
            return model.outputs();
        } catch (OrtException refused) {
            throw refused(graph, refused);
        }
    }

    /**
     * Runs two models by turns, so that a machine that slows down slows both down.
     *
     * @param before the first model
     * @param after the second model
     * @param inputs what both are fed with
     * @param rounds how often each is run
     * @return the medians
     */
    public Latency latency(Graph before, Graph after, Map<String, Tensor> inputs, int rounds) {
        try (Loaded first = new Loaded(before, inputs);
                Loaded second = new Loaded(after, inputs)) {
            double[] firsts = new double[rounds];
            double[] seconds = new double[rounds];
            for (int round = -WARM_UP; round < rounds; round++) {
                double one = first.milliseconds();
                double other = second.milliseconds();
                if (round >= 0) {
                    firsts[round] = one;
                    seconds[round] = other;
                }
            }
            return new Latency(median(firsts), median(seconds));
        } catch (OrtException refused) {
            throw refused(before, refused);
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    private static IllegalStateException refused(Graph graph, OrtException refused) {
        return new IllegalStateException(
                "ONNX Runtime does not run " + graph.name() + ": " + refused.getMessage(), refused);
    }

    /** A model in memory with what it is fed. */
    private final class Loaded implements AutoCloseable {
        private final OrtSession session;
        private final Map<String, OnnxTensor> feeds = new LinkedHashMap<>();

        Loaded(Graph graph, Map<String, Tensor> inputs) throws OrtException {
            session = load(graph);
            try {
                for (String name : session.getInputNames()) {
                    Tensor input = inputs.get(name);
                    if (input == null) {
                        throw new IllegalArgumentException("nothing to feed to " + name + " of " + graph.name());
                    }
                    feeds.put(name, feed(input));
                }
            } catch (OrtException | RuntimeException failure) {
                close();
                throw failure;
            }
        }

        private OnnxTensor feed(Tensor tensor) throws OrtException {
            ByteBuffer bytes = ByteBuffer.allocateDirect(
                            Math.toIntExact(tensor.data().byteSize()))
                    .order(ByteOrder.nativeOrder())
                    .put(tensor.data().asByteBuffer())
                    .flip();
            return OnnxTensor.createTensor(environment, bytes, tensor.shape(), javaType(tensor.type()));
        }

        Map<String, Tensor> outputs() throws OrtException {
            Map<String, Tensor> outputs = new LinkedHashMap<>();
            try (OrtSession.Result result = session.run(feeds)) {
                for (Map.Entry<String, OnnxValue> output : result) {
                    outputs.put(output.getKey(), copy((OnnxTensor) output.getValue()));
                }
            }
            return outputs;
        }

        private static Tensor copy(OnnxTensor value) {
            ByteBuffer bytes = value.getByteBuffer();
            MemorySegment copy = Arena.ofAuto().allocate(bytes.remaining(), 8);
            copy.copyFrom(MemorySegment.ofBuffer(bytes));
            return Tensor.of(dataType(value.getInfo().type), value.getInfo().getShape(), copy);
        }

        double milliseconds() throws OrtException {
            long start = System.nanoTime();
            session.run(feeds).close();
            return (System.nanoTime() - start) / 1e6;
        }

        @Override
        public void close() throws OrtException {
            feeds.values().forEach(OnnxTensor::close);
            session.close();
        }
    }

    /** By way of a file: a model may be larger than an array of bytes. */
    private OrtSession load(Graph graph) throws OrtException {
        try {
            Path folder = Files.createTempDirectory("espalier-");
            try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
                options.setIntraOpNumThreads(threads);
                options.setInterOpNumThreads(1);
                Path file = folder.resolve("model.onnx");
                OnnxWriter.write(graph, file);
                return environment.createSession(file.toString(), options);
            } finally {
                remove(folder);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
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
