package dev.espalier.data;

import dev.espalier.check.Check;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Where labelled samples come from. */
public sealed interface DataSource {
    /** The kinds that {@link #of} knows. */
    List<String> KINDS = List.of("digits", "cifar10", "mnist", "fashion-mnist", "images", "csv");

    /**
     * The 1,797 handwritten digits of 8×8 pixels of the UCI repository, which are part of this library. They are cut by
     * {@link Holdout#DEFAULT}: always the same 1,438 to learn from and 359 for the test.
     */
    record Digits() implements DataSource {}

    /**
     * CIFAR-10, the official binary version: {@code data_batch_1.bin} … {@code data_batch_5.bin} and
     * {@code test_batch.bin}, each checked against its published content.
     *
     * @param folder holds the files, or the folder {@code cifar-10-batches-bin} with them
     */
    record Cifar10(Path folder) implements DataSource {}

    /**
     * MNIST, as {@code train-images-idx3-ubyte}, {@code train-labels-idx1-ubyte}, {@code t10k-images-idx3-ubyte} and
     * {@code t10k-labels-idx1-ubyte}, plain or with {@code .gz}.
     *
     * @param folder holds the files
     */
    record Mnist(Path folder) implements DataSource {}

    /**
     * Fashion-MNIST: files named as those of MNIST.
     *
     * @param folder holds the files
     */
    record FashionMnist(Path folder) implements DataSource {}

    /**
     * PNG and JPEG images in one folder for each class: {@code train/CLASS/…} and {@code test/CLASS/…}, or
     * {@code CLASS/…} to be cut by seed.
     *
     * @param folder holds the folders
     * @param shape what every image is resized to (filtered, so that shrinking does not alias); 1 channel makes it grey,
     *     3 make it coloured, and transparency is ignored
     * @param holdout how to cut, where there are no folders {@code train} and {@code test}
     */
    record Images(Path folder, SampleShape.Image shape, Holdout holdout) implements DataSource {
        /** Checks the number of channels. */
        public Images {
            if (shape.channels() != 1 && shape.channels() != 3) {
                throw new IllegalArgumentException(
                        "channels = " + shape.channels() + " is out of range: it must be 1 (grey) or 3 (colour)");
            }
        }
    }

    /**
     * A table of numbers and a label: {@code train.csv} and {@code test.csv} in a folder, or one file (or only
     * {@code train.csv}) to be cut by seed; plain or with {@code .gz}. Values are held as 32-bit floats.
     *
     * @param path the folder or the file
     * @param header whether the first line names the columns
     * @param label the column with the class: its name, or its index from 0, or from the end as −1, −2, …
     * @param delimiter what stands between two fields
     * @param standardise whether every feature is shifted and scaled to mean 0 and deviation 1 of the training part; the
     *     numbers are those that {@link Normalization#of} finds when this is off
     * @param holdout how to cut, where there is no test file
     */
    record Csv(Path path, boolean header, String label, char delimiter, boolean standardise, Holdout holdout)
            implements DataSource {
        /** Checks the delimiter. */
        public Csv {
            if (delimiter == '"' || delimiter == '\n' || delimiter == '\r') {
                throw new IllegalArgumentException(
                        "delimiter is a quote or a line break: it must be another character, such as , or ;");
            }
        }

        /**
         * A table with a header, commas, the label in its last column and standardised features.
         *
         * @param path the folder or the file
         */
        public Csv(Path path) {
            this(path, true, "-1", ',', true, Holdout.DEFAULT);
        }
    }

    /**
     * A source by the names that a recipe has for it.
     *
     * <p>Options of {@code images}: {@code height} and {@code width} (both required), {@code channels} (3),
     * {@code test_fraction} (0.2), {@code seed} (1). Options of {@code csv}: {@code header} (true), {@code label} (−1),
     * {@code delimiter} (a comma; {@code tab} for a tabulator), {@code standardise} (true), {@code test_fraction},
     * {@code seed}. The other kinds have none.
     *
     * @param kind one of {@link #KINDS}
     * @param folder where the data lies; nothing is read from it for {@code digits}
     * @param options what else there is to say
     * @return the source
     */
    static DataSource of(String kind, Path folder, Map<String, String> options) {
        Options given = new Options(kind, options);
        DataSource source = switch (kind) {
            case "digits" -> new Digits();
            case "cifar10" -> new Cifar10(folder);
            case "mnist" -> new Mnist(folder);
            case "fashion-mnist" -> new FashionMnist(folder);
            case "images" -> images(folder, given);
            case "csv" -> csv(folder, given);
            default ->
                throw new IllegalArgumentException(
                        "kind = " + kind + " is unknown: it must be one of " + String.join(", ", KINDS));
        };
        given.requireSound();
        return source;
    }

    private static DataSource images(Path folder, Options options) {
        int height = options.required("height", DataSource::length);
        int width = options.required("width", DataSource::length);
        int channels = options.optional("channels", 3, text -> {
            if (!text.equals("1") && !text.equals("3")) {
                throw new IllegalArgumentException("it must be 1 (grey) or 3 (colour)");
            }
            return Integer.parseInt(text);
        });
        return new Images(folder, new SampleShape.Image(channels, height, width), holdout(options));
    }

    private static DataSource csv(Path path, Options options) {
        Csv usual = new Csv(path);
        return new Csv(
                path,
                options.optional("header", usual.header(), Options::truth),
                options.optional("label", usual.label(), text -> text),
                options.optional("delimiter", usual.delimiter(), DataSource::delimiter),
                options.optional("standardise", usual.standardise(), Options::truth),
                holdout(options));
    }

    private static Holdout holdout(Options options) {
        double fraction = options.optional(
                "test_fraction", Holdout.DEFAULT.fraction(), text -> new Holdout(Options.number(text), 0).fraction());
        return new Holdout(fraction, options.optional("seed", Holdout.DEFAULT.seed(), Options::whole));
    }

    private static int length(String text) {
        long length = Options.whole(text);
        Check.atLeast("it", length, 1);
        return (int) Check.atMost("it", length, 1 << 14);
    }

    private static char delimiter(String text) {
        if (text.equals("tab")) {
            return '\t';
        }
        if (text.length() != 1 || text.equals("\"")) {
            throw new IllegalArgumentException("it must be one character that is no quote, or the word tab");
        }
        return text.charAt(0);
    }
}
