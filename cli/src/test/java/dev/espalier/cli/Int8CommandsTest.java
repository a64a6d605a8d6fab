package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxModel;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --int8} of {@code espalier convert} and {@code espalier prune}, from a file to a file. */
final class Int8CommandsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Path write(String name, Graph graph) throws IOException {
        Path file = folder.resolve(name);
        OnnxWriter.write(graph, file);
        return file;
    }

    private static Tensor random(long seed, long... shape) {
        Random random = new Random(seed);
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    /** Two layers, with eight neurons between them that nobody reads. */
    private Path perceptron() throws IOException {
        GraphBuilder graph = new GraphBuilder("perceptron");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 40);
        Value hidden = graph.add("hidden", new MatMul(), x, graph.parameter("first", random(1, 40, 48)));
        Value active = graph.add("relu", new Unary(Unary.Function.RELU), hidden);
        Tensor dense = random(2, 48, 40);
        Tensor second = Tensor.compute(DataType.FLOAT32, dense.shape(), i -> i < 8 * 40 ? 0 : dense.getDouble(i));
        return write(
                "model.onnx", graph.outputs(graph.add("y", new MatMul(), active, graph.parameter("second", second))));
    }

    private Path cnn() throws IOException {
        return write("cnn.onnx", SmallCnn.build(new ImageOptions(10, 3, 8, 8), List.of(8, 8), true, Weights.seeded(1)));
    }

    private static byte[] npy(long... shape) {
        StringBuilder lengths = new StringBuilder();
        for (long length : shape) {
            lengths.append(length).append(", ");
        }
        String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + lengths + "), }\n";
        byte[] text = header.getBytes(StandardCharsets.ISO_8859_1);
        Tensor numbers = random(3, shape);
        ByteBuffer bytes =
                ByteBuffer.allocate(10 + text.length + (int) numbers.size() * 4).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.ISO_8859_1))
                .put((byte) 1)
                .put((byte) 0);
        bytes.putShort((short) text.length).put(text);
        for (float number : numbers.toFloats()) {
            bytes.putFloat(number);
        }
        return bytes.array();
    }

    private Path npz(String name, byte[] array) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.putNextEntry(new ZipEntry(name + ".npy"));
            zip.write(array);
            zip.closeEntry();
        }
        return Files.write(folder.resolve(name + ".npz"), bytes.toByteArray());
    }

    @Test
    void convertWritesAnInt8ModelThatIsReadAgain() throws IOException {
        Path out = folder.resolve("int8.onnx");
        Answer answer = Answer.to("convert", perceptron(), out, "--int8");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("int8: 2 matrices, 0 tables, 0 convolutions; "), answer.out());
        assertTrue(answer.out().contains("The inputs were random"), answer.out());
        OnnxModel read = OnnxReader.read(out);
        assertEquals(2, read.dequantization().weights());
        assertTrue(Answer.to("inspect", out).out().contains("int8 model, read as float32: 2 weights"));
    }

    @Test
    void pruneCutsAndThenRounds() throws IOException {
        Path out = folder.resolve("small.onnx");
        Answer answer = Answer.to(
                "prune", perceptron(), "-o", out, "--int8", "--int8-bits", "7", "--for", "size", "--no-latency");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("int8: 2 matrices"), answer.out());
        OnnxModel read = OnnxReader.read(out);
        assertEquals(2, read.dequantization().weights());
        assertTrue(
                read.graph().initializers().values().stream()
                        .anyMatch(one -> List.of(40L, 40L)
                                .equals(List.of(
                                        one.tensor().shape()[0], one.tensor().shape()[1]))),
                "the neurons that nobody reads are still there");
    }

    @Test
    void convolutionsAreCalibratedWithGivenInputs() throws IOException {
        Path model = cnn();
        Path out = folder.resolve("int8.onnx");
        Path rows = Files.write(folder.resolve("rows.npy"), npy(20, 3, 8, 8));
        Answer answer = Answer.to("convert", model, out, "--int8", "--calibrate", rows);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("0 matrices, 0 tables, 2 convolutions"), answer.out());
        assertTrue(!answer.out().contains("random"), answer.out());
        String input = OnnxReader.read(model).graph().inputs().getFirst().name();
        Answer zipped = Answer.to("convert", model, out, "--int8", "--calibrate", npz(input, npy(5, 3, 8, 8)));
        assertEquals(0, zipped.exitStatus(), zipped.err());
        Answer drawn = Answer.to("convert", model, out, "--int8", "--calibrate", "random");
        assertEquals(0, drawn.exitStatus(), drawn.err());
        assertTrue(drawn.out().contains("The inputs were random"), drawn.out());
    }

    @Test
    void whatCannotBeDoneIsSaidWithTheMend() throws IOException {
        Path model = cnn();
        Path out = folder.resolve("int8.onnx");
        refused("--calibrate FILE.npz", "convert", model, out, "--int8");
        refused("give --int8 too", "convert", model, out, "--calibrate", "random");
        refused("it must be 8 or 7", "convert", model, out, "--int8", "--int8-bits", "4");
        refused("ends in .onnx", "convert", model, folder.resolve("x.safetensors"), "--int8");
        Path wrong = Files.write(folder.resolve("wrong.npy"), npy(20, 3, 9, 8));
        refused("the model takes", "convert", model, out, "--int8", "--calibrate", wrong);
        refused("no array for the input", "convert", two(), out, "--int8", "--calibrate", wrong);
        refused("no such file", "convert", model, out, "--int8", "--calibrate", folder.resolve("none.npy"));
        Path text = Files.writeString(folder.resolve("rows.csv"), "1,2,3\n");
        refused("no sound .npz file", "convert", model, out, "--int8", "--calibrate", text);
        assertTrue(Files.notExists(out), "something was written");
    }

    private Path two() throws IOException {
        GraphBuilder graph = new GraphBuilder("two");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 40);
        Value y = graph.input("y", DataType.FLOAT32, "batch", 40);
        Value weight = graph.parameter("weight", random(1, 40, 40));
        return write(
                "two.onnx",
                graph.outputs(
                        graph.add("first", new MatMul(), x, weight), graph.add("second", new MatMul(), y, weight)));
    }

    private static void refused(String words, Object... arguments) {
        Answer answer = Answer.to(arguments);
        assertTrue(answer.exitStatus() != 0, answer.out());
        assertTrue(answer.err().contains(words), answer.err());
    }

    /** A file's own version may not have all operators that are written: then it is the least that has them. */
    @Test
    void convertTakesALaterVersionWhereItMust() throws IOException {
        GraphBuilder graph = new GraphBuilder("shape");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 40);
        Value active = graph.add("relu", new Unary(Unary.Function.RELU), x);
        Value lengths = graph.add("lengths", ShapeOf.ALL, active);
        Value rows = graph.add("rows", new Gather(0), lengths, graph.constant("first", Tensor.of(new long[] {0})));
        Graph model = graph.outputs(active, rows);
        Path old = folder.resolve("old.onnx");
        OnnxWriter.write(model, old, OnnxWriter.Options.DEFAULT.withOpset(14));
        Path out = folder.resolve("new.onnx");
        Answer answer = Answer.to("convert", old, out);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(15, OnnxReader.read(out).opset());
    }
}
