package dev.espalier.report;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import javax.imageio.ImageIO;

/** Pictures that stand in a page. */
final class Png {
    private Png() {}

    /** A PNG file as a data URL. */
    static String url(BufferedImage image) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            ImageIO.setUseCache(false); // no temporary files
            if (!ImageIO.write(image, "png", bytes)) {
                throw new IllegalStateException("this JVM cannot write PNG");
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return "data:image/png;base64," + Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
