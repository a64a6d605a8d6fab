package dev.espalier.torture.file.reader;

import dev.espalier.data.Context;
import dev.espalier.data.Field;
import dev.espalier.data.image.ImageFiles;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;

/** PNG and JPEG files. */
public final class ImageTarget extends SingleFile {
    private static final int HEAD = 8;
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G'};

    /** Called by the service loader. */
    public ImageTarget() {
        super("image", Structure.BYTES, "image.png");
    }

    @Override
    public int share() {
        return 2;
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        for (int type : new int[] {
            BufferedImage.TYPE_INT_RGB,
            BufferedImage.TYPE_BYTE_GRAY,
            BufferedImage.TYPE_BYTE_INDEXED,
            BufferedImage.TYPE_INT_ARGB,
            BufferedImage.TYPE_USHORT_GRAY,
            BufferedImage.TYPE_BYTE_BINARY
        }) {
            BufferedImage image = new BufferedImage(9, 7, type);
            for (int i = 0; i < 9 * 7; i++) {
                image.setRGB(i % 9, i / 9, 0xff000000 | i * 0x031105);
            }
            seeds.add(encoded(image, "png"));
            if (type == BufferedImage.TYPE_INT_RGB || type == BufferedImage.TYPE_BYTE_GRAY) {
                seeds.add(encoded(image, "jpeg"));
            }
        }
        return seeds;
    }

    private static byte[] encoded(BufferedImage image, String format) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageIO.write(image, format, bytes);
        return bytes.toByteArray();
    }

    @Override
    public List<String> words() {
        return List.of(
                "IHDR",
                "PLTE",
                "tRNS",
                "gAMA",
                "iCCP",
                "zTXt",
                "iTXt",
                "bKGD",
                "BM",
                "GIF89a",
                "II*\u0000",
                "MM\u0000*");
    }

    /** The sums of a PNG's chunks. */
    @Override
    public byte[] mend(byte[] file) {
        byte[] mended = file.clone();
        ByteBuffer buffer = ByteBuffer.wrap(mended);
        if (file.length < HEAD || !Arrays.equals(file, 0, PNG.length, PNG, 0, PNG.length)) {
            return mended;
        }
        for (int at = HEAD; at + 12 <= mended.length; ) {
            int length = buffer.getInt(at);
            if (length < 0 || length > mended.length - at - 12) {
                break;
            }
            CRC32 sum = new CRC32();
            sum.update(mended, at + 4, length + 4);
            buffer.putInt(at + 8 + length, (int) sum.getValue());
            at += 12 + length;
        }
        return mended;
    }

    /** A byte stands for up to 1032 of one bit a pixel, and a pixel takes some numbers. */
    @Override
    public Memory memory() {
        return new Memory(64L << 20, 1032 * 8 * 32);
    }

    @Override
    void read(Path file) throws IOException {
        ImageFiles.of(List.of(file), new Field.Image("image", 3, 8, 8), Context.QUIET.progress());
    }
}
