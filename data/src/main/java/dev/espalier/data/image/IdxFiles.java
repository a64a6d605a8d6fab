package dev.espalier.data.image;

import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Parts;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The files of MNIST and its kin: a magic number, the lengths of the axes, bytes; all numbers big-endian. */
final class IdxFiles {
    private static final int IMAGES_MAGIC = 0x0803;
    private static final int LABELS_MAGIC = 0x0801;
    private static final int MOST_PIXELS = 1 << 14;
    private static final int WHITE = 255;

    private IdxFiles() {}

    static Parts load(String name, Path folder, List<String> classNames) throws IOException {
        Dataset train = part(name + " train", folder, "train", classNames);
        Dataset test = part(name + " test", folder, "t10k", classNames);
        if (!train.inputFields().equals(test.inputFields())) {
            throw DataException.in(
                    find(folder, "t10k-images-idx3-ubyte"),
                    "its images are %s, but those to train with are %s"
                            .formatted(test.inputFields(), train.inputFields()));
        }
        return new Parts(train, test);
    }

    private static Dataset part(String name, Path folder, String prefix, List<String> classNames) throws IOException {
        Path imageFile = find(folder, prefix + "-images-idx3-ubyte");
        Path labelFile = find(folder, prefix + "-labels-idx1-ubyte");
        Images images = read(imageFile, IdxFiles::images);
        int[] labels = read(labelFile, (file, input) -> labels(file, input, classNames.size()));
        if (labels.length != images.samples.size()) {
            throw DataException.in(
                    labelFile,
                    "%d labels, but %s has %d images".formatted(labels.length, imageFile, images.samples.size()));
        }
        byte[][] rows = images.samples.toArray(byte[][]::new);
        return LabelledImages.dataset(name, Columns.images(images.field, rows, WHITE), classNames, labels);
    }

    /** The usual name, or the one with a dot that some unpackers make of it; plain or compressed. */
    private static Path find(Path folder, String name) throws IOException {
        String dotted = name.replace("-idx", ".idx");
        for (String candidate : List.of(name, name + ".gz", dotted, dotted + ".gz")) {
            if (Files.isRegularFile(folder.resolve(candidate))) {
                return folder.resolve(candidate);
            }
        }
        throw DataException.in(folder, "no file %s or %s.gz there".formatted(name, name));
    }

    private record Images(Field.Image field, List<byte[]> samples) {}

    @FunctionalInterface
    private interface Parser<T> {
        T parse(Path file, DataInputStream input) throws IOException;
    }

    private static <T> T read(Path file, Parser<T> parser) throws IOException {
        boolean compressed = file.toString().endsWith(".gz");
        try (var stored = Files.newInputStream(file);
                var plain = compressed ? new GZIPInputStream(stored) : stored;
                var input = new DataInputStream(new BufferedInputStream(plain))) {
            T content = parser.parse(file, input);
            if (input.read() != -1) {
                throw DataException.in(file, "it goes on behind what its header announces");
            }
            return content;
        } catch (EOFException cut) {
            throw DataException.in(file, "it ends before what its header announces: cut off?", cut);
        } catch (ZipException malformed) {
            throw DataException.in(file, "no sound gzip file: " + malformed.getMessage(), malformed);
        }
    }

    private static Images images(Path file, DataInputStream input) throws IOException {
        requireMagic(file, input.readInt(), IMAGES_MAGIC, "images");
        int count = requireCount(file, input.readInt());
        int height = input.readInt();
        int width = input.readInt();
        if (height < 1 || width < 1 || height > MOST_PIXELS || width > MOST_PIXELS) {
            throw DataException.in(
                    file,
                    "images of %d x %d pixels: both lengths must be 1 to %d".formatted(height, width, MOST_PIXELS));
        }
        List<byte[]> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            samples.add(exactly(input, height * width));
        }
        return new Images(new Field.Image(LabelledImages.IMAGE, 1, height, width), samples);
    }

    private static int[] labels(Path file, DataInputStream input, int classes) throws IOException {
        requireMagic(file, input.readInt(), LABELS_MAGIC, "labels");
        byte[] bytes = exactly(input, requireCount(file, input.readInt()));
        int[] labels = new int[bytes.length];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = Byte.toUnsignedInt(bytes[i]);
            if (labels[i] >= classes) {
                throw DataException.in(file, "label %d is %d: labels are 0 to %d".formatted(i, labels[i], classes - 1));
            }
        }
        return labels;
    }

    private static void requireMagic(Path file, int magic, int expected, String what) throws DataException {
        if (magic != expected) {
            throw DataException.in(
                    file,
                    "no idx file of %s: it starts with %d (0x%08x) instead of %d (0x%08x)"
                            .formatted(what, magic, magic, expected, expected));
        }
    }

    private static int requireCount(Path file, int count) throws DataException {
        if (count < 1) {
            throw DataException.in(file, "its header announces " + count + " items: there must be at least 1");
        }
        return count;
    }

    /** Not {@code readFully}: a header that lies about its length must not make us reserve memory for it. */
    private static byte[] exactly(DataInputStream input, int length) throws IOException {
        byte[] bytes = input.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException();
        }
        return bytes;
    }
}
