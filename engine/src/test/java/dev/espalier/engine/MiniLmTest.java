package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A real transformer, all-MiniLM-L6-v2 as PyTorch exported it: the same outputs as ONNX Runtime, and gradients. */
final class MiniLmTest {
    private static final long[] SHAPE = {2, 7};
    private static final long[] TOKENS = {101, 2023, 2003, 1037, 3231, 1012, 102, 101, 2178, 2028, 102, 0, 0, 0};
    private static final long[] MASK = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};

    private static Map<String, long[]> inputs() {
        return Map.of("input_ids", TOKENS, "attention_mask", MASK, "token_type_ids", new long[TOKENS.length]);
    }

    private static float[] judged(byte[] model, String output) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        Map<String, OnnxTensor> tensors = new HashMap<>();
        for (Map.Entry<String, long[]> input : inputs().entrySet()) {
            tensors.put(input.getKey(), OnnxTensor.createTensor(environment, LongBuffer.wrap(input.getValue()), SHAPE));
        }
        try (OrtSession session = environment.createSession(model);
                OrtSession.Result result = session.run(tensors)) {
            FloatBuffer values = ((OnnxTensor) result.get(output).orElseThrow()).getFloatBuffer();
            float[] copy = new float[values.remaining()];
            values.get(copy);
            return copy;
        } finally {
            tensors.values().forEach(OnnxTensor::close);
        }
    }

    @Test
    void outputsAreThoseOfOnnxRuntimeAndEveryParameterHasAGradient() throws IOException, OrtException {
        byte[] model;
        try (InputStream resource =
                Objects.requireNonNull(MiniLmTest.class.getResourceAsStream("/all-minilm-l6-v2.onnx"))) {
            model = resource.readAllBytes();
        }
        Graph graph = OnnxReader.read(model).graph();
        String output = graph.outputs().getFirst();
        float[] expected = judged(model, output);
        try (Network network = new Network(graph, Device.CPU)) {
            Map<String, Tensor> tensors = new HashMap<>();
            inputs().forEach((name, values) -> tensors.put(name, Tensor.of(values, SHAPE)));
            try (Pass pass = network.forward(tensors, Mode.TRAINING)) {
                float[] actual = pass.output(output).toFloatArray();
                assertEquals(expected.length, actual.length);
                for (int i = 0; i < expected.length; i++) {
                    assertEquals(expected[i], actual[i], 1e-4f, "element " + i);
                }
                // All outputs, since the pooler's weights touch only the second one.
                NDArray loss = pass.outputs().values().stream()
                        .map(each -> each.square().sum())
                        .reduce(NDArray::add)
                        .orElseThrow();
                pass.backward(loss, 1);
            }
            assertEquals(
                    graph.tensors(Kind.PARAMETER).keySet(), network.gradients().keySet());
            network.gradients().forEach((name, gradient) -> {
                double largest = 0;
                for (long i = 0; i < gradient.size(); i++) {
                    largest = Math.max(largest, Math.abs(gradient.get(i)));
                }
                assertTrue(largest > 0 && largest < Double.POSITIVE_INFINITY, name + " has a gradient of " + largest);
            });
        }
    }
}
