package dev.espalier.data.image;

import dev.espalier.data.DataException;
import dev.espalier.data.Field;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/** Decodes PNG and JPEG files, and brings them to a size. Safe to use from several threads. */
final class ImageDecoder {
    static final List<String> ENDINGS = List.of(".png", ".jpg", ".jpeg");
    static final int WHITE = 255;
    /** 8192 x 8192, which take about 1.3 GB until they are small. A file of a few kilobytes can announce more than fits into memory. */
    static final long MOST_PIXELS = 1L << 26;

    private static final Set<String> FORMATS = Set.of("png", "jpeg");

    /** Deflate makes 1032 bytes out of one, and a pixel has a bit at least. */
    private static final long MOST_PIXELS_A_BYTE = 8 * 1032;

    private ImageDecoder() {}

    /** The image as bytes, channel by channel. */
    static byte[] decode(Path file, Field.Image field) throws IOException {
        return Resampling.toBytes(planes(file), field);
    }

    private static Resampling.Planes planes(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        try (ImageInputStream input = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
            ImageReader reader = reader(file, input);
            try {
                return planes(file, reader, input, bytes.length);
            } finally {
                reader.dispose();
            }
        }
    }

    /** By what the file holds. The JDK knows more formats than these, and what is called .png may be any of them. */
    private static ImageReader reader(Path file, ImageInputStream input) throws IOException {
        for (Iterator<ImageReader> readers = ImageIO.getImageReaders(input); readers.hasNext(); ) {
            ImageReader reader = readers.next();
            if (FORMATS.contains(reader.getFormatName().toLowerCase(Locale.ROOT))) {
                return reader;
            }
        }
        throw DataException.in(file, "neither PNG nor JPEG");
    }

    private static Resampling.Planes planes(Path file, ImageReader reader, ImageInputStream input, int bytes)
            throws IOException {
        List<String> warnings = new ArrayList<>();
        // A file that was cut off is decoded all the same, grey from there on, and a warning is all that tells.
        reader.addIIOReadWarningListener((_, warning) -> warnings.add(warning));
        reader.setInput(input);
        BufferedImage image;
        try {
            requireSize(file, reader.getWidth(0), reader.getHeight(0), bytes);
            image = reader.read(0);
        } catch (DataException refused) {
            throw refused;
        } catch (IOException | RuntimeException malformed) {
            // Corrupt files make the decoders throw whatever comes.
            throw DataException.in(file, "an image that cannot be decoded: " + malformed.getMessage(), malformed);
        }
        for (String warning : warnings) {
            if (warning.toLowerCase(Locale.ROOT).contains("premature end")) {
                throw DataException.in(file, "an image that is cut off: " + warning);
            }
        }
        return planes(image);
    }

    /** Before memory is reserved for them: a few bytes can announce any number of pixels. */
    private static void requireSize(Path file, int width, int height, int bytes) throws DataException {
        long pixels = (long) width * height;
        if (pixels > MOST_PIXELS) {
            throw DataException.in(
                    file,
                    "an image of %d x %d pixels: at most %,d are decoded, so make it smaller first"
                            .formatted(width, height, MOST_PIXELS));
        }
        if (pixels > MOST_PIXELS_A_BYTE * bytes) {
            throw DataException.in(
                    file, "an image of %d x %d pixels, which %,d bytes cannot hold".formatted(width, height, bytes));
        }
    }

    private static Resampling.Planes planes(BufferedImage image) {
        int width = image.getWidth();
        int height = image.getHeight();
        if (image.getColorModel().getColorSpace().getType() == ColorSpace.TYPE_GRAY) {
            // Not getRGB: it takes grey for linear light, and makes 188 of 128.
            float scale = (float) WHITE / ((1 << image.getColorModel().getComponentSize(0)) - 1);
            float[] grey = image.getRaster().getSamples(0, 0, width, height, 0, new float[width * height]);
            for (int i = 0; i < grey.length; i++) {
                grey[i] *= scale;
            }
            return new Resampling.Planes(height, width, List.of(grey));
        }
        int[] pixels = image.getRGB(0, 0, width, height, new int[width * height], 0, width);
        return new Resampling.Planes(height, width, List.of(colour(pixels, 16), colour(pixels, 8), colour(pixels, 0)));
    }

    private static float[] colour(int[] pixels, int shift) {
        float[] plane = new float[pixels.length];
        for (int i = 0; i < plane.length; i++) {
            plane[i] = (pixels[i] >>> shift) & 0xff;
        }
        return plane;
    }
}
