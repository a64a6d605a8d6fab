package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** ONNX OnnxRuntime, which judges what models compute. */
final class OnnxRuntime {
    private OnnxRuntime() {}

    static List<Tensor> run(byte[] model, Map<String, Tensor> feeds) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "test");
        try (OrtSession.SessionOptions options = options();
                OrtSession session = environment.createSession(model, options)) {
            return run(environment, session, feeds);
        }
    }

    static List<Tensor> run(Path model, Map<String, Tensor> feeds) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "test");
        try (OrtSession.SessionOptions options = options();
                OrtSession session = environment.createSession(model.toString(), options)) {
            return run(environment, session, feeds);
        }
    }

    private static OrtSession.SessionOptions options() throws OrtException {
        OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        options.setIntraOpNumThreads(1);
        options.setInterOpNumThreads(1);
        options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.NO_OPT);
        return options;
    }

    private static List<Tensor> run(OrtEnvironment environment, OrtSession session, Map<String, Tensor> feeds)
            throws OrtException {
        Map<String, OnnxTensor> inputs = new HashMap<>();
        try {
            for (String name : session.getInputNames()) {
                Tensor feed = feeds.get(name);
                if (feed == null) {
                    throw new IllegalArgumentException("nothing to feed to " + name);
                }
                ByteBuffer bytes = ByteBuffer.allocateDirect(
                                Math.toIntExact(feed.data().byteSize()))
                        .order(ByteOrder.nativeOrder())
                        .put(feed.data().asByteBuffer())
                        .flip();
                inputs.put(name, OnnxTensor.createTensor(environment, bytes, feed.shape(), javaType(feed.type())));
            }
            List<Tensor> outputs = new ArrayList<>();
            try (OrtSession.Result result = session.run(inputs)) {
                for (Map.Entry<String, OnnxValue> output : result) {
                    outputs.add(tensor((OnnxTensor) output.getValue()));
                }
            }
            return outputs;
        } finally {
            inputs.values().forEach(OnnxTensor::close);
        }
    }

    private static Tensor tensor(OnnxTensor value) {
        ByteBuffer bytes = value.getByteBuffer();
        MemorySegment copy = Arena.ofAuto().allocate(bytes.remaining(), 8);
        copy.copyFrom(MemorySegment.ofBuffer(bytes));
        return Tensor.of(dataType(value.getInfo().type), value.getInfo().getShape(), copy);
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
            case UINT16, UINT32, UINT64 -> throw new IllegalArgumentException("not in the Java API: " + type);
        };
    }

    private static DataType dataType(OnnxJavaType type) {
        for (DataType candidate : DataType.values()) {
            boolean unknown =
                    candidate == DataType.UINT16 || candidate == DataType.UINT32 || candidate == DataType.UINT64;
            if (!unknown && javaType(candidate) == type) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("no tensor of " + type);
    }

    /**
     * The same kinds of tensors under the same names; constants may differ where operators were written as others.
     */
    static void assertSameInitializers(Graph expected, Graph actual, boolean constants) {
        for (Initializer.Kind kind : Initializer.Kind.values()) {
            if (constants || kind != Initializer.Kind.CONSTANT) {
                Map<String, Tensor> wanted = expected.tensors(kind);
                Map<String, Tensor> found = actual.tensors(kind);
                assertEquals(wanted.keySet(), found.keySet(), "names of " + kind);
                wanted.forEach((name, tensor) -> assertTrue(tensor.sameAs(Checks.contents(actual, name)), name));
            }
        }
    }

    /** Whole numbers exactly, fractions within a relative and absolute tolerance. */
    static void assertClose(List<Tensor> expected, List<Tensor> actual, double tolerance) {
        assertClose("", expected, actual, tolerance);
    }

    static void assertClose(String replay, List<Tensor> expected, List<Tensor> actual, double tolerance) {
        assertEquals(expected.size(), actual.size(), replay + " number of outputs");
        for (int i = 0; i < expected.size(); i++) {
            assertClose(replay + " output " + i, expected.get(i), actual.get(i), tolerance);
        }
    }

    private static void assertClose(String what, Tensor expected, Tensor actual, double tolerance) {
        assertEquals(expected.type(), actual.type(), what);
        assertArrayEquals(expected.shape(), actual.shape(), what);
        for (long i = 0; i < expected.size(); i++) {
            double wanted = expected.getDouble(i);
            double found = actual.getDouble(i);
            boolean same = Double.compare(wanted, found) == 0
                    || Math.abs(wanted - found) <= tolerance * Math.max(1, Math.abs(wanted));
            if (!same) {
                fail(what + " differs at " + i + ": " + wanted + " is expected but it is " + found);
            }
        }
    }
}
