package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.TestData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class IdxFilesTest {
    @TempDir
    Path folder;

    @BeforeEach
    void writeSoundFiles() throws IOException {
        write("train-images-idx3-ubyte", images(5, 2, 3));
        write("train-labels-idx1-ubyte", labels(0, 9, 1, 2, 3));
        write("t10k-images-idx3-ubyte", images(2, 2, 3));
        write("t10k-labels-idx1-ubyte", labels(4, 5));
    }

    private void write(String name, byte[] content) throws IOException {
        Files.write(folder.resolve(name), content);
    }

    private LoadedData load() throws IOException {
        return load("mnist");
    }

    private LoadedData load(String kind) throws IOException {
        return DataSection.load(DataSection.read("data.kind=" + kind, "data.dir=" + folder), Context.QUIET);
    }

    /** Images whose bytes count up from 250, past the end of a byte. */
    private static byte[] images(int count, int height, int width) {
        ByteBuffer buffer = ByteBuffer.allocate(16 + count * height * width);
        buffer.putInt(2051).putInt(count).putInt(height).putInt(width);
        for (int i = 0; buffer.hasRemaining(); i++) {
            buffer.put((byte) (250 + i));
        }
        return buffer.array();
    }

    private static byte[] labels(int... labels) {
        ByteBuffer buffer = ByteBuffer.allocate(8 + labels.length).putInt(2049).putInt(labels.length);
        for (int label : labels) {
            buffer.put((byte) label);
        }
        return buffer.array();
    }

    private static byte[] gzip(byte[] content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(content);
        }
        return bytes.toByteArray();
    }

    @Test
    void plainFilesAreRead() throws IOException {
        LoadedData split = load();
        assertEquals(List.of(new Field.Image("image", 1, 2, 3)), split.train().inputFields());
        assertEquals(5, split.train().size());
        assertEquals(9, TestData.label(split.train(), 1));
        assertEquals(2, split.test().size());
        assertArrayEquals(
                new float[] {0, 1 / 255f, 2 / 255f, 3 / 255f, 4 / 255f, 5 / 255f}, TestData.values(split.train(), 1));
    }

    @Test
    void compressedAndDottedNamesAreRead() throws IOException {
        Files.delete(folder.resolve("train-images-idx3-ubyte"));
        Files.delete(folder.resolve("t10k-labels-idx1-ubyte"));
        write("train-images-idx3-ubyte.gz", gzip(images(5, 2, 3)));
        write("t10k-labels.idx1-ubyte", labels(7, 8));
        assertEquals(8, TestData.label(load().test(), 1));
        assertEquals(1, TestData.values(load().train(), 0)[5]);
    }

    @Test
    void fashionHasNames() throws IOException {
        LoadedData split = load("fashion-mnist");
        assertEquals("Ankle boot", TestData.classNames(split.train()).get(TestData.label(split.train(), 1)));
    }

    @Test
    void truncatedFilesAreRefused() throws IOException {
        byte[] whole = images(5, 2, 3);
        for (int length : new int[] {0, 3, 15, 16, whole.length - 1}) {
            write("train-images-idx3-ubyte", Arrays.copyOf(whole, length));
            TestData.assertRefused(this::load, "train-images-idx3-ubyte", "it ends before");
        }
        Files.delete(folder.resolve("train-images-idx3-ubyte"));
        byte[] compressed = gzip(whole);
        for (int length : new int[] {0, 5, compressed.length / 2, compressed.length - 9}) {
            write("train-images-idx3-ubyte.gz", Arrays.copyOf(compressed, length));
            TestData.assertRefused(this::load, "train-images-idx3-ubyte.gz", "it ends before");
        }
    }

    @Test
    void whatIsNotGzipIsRefused() throws IOException {
        Files.delete(folder.resolve("train-images-idx3-ubyte"));
        write("train-images-idx3-ubyte.gz", images(5, 2, 3));
        TestData.assertRefused(this::load, "train-images-idx3-ubyte.gz", "no sound gzip file");
    }

    @Test
    void wrongMagicIsRefused() throws IOException {
        write("t10k-images-idx3-ubyte", labels(1, 2, 3, 4, 5, 6, 7, 8, 9));
        TestData.assertRefused(this::load, "t10k-images-idx3-ubyte", "starts with 2049", "instead of 2051");
    }

    @Test
    void aHeaderThatLiesIsRefusedWithoutReservingItsMemory() throws IOException {
        write(
                "train-images-idx3-ubyte",
                ByteBuffer.allocate(17)
                        .putInt(2051)
                        .putInt(Integer.MAX_VALUE)
                        .putInt(16384)
                        .putInt(16384)
                        .array());
        TestData.assertRefused(this::load, "train-images-idx3-ubyte", "it ends before");
        write(
                "train-images-idx3-ubyte",
                ByteBuffer.allocate(17)
                        .putInt(2051)
                        .putInt(-1)
                        .putInt(2)
                        .putInt(2)
                        .array());
        TestData.assertRefused(this::load, "-1 items");
        write(
                "train-images-idx3-ubyte",
                ByteBuffer.allocate(17)
                        .putInt(2051)
                        .putInt(1)
                        .putInt(0)
                        .putInt(2)
                        .array());
        TestData.assertRefused(this::load, "0 x 2 pixels");
    }

    @Test
    void whatFollowsTheEndIsRefused() throws IOException {
        byte[] whole = images(5, 2, 3);
        write("train-images-idx3-ubyte", Arrays.copyOf(whole, whole.length + 1));
        TestData.assertRefused(this::load, "train-images-idx3-ubyte", "goes on behind");
    }

    @Test
    void countsLabelsAndShapesMustFit() throws IOException {
        write("train-labels-idx1-ubyte", labels(0, 1));
        TestData.assertRefused(this::load, "train-labels-idx1-ubyte", "2 labels", "5 images");
        write("train-labels-idx1-ubyte", labels(0, 1, 10, 0, 0));
        TestData.assertRefused(this::load, "train-labels-idx1-ubyte", "label 2 is 10", "0 to 9");
        writeSoundFiles();
        write("t10k-images-idx3-ubyte", images(2, 3, 2));
        TestData.assertRefused(this::load, "t10k-images-idx3-ubyte", "height=3");
        Files.delete(folder.resolve("t10k-images-idx3-ubyte"));
        TestData.assertRefused(this::load, "no file t10k-images-idx3-ubyte");
    }
}
