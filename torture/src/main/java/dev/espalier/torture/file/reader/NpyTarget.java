package dev.espalier.torture.file.reader;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.array.NamedArrays;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** One array of NumPy: as it is, and as data. */
public final class NpyTarget extends SingleFile {
    /** Called by the service loader. */
    public NpyTarget() {
        super("npy", Structure.TEXT, "x.npy");
    }

    static byte[] array(String type, String shape, int bytes) {
        String header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }".formatted(type, shape);
        String padded = header + " ".repeat(63 - (header.length() + 10) % 64) + "\n";
        return ByteBuffer.allocate(10 + padded.length() + bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) padded.length())
                .put(padded.getBytes(StandardCharsets.US_ASCII))
                .array();
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(array("<f4", "10, 3", 120), array("<i8", "10,", 80), array("|u1", "10, 2, 2, 3", 120));
    }

    @Override
    public List<String> words() {
        return List.of(
                "'<f2'",
                "'<f8'",
                "'>f4'",
                "'|b1'",
                "'<u8'",
                "'|O'",
                "'<U5'",
                "True",
                "(9223372036854775807, 2)",
                "(2147483648,)",
                "()");
    }

    @Override
    void read(Path file) throws IOException {
        NamedArrays.read(file);
        DataSection.load(
                DataSection.read("data.kind=npy", "data.path=" + file, "data.inputs=[\"x\"]", "data.labelled=false"),
                Context.QUIET);
    }
}
