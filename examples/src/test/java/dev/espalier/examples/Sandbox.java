package dev.espalier.examples;

import dev.espalier.data.image.DigitsKind;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import javax.imageio.ImageIO;

/**
 * The folder that samples run in, with what their words in capitals stand for: a model, a recipe, two runs, some images; and a folder of photos. Java cannot change
 * its working directory, so Maven starts the tests in it.
 */
final class Sandbox {
    private static final String NAME = "samples";
    private static final int PHOTOS = 300;

    private Sandbox() {}

    /** Empties the folder and fills it anew. */
    static void prepare() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        if (!here.endsWith(Path.of("target", NAME))) {
            throw new IllegalStateException("samples write into the working directory, and that is " + here
                    + ": run the tests with Maven, or in a folder target/" + NAME);
        }
        try (Stream<Path> files = Files.walk(here)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(here)) {
                    Files.delete(file);
                }
            }
        }
        copy("recipes");
        copy("studies");
        Files.writeString(Path.of("RECIPE.toml"), """
                data = { kind = "digits", train_limit = 300 }
                model = { kind = "mlp", hidden = [24] }
                penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
                optimizer.rate = 1e-2
                training = { epochs = 2, batch_size = 50 }
                """);
        train("runs/ONE", "1e-2");
        train("runs/OTHER", "5e-3");
        Files.copy(Path.of("runs/ONE/model.onnx"), Path.of("MODEL.onnx"));
        for (int digit = 0; digit < 2; digit++) {
            Path own = Files.createDirectories(Path.of("DIGITS", String.valueOf(digit)));
            BufferedImage black = new BufferedImage(8, 8, BufferedImage.TYPE_BYTE_GRAY);
            ImageIO.write(black, "png", own.resolve("DIGIT.png").toFile());
        }
        Files.copy(Path.of("DIGITS/0/DIGIT.png"), Path.of("DIGIT.png"));
        photos();
    }

    /** Pictures without labels, of which the model has seen some: the first of UCI's digits. */
    private static void photos() throws IOException {
        Path photos = Files.createDirectory(Path.of("photos"));
        try (InputStream stored = DigitsKind.class.getResourceAsStream("digits-8x8.bin.gz")) {
            byte[] records = new GZIPInputStream(Objects.requireNonNull(stored, "no digits")).readAllBytes();
            for (int digit = 0; digit < PHOTOS; digit++) {
                BufferedImage picture = new BufferedImage(8, 8, BufferedImage.TYPE_BYTE_GRAY);
                for (int pixel = 0; pixel < 64; pixel++) {
                    // A byte for the label, then a byte of 0 to 16 for each pixel.
                    int level = records[digit * 65 + 1 + pixel] * 255 / 16;
                    picture.getRaster().setSample(pixel % 8, pixel / 8, 0, level);
                }
                ImageIO.write(picture, "png", photos.resolve(digit + ".png").toFile());
            }
        }
    }

    /** A folder of the project, here. */
    private static void copy(String folder) throws IOException {
        Files.createDirectory(Path.of(folder));
        try (Stream<Path> files = Files.list(Documentation.ROOT.resolve(folder))) {
            for (Path file : files.toList()) {
                Files.copy(file, Path.of(folder).resolve(file.getFileName().toString()));
            }
        }
    }

    private static void train(String folder, String lambda) {
        ShellSamples.espalier(
                folder, "", List.of("train", "RECIPE.toml", "--set", "penalty.lambda=" + lambda, "--run-dir", folder));
    }

    /**
     * What the Python of docs/guide/from-pytorch.md exported with PyTorch 2.13, without the notes on where that was
     * ({@code metadata_props}).
     */
    static Path exported() throws IOException {
        try {
            return Path.of(Objects.requireNonNull(Sandbox.class.getResource("net.onnx"), "no net.onnx")
                    .toURI());
        } catch (URISyntaxException broken) {
            throw new IOException(broken);
        }
    }
}
