package dev.espalier.torture.file.reader;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.torture.file.Target;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** MNIST's files, plain and compressed: images or labels, beside sound ones. */
public final class IdxTarget implements Target {
    private static final int ROWS = 4;
    private static final String IMAGES = "-images-idx3-ubyte";
    private static final String LABELS = "-labels-idx1-ubyte";

    /** Called by the service loader. */
    public IdxTarget() {}

    @Override
    public String name() {
        return "idx";
    }

    @Override
    public Structure structure() {
        return Structure.BYTES;
    }

    private static byte[] images() {
        return ByteBuffer.allocate(16 + ROWS * 6)
                .putInt(0x803)
                .putInt(ROWS)
                .putInt(2)
                .putInt(3)
                .array();
    }

    private static byte[] labels() {
        return ByteBuffer.allocate(8 + ROWS)
                .putInt(0x801)
                .putInt(ROWS)
                .put(new byte[] {0, 1, 2, 9})
                .array();
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        return List.of(images(), labels(), Gzipped.of(images()));
    }

    @Override
    public void prepare(Path folder) throws IOException {
        for (String part : List.of("train", "t10k")) {
            Files.write(folder.resolve(part + IMAGES), images());
            Files.write(folder.resolve(part + LABELS), labels());
        }
    }

    @Override
    public Memory memory() {
        return new Memory(16L << 20, 1032 * 20);
    }

    @Override
    public void read(Path folder, byte[] file) throws IOException {
        boolean compressed = file.length > 1 && file[0] == 0x1f && file[1] == (byte) 0x8b;
        boolean labels = !compressed && file.length > 3 && file[3] == 1;
        Path images = folder.resolve("train" + IMAGES);
        Path packed = folder.resolve("train" + IMAGES + ".gz");
        Files.deleteIfExists(images);
        Files.deleteIfExists(packed);
        Files.write(compressed ? packed : images, labels ? images() : file);
        Files.write(folder.resolve("train" + LABELS), labels ? file : labels());
        DataSection.load(DataSection.read("data.kind=mnist", "data.dir=" + folder), Context.QUIET);
    }
}
