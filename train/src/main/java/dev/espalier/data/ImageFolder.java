package dev.espalier.data;

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
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/** Images in one folder for each class. */
final class ImageFolder {
    private static final List<String> ENDINGS = List.of(".png", ".jpg", ".jpeg");
    private static final int WHITE = 255;

    private ImageFolder() {}

    static DataSplit load(DataSource.Images source) throws IOException {
        Path folder = source.folder();
        if (!Files.isDirectory(folder)) {
            throw DataException.in(folder, "no such folder: expected one with a folder of images for each class");
        }
        Path train = folder.resolve("train");
        Path test = folder.resolve("test");
        if (Files.isDirectory(train) && Files.isDirectory(test)) {
            List<String> classNames = classNames(train);
            requireKnown(test, classNames);
            return new DataSplit(
                    dataset(name(folder) + " train", train, classNames, source.shape()),
                    dataset(name(folder) + " test", test, classNames, source.shape()));
        }
        if (Files.isDirectory(train) || Files.isDirectory(test)) {
            throw DataException.in(
                    folder, "only one of the folders train and test: expected both, or a folder for each class");
        }
        return source.holdout().of(dataset(name(folder), folder, classNames(folder), source.shape()), folder);
    }

    private static String name(Path folder) {
        return String.valueOf(folder.toAbsolutePath().normalize().getFileName());
    }

    private static List<String> classNames(Path folder) throws IOException {
        List<String> names =
                list(folder, Files::isDirectory).stream().map(ImageFolder::name).toList();
        if (names.size() < 2) {
            throw DataException.in(folder, "the class folders are %s: there must be 2 or more".formatted(names));
        }
        return names;
    }

    private static void requireKnown(Path test, List<String> classNames) throws IOException {
        TreeSet<String> strange = new TreeSet<>(classNames(test));
        classNames.forEach(strange::remove);
        if (!strange.isEmpty()) {
            throw DataException.in(
                    test,
                    "the classes %s do not occur in the training part, which has %s".formatted(strange, classNames));
        }
    }

    private static Dataset dataset(String name, Path folder, List<String> classNames, SampleShape.Image shape)
            throws IOException {
        List<byte[]> samples = new ArrayList<>();
        List<Integer> labels = new ArrayList<>();
        for (int label = 0; label < classNames.size(); label++) {
            Path classFolder = folder.resolve(classNames.get(label));
            if (!Files.isDirectory(classFolder)) {
                throw DataException.in(classFolder, "no such folder, but the training part has this class");
            }
            List<Path> files = list(classFolder, ImageFolder::isImage);
            if (files.isEmpty()) {
                throw DataException.in(classFolder, "no images: expected files that end with " + ENDINGS);
            }
            for (Path file : files) {
                samples.add(Resampling.toBytes(planes(file), shape));
                labels.add(label);
            }
        }
        int[] numbers = labels.stream().mapToInt(Integer::intValue).toArray();
        return Samples.ofBytes(name, shape, classNames, samples, numbers, WHITE);
    }

    /** Sorted by name, since folders list their files in any order. What is hidden is none of ours. */
    private static List<Path> list(Path folder, Predicate<Path> wanted) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> !name(entry).startsWith("."))
                    .filter(wanted)
                    .sorted((one, other) -> name(one).compareTo(name(other)))
                    .toList();
        }
    }

    private static boolean isImage(Path file) {
        String name = name(file).toLowerCase(Locale.ROOT);
        return Files.isRegularFile(file) && ENDINGS.stream().anyMatch(name::endsWith);
    }

    private static Resampling.Planes planes(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        try (ImageInputStream input = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
            Iterator<ImageReader> readers = ImageIO.getImageReaders(input);
            if (!readers.hasNext()) {
                throw DataException.in(file, "neither PNG nor JPEG");
            }
            ImageReader reader = readers.next();
            try {
                return planes(file, reader, input);
            } finally {
                reader.dispose();
            }
        }
    }

    private static Resampling.Planes planes(Path file, ImageReader reader, ImageInputStream input) throws IOException {
        List<String> warnings = new ArrayList<>();
        // A file that was cut off is decoded all the same, grey from there on, and a warning is all that tells.
        reader.addIIOReadWarningListener((_, warning) -> warnings.add(warning));
        reader.setInput(input);
        BufferedImage image;
        try {
            image = reader.read(0);
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
