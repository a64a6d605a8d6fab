package dev.espalier.train.journal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TensorBoardWriterTest {
    private static final Instant NOW = Instant.ofEpochSecond(1_700_000_000, 250_000_000);

    @TempDir
    Path folder;

    private byte[] onlyFile() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> all = files.toList();
            assertEquals(1, all.size());
            assertTrue(all.getFirst().toString().contains("tfevents.1700000000."), all::toString);
            return Files.readAllBytes(all.getFirst());
        }
    }

    /** The bits of CRC-32C, one by one: what the table of the JDK's is made from. */
    private static int crc(byte[] bytes) {
        int sum = ~0;
        for (byte value : bytes) {
            sum ^= value & 0xff;
            for (int bit = 0; bit < 8; bit++) {
                sum = (sum >>> 1) ^ ((sum & 1) * 0x82f63b78);
            }
        }
        return ~sum;
    }

    private static int masked(byte[] bytes) {
        int sum = crc(bytes);
        return ((sum >>> 15) | (sum << 17)) + 0xa282ead8;
    }

    private static List<byte[]> records(byte[] file) {
        ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> records = new ArrayList<>();
        while (buffer.hasRemaining()) {
            byte[] length = new byte[8];
            buffer.get(buffer.position(), length);
            byte[] record = new byte[(int) buffer.getLong()];
            assertEquals(masked(length), buffer.getInt());
            buffer.get(record);
            assertEquals(masked(record), buffer.getInt());
            records.add(record);
        }
        return records;
    }

    /** The fields of a protobuf message by number: numbers as they are stored, everything else as bytes. */
    private static Map<Integer, Object> fields(byte[] message) {
        ByteBuffer buffer = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
        Map<Integer, Object> fields = new LinkedHashMap<>();
        while (buffer.hasRemaining()) {
            int key = (int) varint(buffer);
            Object value = switch (key & 7) {
                case 0 -> varint(buffer);
                case 1 -> buffer.getDouble();
                case 5 -> buffer.getFloat();
                case 2 -> {
                    byte[] bytes = new byte[(int) varint(buffer)];
                    buffer.get(bytes);
                    yield bytes;
                }
                default -> throw new AssertionError("wire type " + (key & 7));
            };
            assertEquals(null, fields.put(key >>> 3, value));
        }
        return fields;
    }

    private static long varint(ByteBuffer buffer) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = buffer.get();
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    private static Map<Integer, Object> inner(Map<Integer, Object> fields, int number) {
        return fields((byte[]) Objects.requireNonNull(fields.get(number)));
    }

    private static String text(Map<Integer, Object> fields, int number) {
        return new String((byte[]) Objects.requireNonNull(fields.get(number)), StandardCharsets.UTF_8);
    }

    @Test
    void checksumsAreTheKnownOnes() {
        byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
        assertEquals(0xe3069283, crc(digits), "the check value that catalogues of CRCs list");
        assertEquals(masked(digits), TensorBoardWriter.checksum(digits));
        assertEquals(masked(new byte[0]), TensorBoardWriter.checksum(new byte[0]));
    }

    @Test
    void aFileStartsWithItsVersion() throws IOException {
        new TensorBoardWriter(folder, NOW).close();
        byte[] file = onlyFile();
        // What every event file that TensorFlow writes starts with: the length 24, its checksum, and the field of the
        // time.
        assertEquals("1800000000000000a37f4b2209", HexFormat.of().formatHex(Arrays.copyOf(file, 13)));
        Map<Integer, Object> event = fields(records(file).getFirst());
        assertEquals(1_700_000_000.25, event.get(1));
        assertEquals("brain.Event:2", text(event, 3));
        assertEquals(2, event.size());
    }

    @Test
    void numbersCanBeReadBack() throws IOException {
        double[] values = {0, -1.5, 1e-30, 0.1, Double.NaN, Double.POSITIVE_INFINITY};
        try (TensorBoardWriter writer = new TensorBoardWriter(folder, NOW)) {
            for (int i = 0; i < values.length; i++) {
                writer.scalar("train/lößs", 1L << (10 * i), NOW.plusMillis(500L * (i + 1)), values[i]);
            }
        }
        List<byte[]> records = records(onlyFile());
        assertEquals(1 + values.length, records.size());
        for (int i = 0; i < values.length; i++) {
            Map<Integer, Object> event = fields(records.get(i + 1));
            assertEquals(1_700_000_000.25 + 0.5 * (i + 1), event.get(1));
            assertEquals(1L << (10 * i), event.get(2));
            Map<Integer, Object> value = inner(inner(event, 5), 1);
            assertEquals("train/lößs", text(value, 1));
            assertEquals((float) values[i], value.get(2));
        }
    }

    @Test
    void whatIsFlushedIsOnDisk() throws IOException {
        try (TensorBoardWriter writer = new TensorBoardWriter(folder, NOW)) {
            writer.scalar("a", 1, NOW, 2);
            writer.flush();
            assertEquals(2, records(onlyFile()).size());
        }
        byte[] before = onlyFile();
        assertThrows(FileAlreadyExistsException.class, () -> new TensorBoardWriter(folder, NOW));
        assertArrayEquals(before, onlyFile());
    }
}
