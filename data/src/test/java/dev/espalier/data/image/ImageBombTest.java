package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.data.Field;
import dev.espalier.data.TestData;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small files that would become large in memory. */
final class ImageBombTest {
    private static final Field.Image FIELD = new Field.Image("image", 3, 2, 2);
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static void chunk(DataOutputStream png, String type, byte[] content) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(type.getBytes(StandardCharsets.US_ASCII));
        sum.update(content);
        png.writeInt(content.length);
        png.writeBytes(type);
        png.write(content);
        png.writeInt((int) sum.getValue());
    }

    private static byte[] head(int width, int height) {
        return ByteBuffer.allocate(13)
                .putInt(width)
                .putInt(height)
                .put(new byte[] {8, 2, 0, 0, 0})
                .array();
    }

    private static byte[] zeros(long count) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(bytes, new Deflater(Deflater.BEST_SPEED), 1 << 16)) {
            byte[] block = new byte[1 << 16];
            for (long done = 0; done < count; done += block.length) {
                out.write(block, 0, (int) Math.min(block.length, count - done));
            }
        }
        return bytes.toByteArray();
    }

    private Path png(int width, int height, byte[] pixels, byte[] comment) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream png = new DataOutputStream(bytes);
        png.write(SIGNATURE);
        chunk(png, "IHDR", head(width, height));
        if (comment.length > 0) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            text.write("Comment\0\0".getBytes(StandardCharsets.ISO_8859_1));
            text.write(comment);
            chunk(png, "zTXt", text.toByteArray());
        }
        chunk(png, "IDAT", pixels);
        chunk(png, "IEND", new byte[0]);
        Path file = folder.resolve("bomb.png");
        Files.write(file, bytes.toByteArray());
        return file;
    }

    @Test
    void anImageIsMeasuredBeforeItIsDecoded() throws IOException {
        for (int[] size : new int[][] {{8192, 8193}, {20_000, 20_000}, {1 << 29, 1}, {1 << 30, 1 << 30}}) {
            Path file = png(size[0], size[1], zeros(100), new byte[0]);
            TestData.assertRefused(
                    () -> ImageDecoder.decode(file, FIELD), "bomb.png", size[0] + " x " + size[1], "67,108,864");
        }
    }

    @Test
    void aJpegIsMeasuredToo() throws IOException {
        Path file = folder.resolve("bomb.jpg");
        ImageIO.write(new BufferedImage(16, 16, BufferedImage.TYPE_INT_RGB), "jpg", file.toFile());
        byte[] bytes = Files.readAllBytes(file);
        for (int i = 0; i < bytes.length - 9; i++) {
            if (bytes[i] == (byte) 0xff && bytes[i + 1] == (byte) 0xc0) {
                // The frame's height and width.
                bytes[i + 5] = bytes[i + 7] = (byte) 0xfd;
                bytes[i + 6] = bytes[i + 8] = (byte) 0xe8;
            }
        }
        Files.write(file, bytes);
        TestData.assertRefused(() -> ImageDecoder.decode(file, FIELD), "bomb.jpg", "65000 x 65000");
    }

    /** 100 MB of comment in 0.4 MB: what is no pixel is not unpacked. */
    @Test
    void commentsStayPacked() throws IOException {
        byte[] pixels = zeros(2 * (1 + 2 * 3));
        Path file = png(2, 2, pixels, zeros(100L << 20));
        long before = allocated();
        assertEquals(12, ImageDecoder.decode(file, FIELD).length);
        long used = allocated() - before;
        assertEquals(0, used >> 26, () -> used + " bytes for an image of 12");
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    /** The JDK knows more formats, by their first bytes: what is called .png may be a TIFF file. */
    @Test
    void noOtherFormatIsDecoded() throws IOException {
        for (String format : new String[] {"gif", "bmp", "tiff", "wbmp"}) {
            Path file = folder.resolve("other.png");
            int type = format.equals("wbmp") ? BufferedImage.TYPE_BYTE_BINARY : BufferedImage.TYPE_INT_RGB;
            ImageIO.write(new BufferedImage(2, 2, type), format, file.toFile());
            TestData.assertRefused(() -> ImageDecoder.decode(file, FIELD), "neither PNG nor JPEG");
        }
    }
}
