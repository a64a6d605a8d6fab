package dev.espalier.graph.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.safetensors.Safetensors;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checkpoint, the inputs and what transformers makes of them are what make_tiny_bert.py has written. */
class BertOutputTest {
    private static final List<String> INPUTS = List.of("input_ids", "attention_mask", "token_type_ids");

    @TempDir
    private Path folder;

    @BeforeEach
    void copyCheckpoint() throws IOException {
        for (String name : List.of("config.json", "model.safetensors", "expected.safetensors")) {
            try (InputStream stream =
                    Objects.requireNonNull(BertOutputTest.class.getResourceAsStream("tiny-bert/" + name), name)) {
                Files.write(folder.resolve(name), stream.readAllBytes());
            }
        }
    }

    private Map<String, Tensor> expected() throws IOException {
        return Safetensors.read(folder.resolve("expected.safetensors")).tensors();
    }

    private static Tensor tensor(Map<String, Tensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    private void requireOutputs(Graph graph) throws IOException {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (String name : INPUTS) {
            inputs.put(name, tensor(expected(), name));
        }
        Map<String, Tensor> outputs = Evaluator.run(graph, inputs);
        assertEquals(List.copyOf(outputs.keySet()), graph.outputs());
        for (String name : graph.outputs()) {
            assertArrayEquals(
                    tensor(expected(), name).toFloats(), tensor(outputs, name).toFloats(), 1e-5f, name);
        }
    }

    @Test
    void theAnswersAreThoseOfTransformers() throws IOException {
        requireOutputs(HuggingFace.read(folder, 1).graph());
    }

    @Test
    void theEncodingIsThatOfTransformers() throws IOException {
        requireOutputs(HuggingFace.readEncoder(folder).graph());
    }

    @Test
    void theAnswersAreTheSameForAKnownLength() throws IOException {
        requireOutputs(HuggingFace.read(folder, 1).graph().withDimensions(Map.of("batch", 3L, "tokens", 11L)));
    }

    @Test
    void maskedTokensDoNotMatter() throws IOException {
        Graph graph = HuggingFace.read(folder, 1).graph();
        long[] tokens = {5, 6, 7, 8};
        Map<String, Tensor> longer = inputs(tokens, 1, 1, 0, 0);
        tokens[2] = 11;
        tokens[3] = 0;
        Map<String, Tensor> other = inputs(tokens, 1, 1, 0, 0);
        for (String name : graph.outputs()) {
            float[] one = tensor(Evaluator.run(graph, longer), name).toFloats();
            float[] two = tensor(Evaluator.run(graph, other), name).toFloats();
            assertArrayEquals(new float[] {one[0], one[1]}, new float[] {two[0], two[1]}, 0f);
        }
    }

    @Test
    void anyLengthUpToTheNumberOfPositionsWorks() throws IOException {
        Graph graph = HuggingFace.read(folder, 1).graph();
        for (int length : new int[] {1, 24}) {
            Tensor zeros = Tensor.compute(DataType.INT64, new long[] {1, length}, i -> 0);
            Tensor ones = Tensor.compute(DataType.INT64, new long[] {1, length}, i -> 1);
            Map<String, Tensor> inputs = Map.of("input_ids", ones, "attention_mask", ones, "token_type_ids", zeros);
            assertEquals(
                    length, tensor(Evaluator.run(graph, inputs), "start_logits").size());
        }
        Tensor tooLong = Tensor.compute(DataType.INT64, new long[] {1, 25}, i -> 1);
        assertThrows(
                IllegalArgumentException.class,
                () -> Evaluator.run(
                        graph, Map.of("input_ids", tooLong, "attention_mask", tooLong, "token_type_ids", tooLong)));
    }

    private static Map<String, Tensor> inputs(long[] tokens, long... mask) {
        return Map.of(
                "input_ids", Tensor.of(tokens, 1, tokens.length),
                "attention_mask", Tensor.of(mask, 1, mask.length),
                "token_type_ids", Tensor.of(new long[mask.length], 1, mask.length));
    }
}
