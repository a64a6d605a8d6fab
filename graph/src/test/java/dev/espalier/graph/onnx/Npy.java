package dev.espalier.graph.onnx;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** NumPy's files, as far as exports need them. */
final class Npy {
    private static final Pattern TYPE = Pattern.compile("'descr': '[<|=]([a-z][0-9]+)'");
    private static final Pattern SHAPE = Pattern.compile("'shape': \\(([^)]*)\\)");

    private Npy() {}

    static Tensor read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        int start = bytes.get(6) == 1 ? 10 : 12;
        int length = bytes.get(6) == 1 ? bytes.getShort(8) : bytes.getInt(8);
        String header = new String(bytes.array(), start, length, StandardCharsets.ISO_8859_1);
        if (header.contains("'fortran_order': True")) {
            throw new IOException(path + " is stored column by column");
        }
        long[] shape = Arrays.stream(find(SHAPE, header).split(",", -1))
                .map(String::trim)
                .filter(text -> !text.isEmpty())
                .mapToLong(Long::parseLong)
                .toArray();
        DataType type = switch (find(TYPE, header)) {
            case "f4" -> DataType.FLOAT32;
            case "f8" -> DataType.FLOAT64;
            case "f2" -> DataType.FLOAT16;
            case "i8" -> DataType.INT64;
            case "i4" -> DataType.INT32;
            case "b1" -> DataType.BOOL;
            case String other -> throw new IOException(path + " holds " + other);
        };
        return Tensor.of(type, shape, MemorySegment.ofArray(bytes.array()).asSlice(start + length));
    }

    private static String find(Pattern pattern, String header) throws IOException {
        Matcher matcher = pattern.matcher(header);
        if (!matcher.find()) {
            throw new IOException("no NumPy header: " + header);
        }
        return matcher.group(1);
    }
}
