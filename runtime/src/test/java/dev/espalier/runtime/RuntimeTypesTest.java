package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ONNX Runtime tells of tensors behind operators that only it knows: our own files do not say their types. */
final class RuntimeTypesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static Foreign kept(String name, TensorType input, TensorType output) {
        return new Foreign(
                "",
                name,
                new TreeMap<>(Map.of("", 15)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(Optional.of(input)),
                List.of(Optional.of(output)));
    }

    private static TensorType floats(Object... lengths) {
        return new TensorType(DataType.FLOAT32, Shape.of(lengths));
    }

    private Path write(String operator, TensorType input, TensorType output) throws IOException {
        GraphBuilder graph = new GraphBuilder("box");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value first = graph.parameter("first", Tensor.of(new float[] {1, -2, 3, 4, -5, 6, 7, 8, 9}, 3, 3));
        Value box = graph.add("box", kept(operator, input, output), graph.add("hidden", new MatMul(), x, first));
        Value relu = graph.add("relu", new Unary(Unary.Function.RELU), box);
        Path file = folder.resolve("model.onnx");
        OnnxWriter.write(graph.outputs(relu), file);
        return file;
    }

    /** The file says that a length is free; ONNX Runtime, that it is the input's. */
    @Test
    void whatTheRuntimeInfersIsTaken() throws IOException {
        Path file = write("Shrink", floats("batch", 3), floats("free", 3));
        assertEquals(
                floats("box.length0", 3),
                OnnxReader.read(file).graph().fact("box").type());
        Graph graph = OnnxReader.read(file, new RuntimeTypes()).graph();
        assertEquals(floats("batch", 3), graph.fact("box").type());
        try (Judge judge = Judge.of(file, graph, SampleInputs.DEFAULT, 1)) {
            assertEquals(0, judge.requireRead(graph, OnnxWriter.Options.DEFAULT).absolute());
        }
    }

    @Test
    void lengthsThatOnlyARunTellsAreFree() throws IOException {
        Path file = write("Unique", floats("batch", 3), floats("free"));
        Graph graph = OnnxReader.read(file, new RuntimeTypes()).graph();
        assertEquals(floats("box.length0"), graph.fact("box").type());
    }

    /** Squeezing what may or may not be one long: not even the number of axes is known before it runs. */
    @Test
    void axesThatOnlyARunTellsAreCounted() throws IOException {
        GraphBuilder graph = new GraphBuilder("box");
        Value x = graph.input("x", DataType.FLOAT32, "batch", "tokens", 1);
        TensorType squeezed = floats("batch", "tokens");
        Value matrix = graph.add("matrix", kept("Squeeze", floats("batch", "tokens", 1), squeezed), x);
        Value box = graph.add("box", kept("Shrink", squeezed, floats("free", "other")), matrix);
        Path file = folder.resolve("model.onnx");
        OnnxWriter.write(graph.outputs(graph.add("relu", new Unary(Unary.Function.RELU), box)), file);
        Graph read = OnnxReader.read(file, new RuntimeTypes()).graph();
        assertEquals(floats("box.length0", "box.length1"), read.fact("box").type());
    }

    /** Here axes must be constants. */
    @Test
    void aFormOfAKnownOperatorThatIsNotUnderstoodIsKeptToo() throws IOException {
        GraphBuilder graph = new GraphBuilder("box");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value last = graph.input("axis", DataType.INT64, 1);
        Foreign sum = new Foreign(
                "",
                "ReduceSum",
                new TreeMap<>(Map.of("", 15)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(Optional.of(floats("batch", 3)), Optional.of(new TensorType(DataType.INT64, Shape.of(1)))),
                List.of(Optional.of(floats("one", "other"))));
        Path file = folder.resolve("model.onnx");
        Value sums = graph.add("sums", sum, x, last);
        OnnxWriter.write(graph.outputs(graph.add("y", new Unary(Unary.Function.EXP), sums)), file);
        assertThrows(GraphException.class, () -> OnnxReader.read(file));
        Graph read = OnnxReader.read(file, new RuntimeTypes()).graph();
        assertEquals(Map.of("ReduceSum", 1), read.foreign());
    }

    @Test
    void whatTheRuntimeDoesNotKnowEitherIsNamed() {
        GraphBuilder graph = new GraphBuilder("box");
        Value x = graph.input("x", DataType.FLOAT32, 3);
        byte[] model = OnnxWriter.toBytes(
                graph.outputs(graph.add("box", kept("Unheard", floats(3), floats(3)), x)), OnnxWriter.Options.DEFAULT);
        IllegalStateException unknown = assertThrows(
                IllegalStateException.class,
                () -> new RuntimeTypes().types(model, Optional.empty(), List.of(new Graph.Input("x", floats(3)))));
        assertTrue(String.valueOf(unknown.getMessage()).contains("ONNX Runtime"), unknown.getMessage());
        assertTrue(String.valueOf(unknown.getMessage()).contains("Unheard"), unknown.getMessage());
    }
}
