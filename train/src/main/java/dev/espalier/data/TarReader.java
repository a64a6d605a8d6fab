package dev.espalier.data;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/** Unpacks the regular files of a tar archive (POSIX's ustar, and the older form); everything else in it is left out. */
final class TarReader {
    private static final int BLOCK = 512;
    private static final int NAME = 100;
    private static final int SIZE_AT = 124;
    private static final int SIZE_LENGTH = 12;
    private static final int CHECKSUM_AT = 148;
    private static final int CHECKSUM_LENGTH = 8;
    private static final int TYPE_AT = 156;
    private static final int MAGIC_AT = 257;
    private static final int PREFIX_AT = 345;
    private static final int PREFIX_LENGTH = 155;

    private TarReader() {}

    /** Unpacks below a folder. A name that leads out of it is refused. */
    static void unpack(InputStream archive, Path folder) throws IOException {
        for (byte[] header = block(archive); !isEnd(header); header = block(archive)) {
            long sum = octal(header, CHECKSUM_AT, CHECKSUM_LENGTH);
            if (sum != checksum(header)) {
                throw new IOException("no sound tar archive: the checksum of a header is wrong");
            }
            long size = octal(header, SIZE_AT, SIZE_LENGTH);
            String name = name(header);
            if (header[TYPE_AT] == '0' || header[TYPE_AT] == 0) {
                write(archive, size, inside(folder, name));
            } else {
                archive.skipNBytes(size);
            }
            archive.skipNBytes(Math.floorMod(-size, BLOCK));
        }
    }

    private static void write(InputStream archive, long size, Path file) throws IOException {
        Files.createDirectories(file.resolveSibling("."));
        try (InputStream content = new Part(archive, size)) {
            if (Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING) != size) {
                throw new EOFException("the tar archive ends within " + file.getFileName());
            }
        }
    }

    private static Path inside(Path folder, String name) throws IOException {
        Path root = folder.toAbsolutePath().normalize();
        Path file = root.resolve(name).normalize();
        if (!file.startsWith(root) || file.equals(root)) {
            throw new IOException("the tar archive holds %s, which leads out of %s".formatted(name, folder));
        }
        return file;
    }

    private static byte[] block(InputStream archive) throws IOException {
        byte[] block = archive.readNBytes(BLOCK);
        if (block.length != 0 && block.length < BLOCK) {
            throw new EOFException("the tar archive ends within a header");
        }
        return block;
    }

    /** The end is a block of zeros, but some writers simply stop. */
    private static boolean isEnd(byte[] header) {
        return header.length == 0 || Arrays.equals(header, new byte[BLOCK]);
    }

    private static String name(byte[] header) {
        String name = text(header, 0, NAME);
        boolean ustar = text(header, MAGIC_AT, 5).equals("ustar");
        String prefix = ustar ? text(header, PREFIX_AT, PREFIX_LENGTH) : "";
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    private static String text(byte[] header, int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    private static long octal(byte[] header, int from, int length) throws IOException {
        String digits = text(header, from, length).strip();
        try {
            return Long.parseUnsignedLong(digits, 8);
        } catch (NumberFormatException malformed) {
            throw new IOException("no sound tar archive: '" + digits + "' is no octal number", malformed);
        }
    }

    /** The sum of the header's bytes, with blanks in place of the sum itself. */
    private static long checksum(byte[] header) {
        long sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            boolean own = i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_LENGTH;
            sum += own ? ' ' : Byte.toUnsignedInt(header[i]);
        }
        return sum;
    }

    /** The next bytes of a stream, which stays open. */
    private static final class Part extends InputStream {
        private final InputStream whole;
        private long left;

        private Part(InputStream whole, long length) {
            this.whole = whole;
            this.left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) == 1 ? Byte.toUnsignedInt(one[0]) : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int count = whole.read(target, offset, (int) Math.min(length, left));
            left -= Math.max(count, 0);
            return count;
        }
    }
}
