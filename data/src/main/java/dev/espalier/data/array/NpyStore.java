package dev.espalier.data.array;

import dev.espalier.data.DataException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** Where arrays are, by name: a folder of {@code .npy} files, one such file, or an {@code .npz} file, which is a zip file of such. */
final class NpyStore {
    static final String ENDING = ".npy";
    private static final int CHUNK = 1 << 16;
    /** So much smaller can packing make zeros, and nothing more than that. */
    private static final long MOST_PACKED = 1032;

    private final Path path;
    private final boolean folder;

    NpyStore(Path path) {
        this.path = path;
        this.folder = Files.isDirectory(path);
    }

    static String fileName(String array) {
        return array.endsWith(ENDING) ? array : array + ENDING;
    }

    boolean has(String array) {
        try {
            return names().contains(fileName(array));
        } catch (IOException _) {
            return false; // whoever reads it is told
        }
    }

    /** The names of all files, sorted. */
    List<String> names() throws IOException {
        if (isSingle()) {
            return List.of(String.valueOf(path.getFileName()));
        }
        if (folder) {
            try (Stream<Path> files = Files.list(path)) {
                return files.map(file -> String.valueOf(file.getFileName()))
                        .filter(name -> name.endsWith(ENDING))
                        .sorted()
                        .toList();
            }
        }
        try (ZipFile zip = open()) {
            return zip.stream().map(ZipEntry::getName).sorted().toList();
        }
    }

    private ZipFile open() throws IOException {
        try {
            return new ZipFile(path.toFile());
        } catch (ZipException | EOFException malformed) {
            throw DataException.in(path, "no sound .npz file: " + malformed.getMessage(), malformed);
        }
    }

    /** Arrays by name, in order. */
    SequencedMap<String, NpyArray> read(List<String> arrays) throws IOException {
        SequencedMap<String, NpyArray> read = new LinkedHashMap<>();
        for (String array : arrays) {
            if (!has(array)) {
                throw DataException.in(path, "no array %s there: it has %s".formatted(array, names()));
            }
            read.put(
                    array,
                    isSingle()
                            ? mapped(path)
                            : folder ? mapped(path.resolve(fileName(array))) : unpacked(fileName(array)));
        }
        return read;
    }

    private boolean isSingle() {
        return !folder && path.toString().endsWith(ENDING);
    }

    private static NpyArray mapped(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return NpyArray.of(
                    file.toString(), channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto()));
        }
    }

    private NpyArray unpacked(String name) throws IOException {
        String place = path + ", " + name;
        try (ZipFile zip = open()) {
            ZipEntry entry = zip.getEntry(name);
            long size = entry.getSize();
            if (size < 0 || size / MOST_PACKED > entry.getCompressedSize()) {
                throw DataException.in(
                        place,
                        "it announces %,d bytes, but %,d packed ones cannot hold as many"
                                .formatted(size, entry.getCompressedSize()));
            }
            MemorySegment memory = Arena.ofAuto().allocate(size);
            try (InputStream content = zip.getInputStream(entry)) {
                byte[] chunk = new byte[CHUNK];
                long at = 0;
                for (int count = content.read(chunk); count >= 0; count = content.read(chunk)) {
                    if (count > size - at) {
                        throw DataException.in(
                                place, "more comes out than the %,d bytes that it announces".formatted(size));
                    }
                    MemorySegment.copy(MemorySegment.ofArray(chunk), 0, memory, at, count);
                    at += count;
                }
                if (at < size) {
                    throw DataException.in(
                            place, "there are %,d bytes of the %,d it announces: cut off?".formatted(at, size));
                }
            } catch (ZipException | EOFException malformed) {
                throw DataException.in(place, "it cannot be unpacked: " + malformed.getMessage(), malformed);
            }
            return NpyArray.of(place, memory);
        }
    }
}
