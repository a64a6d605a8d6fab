package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a graph becomes. */
class OnnxWriterTest {
    private static final OnnxWriter.Options DEFAULT = OnnxWriter.Options.DEFAULT;

    @TempDir
    Path folder;

    /** A byte without a sign has no -1: written as one, the bound would be 255. */
    @Test
    void boundsBeyondATypeAreWrittenWithinIt() throws Exception {
        GraphBuilder builder = new GraphBuilder("clip");
        Value x = builder.input("x", DataType.UINT8, 4);
        Graph clipping = builder.outputs(
                builder.add("low", new Clip(-1, Double.POSITIVE_INFINITY), x),
                builder.add("high", new Clip(2, 999), x));
        Map<String, Tensor> inputs =
                Map.of("x", Tensor.of(new long[] {0, 1, 3, 255}).cast(DataType.UINT8));
        OnnxRuntime.assertClose(
                List.copyOf(Evaluator.run(clipping, inputs).values()),
                OnnxRuntime.run(OnnxWriter.toBytes(clipping, DEFAULT), inputs),
                0);
    }

    /** A layer with a learned scalar, a buffer that no batch norm reads, and a constant. */
    private static Graph graph() {
        Random random = new Random(1);
        GraphBuilder builder = new GraphBuilder("small");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 20);
        Value weight = builder.parameter(
                "layer.weight", Tensor.compute(DataType.FLOAT32, new long[] {30, 20}, i -> random.nextGaussian()));
        Value bias = builder.parameter(
                "layer.bias", Tensor.compute(DataType.FLOAT32, new long[] {30}, i -> random.nextGaussian()));
        Value hidden = builder.add("layer", Gemm.LINEAR, x, weight, bias);
        Value gain = builder.parameter("gain", Tensor.scalar(DataType.FLOAT32, 1.5));
        Value scaled = builder.add("scaled", new Binary(Binary.Function.MULTIPLY), hidden, gain);
        Value offset = builder.buffer("offset", Tensor.compute(DataType.FLOAT32, new long[] {30}, i -> (double) i));
        Value shifted = builder.add("shifted", new Binary(Binary.Function.ADD), scaled, offset);
        Value half = builder.constant("half", Tensor.scalar(DataType.FLOAT32, 0.5));
        return builder.outputs(builder.add("y", new Binary(Binary.Function.MULTIPLY), shifted, half));
    }

    private static Map<String, Tensor> feeds() {
        return Map.of("x", Tensor.compute(DataType.FLOAT32, new long[] {3, 20}, i -> Math.sin((double) i)));
    }

    private Set<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName())).collect(Collectors.toSet());
        }
    }

    @Test
    void theSameGraphGivesTheSameBytesAndReadsBackTheSame() throws Exception {
        byte[] bytes = OnnxWriter.toBytes(graph(), DEFAULT);
        assertArrayEquals(bytes, OnnxWriter.toBytes(graph(), DEFAULT));
        OnnxModel model = OnnxReader.read(bytes);
        assertEquals("espalier", model.producer());
        assertEquals(17, model.opset());
        OnnxRuntime.assertSameInitializers(graph(), model.graph(), true);
        assertEquals(Set.of("offset"), model.graph().tensors(Kind.BUFFER).keySet());
        assertArrayEquals(bytes, OnnxWriter.toBytes(model.graph(), DEFAULT));
    }

    @Test
    void metadataIsWritten() throws IOException {
        byte[] bytes = OnnxWriter.toBytes(graph(), DEFAULT.withMetadata(Map.of("note", "hello")));
        Graph read = OnnxReader.read(bytes).graph();
        assertEquals(Map.of("note", "hello"), read.metadata());
        assertEquals(
                Map.of("note", "hello", "more", "words"),
                OnnxReader.read(OnnxWriter.toBytes(read, DEFAULT.withMetadata(Map.of("more", "words"))))
                        .graph()
                        .metadata());
    }

    @Test
    void externalDataHoldsTheLargeTensors() throws Exception {
        Path path = folder.resolve("model.onnx");
        OnnxWriter.write(graph(), path, DEFAULT.withExternalData());
        assertEquals(Set.of("model.onnx", "model.onnx.data"), files());
        assertTrue(Files.size(path) < 2000);
        OnnxRuntime.assertSameInitializers(graph(), OnnxReader.read(path).graph(), true);
        List<Tensor> expected = OnnxRuntime.run(OnnxWriter.toBytes(graph(), DEFAULT), feeds());
        OnnxRuntime.assertClose(expected, OnnxRuntime.run(path, feeds()), 0);
        // Once more over itself, while its data is mapped.
        OnnxWriter.write(OnnxReader.read(path).graph(), path, DEFAULT.withExternalData());
        assertEquals(Set.of("model.onnx", "model.onnx.data"), files());
        OnnxRuntime.assertClose(expected, OnnxRuntime.run(path, feeds()), 0);
    }

    @Test
    void aFailureLosesNothing() throws IOException {
        Path path = folder.resolve("model.onnx");
        OnnxWriter.write(graph(), path);
        byte[] before = Files.readAllBytes(path);
        GraphBuilder builder = new GraphBuilder("new");
        Value x = builder.input("x", DataType.FLOAT32, 2);
        Graph mish = builder.outputs(builder.add("y", new Unary(Unary.Function.MISH), x));
        assertThrows(GraphException.class, () -> OnnxWriter.write(mish, path, DEFAULT.withOpset(13)));
        assertArrayEquals(before, Files.readAllBytes(path));
        Path blocked = folder.resolve("blocked.onnx");
        Files.createDirectories(blocked.resolve("inside"));
        assertThrows(IOException.class, () -> OnnxWriter.write(graph(), blocked));
        assertThrows(IOException.class, () -> OnnxWriter.write(graph(), folder.resolve("no/such/folder.onnx")));
        assertEquals(Set.of("model.onnx", "blocked.onnx"), files());
    }

    @Test
    void twoFilesAreReplacedTogetherOrNotAtAll() throws IOException {
        Path first = Files.writeString(folder.resolve("first"), "old");
        Path second = folder.resolve("second");
        Files.createDirectories(second.resolve("inside"));
        try (Replacement replacement = new Replacement(first, second)) {
            Files.writeString(replacement.first(), "new");
            assertThrows(IOException.class, () -> replacement.commit(true));
        }
        assertEquals("old", Files.readString(first));
        assertEquals(Set.of("first", "second"), files());
    }

    @Test
    void whatAKilledWriterLeftCanBeRemoved() throws IOException {
        Path path = folder.resolve("model.onnx");
        OnnxWriter.write(graph(), path);
        new Replacement(folder.resolve("model.onnx.data"), path); // never closed
        Files.writeString(folder.resolve(".model.onnx.some.tmp.old"), "");
        Files.writeString(folder.resolve(".other.onnx.some.tmp"), "");
        OnnxWriter.removeRemains(path);
        assertEquals(Set.of("model.onnx", ".other.onnx.some.tmp"), files());
    }

    @Test
    void theOpsetIsRaisedToWhatTheOperatorsNeed() throws IOException {
        GraphBuilder builder = new GraphBuilder("new");
        Value x = builder.input("x", DataType.FLOAT32, 2);
        Value mish = builder.add("mish", new Unary(Unary.Function.MISH), x);
        Graph graph = builder.outputs(mish);
        assertEquals(18, OnnxReader.read(OnnxWriter.toBytes(graph, DEFAULT)).opset());
        GraphException problem =
                assertThrows(GraphException.class, () -> OnnxWriter.toBytes(graph, DEFAULT.withOpset(17)));
        Checks.assertExplains(problem, "mish (Mish)");
        Checks.assertExplains(problem, "opset 18");
        assertThrows(IllegalArgumentException.class, () -> DEFAULT.withOpset(12));
        assertThrows(IllegalArgumentException.class, () -> DEFAULT.withOpset(25));
    }

    @Test
    void geluIsDecomposedOnlyWhereAskedFor() throws IOException {
        GraphBuilder builder = new GraphBuilder("gelu");
        Graph graph = builder.outputs(builder.add("y", new Gelu(false), builder.input("x", DataType.FLOAT32, 2)));
        OnnxModel whole = OnnxReader.read(OnnxWriter.toBytes(graph, DEFAULT));
        assertEquals(20, whole.opset());
        assertEquals(1, whole.graph().nodes().size());
        byte[] older = OnnxWriter.toBytes(graph, DEFAULT.withOpset(17));
        assertTrue(ModelProto.parseFrom(older).getGraph().getNodeCount() > 1);
        assertEquals(
                new Gelu(false),
                OnnxReader.read(older).graph().nodes().getFirst().operator());
    }

    @Test
    void symbolsAreKeptAndFormulasLeftOut() throws IOException {
        GraphBuilder builder = new GraphBuilder("shapes");
        Value x = builder.input("x", DataType.FLOAT32, "side", "side", 3);
        Value joined = builder.add("y", new Concat(0), x, x);
        byte[] bytes = OnnxWriter.toBytes(builder.outputs(joined), DEFAULT);
        TensorShapeProto output = ModelProto.parseFrom(bytes)
                .getGraph()
                .getOutput(0)
                .getType()
                .getTensorType()
                .getShape();
        assertFalse(output.getDim(0).hasDimParam());
        assertEquals("side", output.getDim(1).getDimParam());
        assertEquals(3, output.getDim(2).getDimValue());
        assertEquals(Shape.of("side", "side", 3), OnnxReader.read(bytes).graph().shape("x"));
    }

    @Test
    void theFormatIsAsOldAsTheOperators() throws IOException {
        assertEquals(
                7,
                ModelProto.parseFrom(OnnxWriter.toBytes(graph(), DEFAULT.withOpset(13)))
                        .getIrVersion());
        assertEquals(
                8, ModelProto.parseFrom(OnnxWriter.toBytes(graph(), DEFAULT)).getIrVersion());
        assertEquals(
                10,
                ModelProto.parseFrom(OnnxWriter.toBytes(graph(), DEFAULT.withOpset(21)))
                        .getIrVersion());
    }
}
