package dev.espalier.data;

import java.nio.file.Path;

/** Where labelled samples come from. */
public sealed interface DataSource {
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
     * @param holdout how to cut, where there is no test file
     */
    record Csv(Path path, boolean header, String label, char delimiter, Holdout holdout) implements DataSource {
        /** Checks the delimiter. */
        public Csv {
            if (!canDelimit(delimiter)) {
                throw new IllegalArgumentException(
                        "delimiter is a quote or a line break: it must be another character, such as , or ;");
            }
        }

        /**
         * A table with a header, commas, and the label in its last column.
         *
         * @param path the folder or the file
         */
        public Csv(Path path) {
            this(path, true, "-1", ',', Holdout.DEFAULT);
        }

        /**
         * Whether a character may stand between two fields.
         *
         * @param character the character
         * @return false for quotes and line breaks
         */
        public static boolean canDelimit(char character) {
            return character != '"' && character != '\n' && character != '\r';
        }
    }
}
