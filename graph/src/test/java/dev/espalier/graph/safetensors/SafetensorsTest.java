package dev.espalier.graph.safetensors;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsTest {
    @TempDir
    private Path folder;

    private static byte[] written() throws IOException {
        try (InputStream stream =
                Objects.requireNonNull(SafetensorsTest.class.getResourceAsStream("python.safetensors"))) {
            return stream.readAllBytes();
        }
    }

    private Safetensors python() throws IOException {
        Path file = folder.resolve("python.safetensors");
        Files.write(file, written());
        return Safetensors.read(file);
    }

    private static double[] numbers(SequencedMap<String, Tensor> tensors, String name) {
        Tensor tensor = Objects.requireNonNull(tensors.get(name), name);
        double[] numbers = new double[(int) tensor.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = tensor.getDouble(i);
        }
        return numbers;
    }

    /** The values are those of make_safetensors.py. */
    @Test
    void everyTypeThatPythonWritesIsRead() throws IOException {
        SequencedMap<String, Tensor> tensors = python().tensors();
        assertEquals(16, tensors.size());
        assertArrayEquals(new double[] {0, 1.5, -2.25, 0.1}, numbers(tensors, "f64"));
        assertArrayEquals(new double[] {0, 1.5, -2.25, 0.1f}, numbers(tensors, "f32"));
        assertArrayEquals(new double[] {0, 1.5, -2.25, 0x1.998p-4}, numbers(tensors, "f16"));
        assertArrayEquals(new double[] {0, 1.5, -2.25, 0x1.9ap-4}, numbers(tensors, "bf16"));
        assertArrayEquals(
                new long[] {0, 1, -2, (1L << 53) + 1}, tensor(tensors, "i64").toLongs());
        for (String name : List.of("i32", "i16", "i8")) {
            assertArrayEquals(new double[] {0, 1, -2, 100}, numbers(tensors, name), name);
        }
        assertArrayEquals(new double[] {0, 1, 2, 100}, numbers(tensors, "u64"));
        assertArrayEquals(new double[] {0, 1, 2, 4294967295.0}, numbers(tensors, "u32"));
        assertArrayEquals(new double[] {0, 1, 2, 65535}, numbers(tensors, "u16"));
        assertArrayEquals(new double[] {0, 1, 2, 255}, numbers(tensors, "u8"));
        assertArrayEquals(new double[] {0, 1, 1, 0}, numbers(tensors, "bool"));
        assertArrayEquals(new double[] {0.1f}, numbers(tensors, "a scalar"));
        assertArrayEquals(new double[] {1, 2, 3}, numbers(tensors, "größe"));
        assertArrayEquals(new long[] {2, 2}, tensor(tensors, "f64").shape());
        assertArrayEquals(new long[] {3, 0, 2}, tensor(tensors, "empty").shape());
        assertEquals(0, tensor(tensors, "a scalar").rank());
        assertEquals(Map.of("format", "pt"), python().metadata());
    }

    private static Tensor tensor(SequencedMap<String, Tensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    @Test
    void theSameTensorsMakeTheSameBytesAsPython() throws IOException {
        Safetensors original = python();
        Path copy = folder.resolve("copy.safetensors");
        Safetensors.write(copy, original.tensors().reversed(), original.metadata());
        assertArrayEquals(written(), Files.readAllBytes(copy));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenIsReadBack(DataType type) throws IOException {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("matrix", Tensor.compute(type, new long[] {3, 5}, i -> i % 2));
        tensors.put("name with \"quotes\", \\ and \u0001", Tensor.compute(type, new long[] {7}, i -> 1 - i % 2));
        tensors.put("", Tensor.compute(type, new long[] {}, i -> 1));
        tensors.put("nothing", Tensor.compute(type, new long[] {0}, i -> 1));
        tensors.put("byte", Tensor.compute(DataType.INT8, new long[] {1}, i -> 3));
        SequencedMap<String, String> remarks = new LinkedHashMap<>(Map.of("one", "1", "two", "line\nline"));
        Path file = folder.resolve("model.safetensors");
        Safetensors.write(file, tensors, remarks);
        Safetensors back = Safetensors.read(file);
        assertEquals(remarks, back.metadata());
        assertEquals(tensors.keySet(), back.tensors().keySet());
        tensors.forEach((name, tensor) -> assertTrue(tensor.sameAs(tensor(back.tensors(), name)), name));
    }

    @Test
    void theHeaderIsPaddedToEightBytesAndTensorsAreAligned() throws IOException {
        for (int length = 1; length <= 8; length++) {
            Path file = folder.resolve("model.safetensors");
            Safetensors.write(
                    file,
                    Map.of(
                            "x".repeat(length),
                            Tensor.scalar(DataType.BOOL, 1),
                            "z",
                            Tensor.scalar(DataType.FLOAT64, 2)),
                    Map.of());
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
            assertEquals(0, bytes.getLong(0) % 8);
            assertEquals(2, bytes.getDouble((int) bytes.getLong(0) + 8));
        }
    }

    @Test
    void castingTouchesFractionsOnly() {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("weight", Tensor.of(new float[] {0.1f, 1e6f}));
        tensors.put("count", Tensor.of(new long[] {(1L << 60) + 1}));
        SequencedMap<String, Tensor> half = Safetensors.cast(tensors, DataType.FLOAT16);
        assertEquals(DataType.FLOAT16, tensor(half, "weight").type());
        assertEquals(0x1.998p-4, tensor(half, "weight").getDouble(0));
        assertEquals(Double.POSITIVE_INFINITY, tensor(half, "weight").getDouble(1));
        assertTrue(tensor(half, "count").sameAs(tensor(tensors, "count")));
        assertEquals(
                0x1.9ap-4,
                tensor(Safetensors.cast(tensors, DataType.BFLOAT16), "weight").getDouble(0));
        assertThrows(IllegalArgumentException.class, () -> Safetensors.cast(tensors, DataType.INT8));
    }

    @Test
    void tensorsOfAReplacedFileKeepTheirContents() throws IOException {
        Path file = folder.resolve("model.safetensors");
        Safetensors.write(file, Map.of("x", Tensor.of(new float[] {1, 2})), Map.of());
        Tensor mapped = tensor(Safetensors.read(file).tensors(), "x");
        Safetensors.write(file, Map.of("x", Tensor.of(new float[] {3})), Map.of());
        assertArrayEquals(new float[] {1, 2}, mapped.toFloats());
        assertArrayEquals(
                new float[] {3}, tensor(Safetensors.read(file).tensors(), "x").toFloats());
        assertFalse(Files.exists(folder.resolve("model.safetensors.tmp")));
    }

    @Test
    void aFileThatCannotBeWrittenOrReadIsAnError() {
        Path file = folder.resolve("missing").resolve("model.safetensors");
        assertEquals(
                "cannot write " + file + ": there is no such folder",
                assertThrows(IOException.class, () -> Safetensors.write(file, Map.of(), Map.of()))
                        .getMessage());
        assertThrows(NoSuchFileException.class, () -> Safetensors.read(file));
        assertThrows(
                IllegalArgumentException.class,
                () -> Safetensors.write(
                        folder.resolve("x"), Map.of("__metadata__", Tensor.scalar(DataType.INT8, 1)), Map.of()));
    }
}
