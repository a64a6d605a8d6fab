package dev.espalier.train.task;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Writes arrays as numpy.save does. */
final class Npy {
    private Npy() {}

    static void write(Path file, float[] numbers, int... shape) throws IOException {
        String lengths = Arrays.stream(shape).mapToObj(length -> length + ",").collect(Collectors.joining());
        String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n".formatted(lengths);
        ByteBuffer bytes = ByteBuffer.allocate(10 + header.length() + 4 * numbers.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) header.length())
                .put(header.getBytes(StandardCharsets.US_ASCII));
        bytes.asFloatBuffer().put(numbers);
        Files.write(file, bytes.array());
    }
}
