package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Normalization;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.safetensors.Safetensors;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.train.task.EncodingNote;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier inspect} and {@code espalier convert}, from a file to the exit status. */
final class ModelCommandsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private Path model;

    /** Four inputs, of which the second is never read; three neurons, of which the last is not. */
    @BeforeEach
    void writeModel() throws IOException {
        GraphBuilder graph = new GraphBuilder("small");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 4);
        Value hidden = graph.add(
                "hidden",
                Gemm.LINEAR,
                x,
                graph.parameter("hidden.weight", Tensor.of(new float[] {1, 0, 3, 4, 5, 0, 7, 8, 9, 0, 1, 2}, 3, 4)),
                graph.parameter("hidden.bias", Tensor.of(new float[] {1, 2, 3})));
        Value active = graph.add("relu", new Unary(Unary.Function.RELU), hidden);
        Value weight = graph.parameter("answer.weight", Tensor.of(new float[] {1, 2, 3, 4, 0, 0}, 3, 2));
        Graph small = graph.outputs(graph.add("answer", new MatMul(), active, weight));
        model = folder.resolve("small.onnx");
        OnnxWriter.write(small, model);
    }

    @Test
    void inspectPrintsLayersGroupsWeightsAndOperations() {
        Answer answer = Answer.to("inspect", model);
        assertEquals("""
                small, written by espalier
                in   x float32[batch × 4]
                out  answer float32[batch × 2]

                layer   operator  output   parameters  FLOPs  groups  zero
                hidden  Gemm      [1 × 3]          15     27       4     1
                answer  MatMul    [1 × 2]           6     12       3     1
                total                              21     42       7     2

                FLOPs for batch = 1; --dimension NAME=N sets others.
                """, answer.out());
        assertEquals(0, answer.exitStatus());
    }

    /** A box that nobody here knows, between two layers of which the second one reads less. */
    @Test
    void whatIsNotKnownIsKeptShownAndPrunedAround() throws IOException {
        GraphBuilder graph = new GraphBuilder("box");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value first = graph.parameter("first", Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
        Value second = graph.parameter("second", Tensor.of(new float[] {1, 2, 3, 4, 0, 0}, 3, 2));
        Value hidden = graph.add("hidden", new MatMul(), graph.add("layer", new MatMul(), x, first), second);
        Optional<TensorType> type = Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", 2)));
        Foreign shrink = new Foreign(
                "",
                "Shrink",
                new TreeMap<>(Map.of("", 13)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(type),
                List.of(type));
        Path boxed = folder.resolve("boxed.onnx");
        OnnxWriter.write(graph.outputs(graph.add("box", shrink, hidden)), boxed);
        String text = Answer.to("inspect", boxed).out();
        assertTrue(
                text.contains(
                        "kept as they are, so that the model can be pruned around them but not trained: 1 × Shrink"),
                text);
        Path smaller = folder.resolve("smaller.onnx");
        Answer pruned = Answer.to("prune", boxed, "--output", smaller, "--for", "size");
        assertEquals(0, pruned.exitStatus(), pruned::toString);
        assertEquals(Shape.of(2, 2), OnnxReader.read(smaller).graph().shape("first"));
    }

    /** A layer of whole numbers, as ONNX Runtime's quantiser joins it. */
    private static Value int8(GraphBuilder graph, String name, Value x, long inputs, long outputs, Tensor codes) {
        Optional<TensorType> scale = Optional.of(new TensorType(DataType.FLOAT32, Shape.of(1)));
        Foreign layer = new Foreign(
                "com.microsoft",
                "DynamicQuantizeMatMul",
                new TreeMap<>(Map.of("com.microsoft", 1)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(
                        Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", inputs))),
                        Optional.of(new TensorType(DataType.INT8, Shape.of(inputs, outputs))),
                        scale),
                List.of(Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", outputs)))));
        return graph.add(
                name,
                layer,
                x,
                graph.constant(name + ".weight_quantized", codes),
                graph.constant(name + "_scale", Tensor.of(new float[] {0.1f}, 1)));
    }

    /** Rounding what flows through a model makes it another one: what is compared, and with what, is said. */
    @Test
    void anInt8ModelIsReadAsTheFloatModelThatItStandsFor() throws IOException {
        GraphBuilder graph = new GraphBuilder("int8");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Tensor first = Tensor.of(new long[] {10, -20, 30, 40, 50, 60}, 2, 3).cast(DataType.INT8);
        Tensor second = Tensor.of(new long[] {10, -20, 30, 40, 0, 0}, 3, 2).cast(DataType.INT8);
        Value hidden = int8(graph, "first", x, 2, 3, first);
        Path rounded = folder.resolve("int8.onnx");
        OnnxWriter.write(graph.outputs(int8(graph, "second", hidden, 3, 2, second)), rounded);
        String note = "int8 model, read as float32: 2 weights; outputs may differ from the int8 file's";
        String shown = Answer.to("inspect", rounded).out();
        assertTrue(shown.contains(note) && shown.contains("MatMul"), shown);
        Answer converted = Answer.to("convert", rounded, folder.resolve("float.onnx"));
        assertEquals(0, converted.exitStatus(), converted::toString);
        assertTrue(
                converted.out().contains(note) && converted.out().contains("near " + rounded + " in ONNX Runtime"),
                converted::out);
        assertTrue(
                converted.out().contains("is at least 0.99") || converted.out().contains("is at least 1.0"));
        Path smaller = folder.resolve("smaller.onnx");
        Answer pruned = Answer.to("prune", rounded, "-o", smaller, "--for", "size");
        assertEquals(0, pruned.exitStatus(), pruned::toString);
        assertTrue(
                pruned.out().contains("Compared, and timed, with the float32 model that was read of " + rounded),
                pruned::out);
        assertEquals(Shape.of(2, 2), OnnxReader.read(smaller).graph().shape("first.weight"));
    }

    /** Version 11 of the operators, which is read but not written. */
    @Test
    void convertBringsAnOldModelToAVersionThatIsWritten() throws IOException {
        GraphBuilder graph = new GraphBuilder("old");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        byte[] bytes = OnnxWriter.toBytes(
                graph.outputs(graph.add("relu", new Unary(Unary.Function.RELU), x)), OnnxWriter.Options.DEFAULT);
        String file = new String(bytes, StandardCharsets.ISO_8859_1).replace("B\2\020\021", "B\2\020\013");
        Path old = Files.write(folder.resolve("old.onnx"), file.getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(11, OnnxReader.read(old).opset());
        Answer answer = Answer.to("convert", old, folder.resolve("new.onnx"));
        assertEquals(0, answer.exitStatus(), answer::toString);
        assertTrue(answer.out().contains("equal to " + old), answer::out);
    }

    @Test
    void aModelWithoutGroupsSaysSo() throws IOException {
        GraphBuilder graph = new GraphBuilder("nothing");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Path plain = folder.resolve("plain.onnx");
        OnnxWriter.write(graph.outputs(graph.add("relu", new Unary(Unary.Function.RELU), x)), plain);
        String text = Answer.to("inspect", plain).out();
        assertTrue(text.contains("no groups, so there is nothing to prune: there are no weights"), text);
    }

    @Test
    void inspectAnswersInJson() throws IOException {
        Answer answer = Answer.to("inspect", model, "--json", "--dimension", "batch=8");
        JsonNode root = new ObjectMapper().readTree(answer.out());
        assertEquals(21, root.get("parameters").intValue());
        assertEquals(8 * 42, root.get("flops").intValue());
        assertEquals(7, root.get("groups").intValue());
        assertEquals(2, root.get("zero_groups").intValue());
        assertEquals(3, root.get("layers").size());
        assertEquals("hidden", root.get("layers").get(0).get("name").textValue());
        assertEquals(1, root.get("layers").get(0).get("zero_groups").intValue());
    }

    @Test
    void inspectCountsTheGroupsThatAModelWasTrainedWith() throws IOException {
        GraphBuilder builder = new GraphBuilder("readers");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 3);
        Value left = builder.parameter("left.weight", Tensor.of(new float[] {0, 0, .01f, .01f, 1, 2}, 3, 2));
        Value right = builder.parameter("right.weight", Tensor.of(new float[] {3, 4, .01f, .01f, 5, 6}, 3, 2));
        Graph readers = builder.outputs(
                builder.add("left", new MatMul(), x, left), builder.add("right", new MatMul(), x, right));
        Path plain = folder.resolve("plain.onnx");
        OnnxWriter.write(readers, plain);
        assertTrue(Answer.to("inspect", plain).out().contains("       6     1\n"), Answer.to("inspect", plain)::out);
        Path joined = folder.resolve("joined.onnx");
        OnnxWriter.write(GroupRules.everything().joinConsumers().note(readers), joined);
        String text = Answer.to("inspect", joined).out();
        assertTrue(text.contains("counted with the first of them:\n  left.weight + right.weight\n"), text);
        JsonNode root = new ObjectMapper()
                .readTree(Answer.to("inspect", joined, "--json").out());
        assertEquals(3, root.get("groups").intValue());
        assertEquals(0, root.get("zero_groups").intValue());
        assertEquals(2, root.get("layers").get(0).get("grouped_weights").size());
        assertEquals(0, root.get("layers").get(1).get("groups").intValue());
        Path small = folder.resolve("small-joined.onnx");
        Answer pruned = Answer.to("prune", joined, "-o", small, "--threshold", "0.1", "--for", "size");
        assertEquals(0, pruned.exitStatus(), pruned.err());
        assertTrue(pruned.out().contains("NOT exact: 1 group is below"), pruned.out());
        assertTrue(
                Answer.to("prune", plain, "--plan", "--threshold", "0.1").out().contains("2 groups are below"));
    }

    @Test
    void whatOnnxRuntimeCannotRunIsConvertedAndSaidNotToBeCompared() throws IOException {
        GraphBuilder builder = new GraphBuilder("brain floats");
        Value x = builder.input("x", DataType.BFLOAT16, 4);
        Path brain = folder.resolve("brain.onnx");
        OnnxWriter.write(builder.outputs(builder.add("y", new Unary(Unary.Function.SIN), x)), brain);
        Answer answer = Answer.to("convert", brain, folder.resolve("out.onnx"));
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("NOT compared with the original: ONNX Runtime does not run"), answer.out());
    }

    @Test
    void inspectListsAllNodesOrDrawsThem() {
        assertTrue(Answer.to("inspect", model, "--all").out().contains("Relu"));
        assertTrue(Answer.to("inspect", model, "--graphviz").out().startsWith("digraph \"small\""));
    }

    @Test
    void aDimensionThatTheModelDoesNotHaveIsRefused() {
        Answer answer = Answer.to("inspect", model, "--dimension", "tokens=3");
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("tokens") && answer.err().contains("batch"), answer.err());
    }

    @Test
    void convertWritesTheModelAgain() throws IOException {
        Path out = folder.resolve("again.onnx");
        Answer answer = Answer.to("convert", model, out, "--opset", "13");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(13, OnnxReader.read(out).opset());
        assertTrue(answer.out().contains("equal to " + model + " in ONNX Runtime"), answer.out());
        assertTrue(answer.out().contains("(compared for batch = 2; batch = 3"), answer.out());
        assertEquals(
                Answer.to("inspect", model).out(), Answer.to("inspect", out).out());
    }

    /** What was learned about the data goes where the model goes. */
    @Test
    void whatWasLearnedAboutTheDataStaysInTheFile() throws IOException {
        Encoding encoding = new Encoding(
                List.of(new ColumnEncoding.Scaled(
                        new Field.Numbers("size"), new Normalization(List.of(2.5), List.of(0.5)), 0)),
                List.of(new ColumnEncoding.Plain(new Field.Category("kind", List.of("a", "b")))));
        Path noted = folder.resolve("noted.onnx");
        OnnxWriter.write(EncodingNote.note(OnnxReader.read(model).graph(), encoding), noted);
        Path converted = folder.resolve("converted.onnx");
        Path pruned = folder.resolve("smaller.onnx");
        assertEquals(0, Answer.to("convert", noted, converted).exitStatus());
        assertEquals(
                0, Answer.to("prune", converted, "-o", pruned, "--for", "size").exitStatus());
        for (Path file : List.of(noted, converted, pruned)) {
            assertEquals(
                    Optional.of(encoding), EncodingNote.of(OnnxReader.read(file).graph()), file.toString());
        }
    }

    @Test
    void convertKeepsTheOpsetUnlessToldOtherwise() throws IOException {
        Path old = folder.resolve("old.onnx");
        Path out = folder.resolve("new.onnx");
        Answer.to("convert", model, old, "--opset", "14");
        Answer.to("convert", old, out);
        assertEquals(14, OnnxReader.read(out).opset());
    }

    @Test
    void convertWritesWeights() throws IOException {
        Path out = folder.resolve("weights.safetensors");
        assertEquals(0, Answer.to("convert", model, out).exitStatus());
        assertEquals(
                Set.of("hidden.weight", "hidden.bias", "answer.weight"),
                Safetensors.read(out).tensors().keySet());
    }

    @Test
    void badFilesAreToldClearly() throws IOException {
        Path broken = folder.resolve("broken.onnx");
        Files.write(broken, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        Answer answer = Answer.to("inspect", broken);
        assertEquals(1, answer.exitStatus());
        assertTrue(answer.err().startsWith("espalier: " + broken + " is no ONNX model"), answer.err());
        assertFalse(answer.err().contains("Exception"), answer.err());
        Answer missing = Answer.to("inspect", folder.resolve("missing.onnx"));
        assertEquals(2, missing.exitStatus());
        assertEquals("espalier: no such file: " + folder.resolve("missing.onnx") + "\n", missing.err());
        Answer relative = Answer.to("inspect", "missing.onnx");
        assertEquals(
                "espalier: no such file: missing.onnx (looked for in "
                        + Path.of("").toAbsolutePath() + ")\n",
                relative.err());
        Answer empty = Answer.to("inspect", Files.createDirectory(folder.resolve("empty")));
        assertEquals(2, empty.exitStatus());
        assertTrue(empty.err().contains("neither a model.onnx"), empty.err());
    }

    @Test
    void convertRefusesWhatItCannotWrite() throws IOException {
        Answer kind = Answer.to("convert", model, folder.resolve("model.txt"));
        assertEquals(2, kind.exitStatus());
        assertTrue(kind.err().contains(".onnx or .safetensors"), kind.err());
        Answer opset = Answer.to("convert", model, folder.resolve("x.onnx"), "--opset", "99");
        assertEquals(2, opset.exitStatus());
        Answer folderMissing = Answer.to("convert", model, folder.resolve("no/such/folder.onnx"));
        assertTrue(folderMissing.exitStatus() != 0);
        assertTrue(folderMissing.err().contains("no/such"), folderMissing.err());
        try (var files = Files.list(folder)) {
            assertEquals(List.of(model), files.toList());
        }
    }

    @Test
    void aModelIsConvertedInPlace() throws IOException {
        assertEquals(0, Answer.to("convert", model, model, "--opset", "15").exitStatus());
        assertEquals(15, OnnxReader.read(model).opset());
    }
}
