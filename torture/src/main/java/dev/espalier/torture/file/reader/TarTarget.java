package dev.espalier.torture.file.reader;

import dev.espalier.data.image.Cifar10Download;
import dev.espalier.torture.Folders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** The tar archive that a download unpacks, after its sum was found right. */
public final class TarTarget extends SingleFile {
    private static final int BLOCK = 512;
    private static final int SUM_AT = 148;
    private static final long MOST = 1 << 20;

    /** Called by the service loader. */
    public TarTarget() {
        super("tar", Structure.BYTES, "archive.tar");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
            for (String name : List.of("batches/a.bin", "batches/b.bin", "x".repeat(120))) {
                TarArchiveEntry entry = new TarArchiveEntry(name);
                entry.setSize(100);
                tar.putArchiveEntry(entry);
                tar.write(new byte[100]);
                tar.closeArchiveEntry();
            }
            TarArchiveEntry link = new TarArchiveEntry("link", TarArchiveEntry.LF_SYMLINK);
            link.setLinkName("../secret.bin");
            tar.putArchiveEntry(link);
            tar.closeArchiveEntry();
        }
        return List.of(bytes.toByteArray());
    }

    @Override
    public List<String> words() {
        return List.of(
                "../secret.bin",
                "/escaped.bin",
                "link/x",
                ".",
                "..",
                "batches/../../secret.bin",
                "ustar",
                "77777777777",
                "00000000000",
                "path=",
                "size=9223372036854775807\n",
                "GNU.sparse.major=1\n");
    }

    /** The sums of all headers that follow one another. */
    @Override
    public byte[] mend(byte[] file) {
        byte[] mended = file.clone();
        for (int at = 0; at + BLOCK <= mended.length; ) {
            Arrays.fill(mended, at + SUM_AT, at + SUM_AT + 8, (byte) ' ');
            int sum = 0;
            for (int i = at; i < at + BLOCK; i++) {
                sum += Byte.toUnsignedInt(mended[i]);
            }
            boolean empty = sum == 8 * ' ';
            byte[] octal = "%06o\0 ".formatted(sum).getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(empty ? new byte[8] : octal, 0, mended, at + SUM_AT, 8);
            long size = size(mended, at);
            at = (int) Math.min(mended.length, at + BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK);
        }
        return mended;
    }

    private static long size(byte[] file, int at) {
        String text = new String(file, at + 124, 11, StandardCharsets.ISO_8859_1).strip();
        return text.matches("[0-7]{1,10}") ? Long.parseLong(text, 8) : 0;
    }

    @Override
    void read(Path file) throws IOException {
        Path folder = file.resolveSibling("unpacked");
        Files.createDirectories(folder);
        try (InputStream in = Files.newInputStream(file)) {
            Cifar10Download.unpack(in, folder, MOST);
        } finally {
            Folders.delete(folder);
        }
    }
}
