package dev.espalier.torture.file.reader;

import dev.espalier.data.array.NamedArrays;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Several arrays of NumPy in a zip file. */
public final class NpzTarget extends SingleFile {
    /** Called by the service loader. */
    public NpzTarget() {
        super("npz", Structure.BYTES, "arrays.npz");
    }

    static byte[] zip(boolean stored, List<String> names, List<byte[]> contents) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (int i = 0; i < names.size(); i++) {
                ZipEntry entry = new ZipEntry(names.get(i));
                if (stored) {
                    CRC32 sum = new CRC32();
                    sum.update(contents.get(i));
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(contents.get(i).length);
                    entry.setCrc(sum.getValue());
                }
                zip.putNextEntry(entry);
                zip.write(contents.get(i));
                zip.closeEntry();
            }
        }
        return bytes.toByteArray();
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        List<String> names = List.of("x.npy", "y.npy");
        List<byte[]> arrays = List.of(NpyTarget.array("<f4", "4, 3", 48), NpyTarget.array("<i8", "4,", 32));
        return List.of(
                zip(true, names, arrays),
                zip(false, names, arrays),
                zip(false, List.of("z.npy"), List.of(NpyTarget.array("<f4", "1000, 100", 400_000))));
    }

    @Override
    public List<String> words() {
        return List.of(
                "PK\u0001\u0002", "PK\u0003\u0004", "PK\u0005\u0006", "PK\u0006\u0007", "../y.npy", "/x.npy", "x.npy");
    }

    /** Memory is reserved outside of the heap, as much as comes out: up to 1032 for each byte. */
    @Override
    public Memory memory() {
        return new Memory(16L << 20, 1100);
    }

    @Override
    void read(Path file) throws IOException {
        NamedArrays.read(file);
    }
}
