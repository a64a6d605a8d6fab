package dev.espalier.examples;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.TextLayout;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/**
 * Draws lines of text as pictures, half of them upside down, as a camera or scanner might see them: something to feed a model
 * with that reads text, where there is nothing better. Needs nothing but a JDK, and fonts.
 *
 * <pre>{@code
 * java examples/src/main/java/dev/espalier/examples/TextLines.java FOLDER 4000 README.md docs/training.md
 * }</pre>
 */
public final class TextLines {
    private static final int WIDTH = 192;
    private static final int HEIGHT = 48;
    private static final String[] FONTS = {Font.SERIF, Font.SANS_SERIF, Font.MONOSPACED};

    private TextLines() {}

    /**
     * Draws.
     *
     * @param arguments a folder that is made, how many pictures, and the files that their words are from
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 3) {
            throw new IllegalArgumentException("give a folder, how many pictures to draw, and some files of text");
        }
        List<String> words = new ArrayList<>();
        for (String file : Arrays.asList(arguments).subList(2, arguments.length)) {
            words.addAll(Arrays.asList(Files.readString(Path.of(file)).split("\\s+")));
        }
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            int first = random.nextInt(words.size());
            int last = Math.min(words.size(), first + 1 + random.nextInt(5));
            BufferedImage picture = picture(String.join(" ", words.subList(first, last)), random);
            ImageIO.write(
                    picture, "png", folder.resolve("line%05d.png".formatted(i)).toFile());
        }
    }

    private static BufferedImage picture(String text, SplittableRandom random) {
        BufferedImage picture = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = picture.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        boolean dark = random.nextInt(4) == 0;
        graphics.setColor(color(dark, random));
        graphics.fillRect(0, 0, WIDTH, HEIGHT);
        if (random.nextBoolean()) {
            graphics.rotate(Math.PI, WIDTH / 2.0, HEIGHT / 2.0);
        }
        graphics.rotate(random.nextDouble(-0.04, 0.04), WIDTH / 2.0, HEIGHT / 2.0);
        Font font = new Font(FONTS[random.nextInt(FONTS.length)], random.nextInt(4), 36);
        TextLayout line = new TextLayout(text.isBlank() ? "." : text, font, graphics.getFontRenderContext());
        Rectangle2D box = line.getBounds();
        double margin = random.nextDouble(0.75, 1);
        double scale = margin * Math.min(WIDTH / Math.max(box.getWidth(), 1), HEIGHT / Math.max(box.getHeight(), 24));
        graphics.translate((WIDTH - scale * box.getWidth()) * random.nextDouble(), HEIGHT / 2.0);
        graphics.scale(scale, scale);
        graphics.setColor(color(!dark, random));
        line.draw(graphics, (float) -box.getX(), (float) -box.getCenterY());
        graphics.dispose();
        addNoise(picture, random.nextInt(1, 40), random);
        return picture;
    }

    private static Color color(boolean dark, SplittableRandom random) {
        int from = dark ? 0 : 150;
        return new Color(from + random.nextInt(100), from + random.nextInt(100), from + random.nextInt(100));
    }

    private static void addNoise(BufferedImage picture, int most, SplittableRandom random) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                Color color = new Color(picture.getRGB(x, y));
                int noise = random.nextInt(-most, most + 1);
                picture.setRGB(
                        x,
                        y,
                        new Color(
                                        Math.clamp(color.getRed() + noise, 0, 255),
                                        Math.clamp(color.getGreen() + noise, 0, 255),
                                        Math.clamp(color.getBlue() + noise, 0, 255))
                                .getRGB());
            }
        }
    }
}
