package dev.espalier.graph.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
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
import java.util.SequencedMap;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checkpoint is what make_tiny_bert.py has written. */
class HuggingFaceTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void copyCheckpoint() throws IOException {
        for (String name : List.of("config.json", "model.safetensors")) {
            Files.write(folder.resolve(name), resource(name));
        }
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream stream =
                Objects.requireNonNull(HuggingFaceTest.class.getResourceAsStream("tiny-bert/" + name), name)) {
            return stream.readAllBytes();
        }
    }

    private SequencedMap<String, Tensor> tensors() throws IOException {
        return new LinkedHashMap<>(
                Safetensors.read(folder.resolve("model.safetensors")).tensors());
    }

    private void store(Map<String, Tensor> tensors) throws IOException {
        Safetensors.write(folder.resolve("model.safetensors"), tensors, Map.of());
    }

    private static Tensor tensor(Map<String, Tensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    @Test
    void aCheckpointIsReadInFull() throws IOException {
        HuggingFace.Checkpoint checkpoint = HuggingFace.read(folder, 1);
        assertEquals(
                new BertConfig(40, 16, 2, 2, 32, 24, 2, 1e-7, 0.1, 0.1, BertConfig.Activation.GELU),
                checkpoint.config());
        assertEquals(List.of(), checkpoint.initialised());
        assertEquals(List.of(), checkpoint.ignored());
        SequencedMap<String, Tensor> read = checkpoint.graph().tensors(Kind.PARAMETER);
        assertEquals(tensors().keySet(), Set.copyOf(read.keySet()));
        Tensor stored = tensor(tensors(), "bert.encoder.layer.1.intermediate.dense.weight");
        Tensor turned = tensor(read, "bert.encoder.layer.1.intermediate.dense.weight");
        assertArrayEquals(new long[] {32, 16}, stored.shape());
        assertArrayEquals(new long[] {16, 32}, turned.shape());
        assertEquals(stored.getDouble(5 * 16 + 3), turned.getDouble(3 * 32 + 5));
        Tensor table = tensor(tensors(), "bert.embeddings.word_embeddings.weight");
        assertTrue(table.sameAs(tensor(read, "bert.embeddings.word_embeddings.weight")));
    }

    @Test
    void whatIsSavedIsWhatTransformersWrote() throws IOException {
        HuggingFace.Checkpoint checkpoint = HuggingFace.read(folder, 1);
        Path saved = folder.resolve("new").resolve("saved");
        HuggingFace.save(saved, checkpoint.graph(), checkpoint.config());
        assertArrayEquals(resource("model.safetensors"), Files.readAllBytes(saved.resolve("model.safetensors")));
        assertEquals(checkpoint.config(), HuggingFace.read(saved, 1).config());
        assertTrue(Files.readString(saved.resolve("config.json")).contains("BertForQuestionAnswering"));
    }

    @Test
    void anotherSizeThanTheConfigurationsCannotBeSaved() throws IOException {
        HuggingFace.Checkpoint checkpoint = HuggingFace.read(folder, 1);
        assertThrows(
                IllegalArgumentException.class, () -> HuggingFace.save(folder, checkpoint.graph(), BertConfig.BASE));
    }

    @Test
    void aBareEncoderWithOldNamesGetsANewHead() throws IOException {
        SequencedMap<String, Tensor> bare = new LinkedHashMap<>();
        tensors().forEach((name, tensor) -> {
            if (name.startsWith("bert.")) {
                bare.put(
                        name.substring("bert.".length())
                                .replace("LayerNorm.weight", "LayerNorm.gamma")
                                .replace("LayerNorm.bias", "LayerNorm.beta"),
                        tensor);
            }
        });
        bare.put("embeddings.position_ids", Tensor.of(new long[] {0, 1, 2}));
        bare.put("pooler.dense.weight", Tensor.of(new float[256], 16, 16));
        bare.put("cls.predictions.bias", Tensor.of(new float[40]));
        Graph before = HuggingFace.read(folder, 1).graph();
        store(bare);
        HuggingFace.Checkpoint checkpoint = HuggingFace.read(folder, 1);
        assertEquals(List.of("qa_outputs.weight", "qa_outputs.bias"), checkpoint.initialised());
        assertEquals(
                List.of("embeddings.position_ids", "cls.predictions.bias", "pooler.dense.weight"),
                checkpoint.ignored());
        checkpoint.graph().tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            boolean same = tensor.sameAs(tensor(before.tensors(Kind.PARAMETER), name));
            assertEquals(!name.startsWith("qa_outputs"), same, name);
        });
        Tensor head = tensor(checkpoint.graph().tensors(Kind.PARAMETER), "qa_outputs.weight");
        assertTrue(
                head.sameAs(tensor(HuggingFace.read(folder, 1).graph().tensors(Kind.PARAMETER), "qa_outputs.weight")));
        assertTrue(
                !head.sameAs(tensor(HuggingFace.read(folder, 2).graph().tensors(Kind.PARAMETER), "qa_outputs.weight")));
        assertEquals(List.of(), HuggingFace.readEncoder(folder).initialised());
    }

    @Test
    void theEncoderAloneIgnoresTheHead() throws IOException {
        HuggingFace.Checkpoint checkpoint = HuggingFace.readEncoder(folder);
        assertEquals(List.of("last_hidden_state"), checkpoint.graph().outputs());
        assertEquals(List.of("qa_outputs.bias", "qa_outputs.weight"), checkpoint.ignored());
    }

    @Test
    void halfPrecisionIsReadAsSingle() throws IOException {
        store(Safetensors.cast(tensors(), DataType.FLOAT16));
        Map<String, Tensor> read = HuggingFace.read(folder, 1).graph().tensors(Kind.PARAMETER);
        read.values().forEach(tensor -> assertEquals(DataType.FLOAT32, tensor.type()));
        assertEquals(
                tensor(tensors(), "qa_outputs.bias").getDouble(1),
                tensor(read, "qa_outputs.bias").getDouble(1));
    }

    @Test
    void everythingThatDoesNotFitIsToldAtOnce() throws IOException {
        SequencedMap<String, Tensor> tensors = tensors();
        tensors.remove("bert.encoder.layer.0.attention.self.key.weight");
        tensors.remove("bert.embeddings.LayerNorm.bias");
        tensors.put("bert.encoder.layer.1.output.dense.weight", Tensor.of(new float[512], 32, 16));
        tensors.put("qa_outputs.bias", Tensor.of(new long[] {0, 1}));
        store(tensors);
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains("4 problems"), message);
        assertTrue(message.contains("bert.encoder.layer.0.attention.self.key.weight: missing"), message);
        assertTrue(message.contains("bert.embeddings.LayerNorm.bias: missing, it should be [16]"), message);
        assertTrue(message.contains("bert.encoder.layer.1.output.dense.weight: FLOAT32[32, 16]"), message);
        assertTrue(message.contains("of shape [16, 32]"), message);
        assertTrue(message.contains("qa_outputs.bias: INT64[2]"), message);
    }

    @Test
    void twoTensorsUnderOneNameAreRefused() throws IOException {
        SequencedMap<String, Tensor> tensors = tensors();
        tensors.put("bert.embeddings.LayerNorm.gamma", Tensor.of(new float[16]));
        store(tensors);
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains("a second tensor for bert.embeddings.LayerNorm.weight"), message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'model_type':'distilbert'} | it must be bert",
                "{'position_embedding_type':'relative_key'} | it must be absolute",
                "{'is_decoder':true} | it must be false",
                "{'hidden_act':'silu'} | [gelu, gelu_new, relu]",
                "{'hidden_size':770} | must be a multiple",
                "{'hidden_size':0} | at least 1",
                "{'hidden_size':'768'} | must be a whole number",
                "{'hidden_size':99999999999} | must be a whole number",
                "{'hidden_size':1048577,'num_attention_heads':1} | at most 1048576",
                "{'vocab_size':2147483647,'hidden_size':1048572} | but the checkpoint has only",
                "{'num_hidden_layers':4096,'hidden_size':1048572} | but the checkpoint has only",
                "{'num_hidden_layers':4096,'hidden_size':12} | of 4096 layers, but the checkpoint has only",
                "{'layer_norm_eps':'small'} | must be a number",
                "{'hidden_dropout_prob':1} | below 1",
                "[] | no JSON object",
                "{ | no sound JSON",
                "`` | no JSON object"
            })
    void aBadConfigurationIsRefusedWithItsReason(String json, String reason) throws IOException {
        Files.writeString(folder.resolve("config.json"), json.replace('\'', '"'));
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains(reason), message);
    }

    @Test
    void aConfigurationThatIsNoTextIsRefusedByName() throws IOException {
        Files.write(folder.resolve("config.json"), new byte[] {'{', (byte) 0xff, '}'});
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains("config.json is no text in UTF-8"), message);
    }

    @Test
    void aSilentConfigurationMeansBertBase() throws IOException {
        assertEquals(BertConfig.BASE, BertConfig.parse("{}"));
        assertEquals(BertConfig.BASE, BertConfig.parse(BertConfig.BASE.json("BertModel")));
    }

    @Test
    void aFolderWithoutWeightsIsRefusedWithAMend() throws IOException {
        Files.delete(folder.resolve("model.safetensors"));
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains("save_pretrained"), message);
    }

    @Test
    void theOnlyVariantIsRead() throws IOException {
        Path usual = folder.resolve("model.safetensors");
        Files.move(usual, folder.resolve("model.fp16.safetensors"));
        assertEquals(List.of(), HuggingFace.read(folder, 1).initialised());
        Files.copy(folder.resolve("model.fp16.safetensors"), folder.resolve("model.bf16.safetensors"));
        String message = String.valueOf(assertThrows(IOException.class, () -> HuggingFace.read(folder, 1))
                .getMessage());
        assertTrue(message.contains("model.bf16.safetensors"), message);
    }
}
