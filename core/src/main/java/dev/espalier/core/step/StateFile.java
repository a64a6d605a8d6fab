package dev.espalier.core.step;

import dev.espalier.core.check.Writing;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.zip.CRC32C;

/**
 * Named pieces of memory in a file with a checksum.
 *
 * <p>Writing is atomic: the file is written under another name, forced to disk and then renamed, so a reader sees the old
 * one or the new one, whole, after a cut of the power too. Reading checks everything, the sum included, before it touches any memory.
 *
 * <p>Layout, big-endian: {@code "ESPALIER"}, version (int), number of pieces (int); for each piece its name (UTF as of
 * {@link DataOutputStream#writeUTF}) and its number of bytes (long); then the bytes of all pieces in order, as they are
 * in memory (little-endian on every machine Java 25 runs on); at last the CRC-32C of everything before it (int).
 */
public final class StateFile {
    private static final long MAGIC = 0x455350414C494552L; // "ESPALIER"
    private static final int VERSION = 1;
    private static final int CHUNK = 1 << 20;

    private StateFile() {}

    /**
     * Writes memory to a file, atomically.
     *
     * @param file the file; replaced if it exists
     * @param state the memory by name
     */
    public static void save(Path file, SequencedMap<String, MemorySegment> state) {
        try {
            Writing.whole(file, channel -> {
                CRC32C sum = new CRC32C();
                write(channel, sum, ByteBuffer.wrap(header(state)));
                ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
                for (MemorySegment piece : state.values()) {
                    for (long at = 0; at < piece.byteSize(); at += CHUNK) {
                        int length = (int) Math.min(CHUNK, piece.byteSize() - at);
                        MemorySegment.copy(piece, at, MemorySegment.ofBuffer(chunk.clear()), 0, length);
                        write(channel, sum, chunk.limit(length));
                    }
                }
                write(channel, new CRC32C(), ByteBuffer.allocate(Integer.BYTES).putInt(0, (int) sum.getValue()));
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file + ": " + Writing.reason(e), e);
        }
    }

    private static void write(FileChannel channel, CRC32C sum, ByteBuffer bytes) throws IOException {
        sum.update(bytes.duplicate());
        Writing.all(channel, bytes);
    }

    private static byte[] header(SequencedMap<String, MemorySegment> state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(MAGIC);
        out.writeInt(VERSION);
        out.writeInt(state.size());
        for (var piece : state.entrySet()) {
            out.writeUTF(piece.getKey());
            out.writeLong(piece.getValue().byteSize());
        }
        return bytes.toByteArray();
    }

    /**
     * Reads memory back from a file. The file must hold exactly the pieces that are asked for.
     *
     * @param file the file
     * @param state the memory by name; overwritten
     */
    public static void load(Path file, SequencedMap<String, MemorySegment> state) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            byte[] expected = header(state);
            long pieces =
                    state.values().stream().mapToLong(MemorySegment::byteSize).sum();
            requireIntact(file, channel);
            ByteBuffer actual = ByteBuffer.allocate(expected.length);
            boolean sameSize = channel.size() == expected.length + pieces + Integer.BYTES;
            if (sameSize) {
                readFully(channel, actual, 0);
            }
            if (!sameSize || !Arrays.equals(expected, actual.array())) {
                throw new IllegalArgumentException(file + " was saved by another model or optimizer: it does not hold "
                        + state.keySet() + " in these sizes");
            }
            long position = expected.length;
            for (MemorySegment piece : state.values()) {
                copy(channel, position, piece);
                position += piece.byteSize();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file + ": " + e, e);
        }
    }

    /**
     * Reads some of what a file holds, whoever saved it.
     *
     * @param file the file
     * @param wanted which pieces, by name
     * @return copies of them by name, in the file's order
     */
    public static SequencedMap<String, MemorySegment> read(Path file, Predicate<String> wanted) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            requireIntact(file, channel);
            DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
            if (in.readLong() != MAGIC || in.readInt() != VERSION) {
                throw new IllegalArgumentException(
                        file + " is no state of version " + VERSION + " that Espalier saved");
            }
            SequencedMap<String, Long> sizes = new LinkedHashMap<>();
            long position = Long.BYTES + 2L * Integer.BYTES;
            long left = channel.size() - Integer.BYTES - position;
            for (int pieces = in.readInt(); pieces > 0; pieces--) {
                String name = in.readUTF();
                long size = in.readLong();
                long head = encodedSize(name) + Long.BYTES;
                position += head;
                left -= head;
                // A file that lies must not make us reserve memory for it.
                if (size < 0 || size > left || sizes.put(name, size) != null) {
                    throw new IllegalArgumentException(
                            "%s is no state that Espalier saved: its piece %s has %d bytes, where %d are left, or is there twice"
                                    .formatted(file, name, size, left));
                }
                left -= size;
            }
            SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
            for (var piece : sizes.entrySet()) {
                if (wanted.test(piece.getKey())) {
                    MemorySegment memory = Arena.ofAuto().allocate(piece.getValue(), Long.BYTES);
                    copy(channel, position, memory);
                    state.put(piece.getKey(), memory);
                }
                position += piece.getValue();
            }
            return state;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file + ": " + e, e);
        }
    }

    private static long encodedSize(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new DataOutputStream(bytes).writeUTF(name);
        return bytes.size();
    }

    private static void copy(FileChannel channel, long position, MemorySegment piece) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        for (long at = 0; at < piece.byteSize(); at += CHUNK) {
            int length = (int) Math.min(CHUNK, piece.byteSize() - at);
            readFully(channel, chunk.clear().limit(length), position + at);
            MemorySegment.copy(MemorySegment.ofBuffer(chunk.clear()), 0, piece, at, length);
        }
    }

    /**
     * Whether a file is whole: its checksum fits.
     *
     * @param file the file
     * @return false if it is damaged, cut off, or something else altogether
     */
    public static boolean isIntact(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return isIntact(channel);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file + ": " + e, e);
        }
    }

    private static void requireIntact(Path file, FileChannel channel) throws IOException {
        if (!isIntact(channel)) {
            throw new IllegalArgumentException(
                    file + " is damaged or cut off: its checksum does not fit; use an older one");
        }
    }

    private static boolean isIntact(FileChannel channel) throws IOException {
        long end = channel.size() - Integer.BYTES;
        CRC32C sum = new CRC32C();
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        for (long at = 0; at < end; at += CHUNK) {
            readFully(channel, chunk.clear().limit((int) Math.min(CHUNK, end - at)), at);
            sum.update(chunk.flip());
        }
        ByteBuffer stored = ByteBuffer.allocate(Integer.BYTES);
        if (end >= 0) {
            readFully(channel, stored, end);
        }
        return end >= 0 && stored.getInt(0) == (int) sum.getValue();
    }

    private static void readFully(FileChannel channel, ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            int count = channel.read(bytes, at);
            if (count < 0) {
                throw new EOFException("the file ends at " + at);
            }
            at += count;
        }
    }
}
