package dev.espalier.recipe;

import java.util.List;

/**
 * What a model learns from and is judged by.
 *
 * @param source where it comes from
 * @param validationFraction how much of the training part is set aside for validation
 * @param trainLimit how many training samples are used at most; 0 for all
 * @param testLimit how many test samples are used at most; 0 for all
 * @param loaders number of threads that load ahead of training
 */
public record DataRecipe(Source source, double validationFraction, int trainLimit, int testLimit, int loaders) {

    /** Kinds of data. */
    public enum Kind {
        /** UCI's handwritten digits, 8×8, which Espalier brings along. */
        DIGITS,
        /** CIFAR-10's binary batches. */
        CIFAR10,
        /** MNIST's idx files, or Fashion-MNIST's. */
        MNIST,
        /** Image files, in one folder for each class. */
        IMAGES,
        /** A table of numbers with a column of labels. */
        CSV,
        /** SQuAD 1.1: questions, and answers that are parts of a text. */
        SQUAD
    }

    private static final Key<Kind> KIND = Key.choice("data.kind", Kind.class, "which data");
    private static final Key<String> DIR = Key.text(
                    "data.dir", "the folder of its files, relative to where the program is started")
            .in(Range.notBlank())
            .only(Kind.CIFAR10, Kind.MNIST, Kind.IMAGES, Kind.SQUAD);
    private static final Key<String> FILE = Key.text("data.file", "the table, relative to where the program is started")
            .in(Range.notBlank())
            .only(Kind.CSV);
    private static final Key<Boolean> NORMALIZE = Key.flag(
                    "data.normalize", "whether each channel is shifted to mean 0 and scaled to deviation 1")
            .otherwise(true)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.IMAGES);
    private static final Key<Integer> PADDING = Key.whole(
                    "data.padding", "black pixels around a training image before a random crop; 0 for no crop")
            .in(Range.atLeast(0))
            .otherwise(0)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.IMAGES);
    private static final Key<Boolean> FLIP = Key.flag(
                    "data.flip", "whether every other training image, at random, is mirrored")
            .otherwise(false)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.IMAGES);
    private static final Key<Integer> SIZE = Key.whole("data.size", "height and width that images are brought to")
            .in(Range.atLeast(1))
            .otherwise(32)
            .only(Kind.IMAGES);
    private static final Key<String> LABEL = Key.text("data.label", "the name of the column of labels")
            .in(Range.notBlank())
            .otherwise("label")
            .only(Kind.CSV);
    private static final Key<Double> TEST_FRACTION = Key.decimal(
                    "data.test_fraction", "how much of each class is held out for the test")
            .in(new Range<>("above 0 and below 1", value -> value > 0 && value < 1))
            .otherwise(0.2)
            .only(Kind.IMAGES, Kind.CSV);
    private static final Key<String> TRAIN_FILE = Key.text("data.train_file", "the training part's file in the folder")
            .in(Range.notBlank())
            .otherwise("train-v1.1.json")
            .only(Kind.SQUAD);
    private static final Key<String> TEST_FILE = Key.text("data.test_file", "the test part's file in the folder")
            .in(Range.notBlank())
            .otherwise("dev-v1.1.json")
            .only(Kind.SQUAD);
    private static final Key<Integer> LENGTH = Key.whole("data.length", "tokens in a window, question included")
            .in(Range.atLeast(8))
            .otherwise(384)
            .only(Kind.SQUAD);
    private static final Key<Integer> STRIDE = Key.whole(
                    "data.stride", "tokens of the text that two windows in a row have in common; below `length`")
            .in(Range.atLeast(0))
            .otherwise(128)
            .only(Kind.SQUAD);
    private static final Key<Integer> QUESTION_LENGTH = Key.whole(
                    "data.question_length", "tokens that a question is cut to; below `length`")
            .in(Range.atLeast(1))
            .otherwise(64)
            .only(Kind.SQUAD);
    private static final Key<Double> VALIDATION_FRACTION = Key.decimal(
                    "data.validation_fraction",
                    "how much of the training part is set aside for validation; 0 to validate on the test part")
            .in(Range.fraction())
            .otherwise(0.0);
    private static final Key<Integer> TRAIN_LIMIT = Key.whole(
                    "data.train_limit", "training samples that are used at most; 0 for all")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Integer> TEST_LIMIT = Key.whole(
                    "data.test_limit", "test samples that are used at most; 0 for all")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Integer> LOADERS = Key.whole("data.loaders", "threads that load ahead of training")
            .in(Range.atLeast(1))
            .otherwise(2);

    static final Section<DataRecipe> SECTION = new Section<>(
            "data",
            List.of(
                    KIND,
                    DIR,
                    FILE,
                    NORMALIZE,
                    PADDING,
                    FLIP,
                    SIZE,
                    LABEL,
                    TEST_FRACTION,
                    TRAIN_FILE,
                    TEST_FILE,
                    LENGTH,
                    STRIDE,
                    QUESTION_LENGTH,
                    VALIDATION_FRACTION,
                    TRAIN_LIMIT,
                    TEST_LIMIT,
                    LOADERS),
            DataRecipe::from,
            DataRecipe::values);

    /** Checks the numbers. */
    public DataRecipe {
        VALIDATION_FRACTION.require(validationFraction);
        TRAIN_LIMIT.require(trainLimit);
        TEST_LIMIT.require(testLimit);
        LOADERS.require(loaders);
    }

    /** Where data comes from. */
    public sealed interface Source {
        /**
         * The kind of data.
         *
         * @return its kind
         */
        Kind kind();
    }

    /**
     * What is done to an image on its way into a batch.
     *
     * @param normalize whether channels are shifted and scaled
     * @param padding pixels around it before a random crop; 0 for no crop
     * @param flip whether every other image is mirrored
     */
    public record Preparation(boolean normalize, int padding, boolean flip) {
        /** Checks the padding. */
        public Preparation {
            PADDING.require(padding);
        }

        private static Preparation from(Values values) {
            return new Preparation(values.of(NORMALIZE), values.of(PADDING), values.of(FLIP));
        }

        private void into(Values values) {
            values.with(NORMALIZE, normalize).with(PADDING, padding).with(FLIP, flip);
        }
    }

    /**
     * UCI's digits.
     *
     * @param preparation what is done to an image
     */
    public record Digits(Preparation preparation) implements Source {
        @Override
        public Kind kind() {
            return Kind.DIGITS;
        }
    }

    /**
     * CIFAR-10.
     *
     * @param dir the folder of its binary batches
     * @param preparation what is done to an image
     */
    public record Cifar10(String dir, Preparation preparation) implements Source {
        /** Checks the folder's name. */
        public Cifar10 {
            DIR.require(dir);
        }

        @Override
        public Kind kind() {
            return Kind.CIFAR10;
        }
    }

    /**
     * MNIST or Fashion-MNIST.
     *
     * @param dir the folder of its idx files
     * @param preparation what is done to an image
     */
    public record Mnist(String dir, Preparation preparation) implements Source {
        /** Checks the folder's name. */
        public Mnist {
            DIR.require(dir);
        }

        @Override
        public Kind kind() {
            return Kind.MNIST;
        }
    }

    /**
     * A folder for each class.
     *
     * @param dir the folder of these folders
     * @param size height and width that images are brought to
     * @param testFraction how much of each class is held out for the test
     * @param preparation what is done to an image
     */
    public record Images(String dir, int size, double testFraction, Preparation preparation) implements Source {
        /** Checks the arguments. */
        public Images {
            DIR.require(dir);
            SIZE.require(size);
            TEST_FRACTION.require(testFraction);
        }

        @Override
        public Kind kind() {
            return Kind.IMAGES;
        }
    }

    /**
     * A table.
     *
     * @param file the file
     * @param label the name of the column of labels
     * @param testFraction how much of each class is held out for the test
     */
    public record Csv(String file, String label, double testFraction) implements Source {
        /** Checks the arguments. */
        public Csv {
            FILE.require(file);
            LABEL.require(label);
            TEST_FRACTION.require(testFraction);
        }

        @Override
        public Kind kind() {
            return Kind.CSV;
        }
    }

    /**
     * SQuAD 1.1.
     *
     * @param dir the folder of its files
     * @param trainFile the training part in it
     * @param testFile the test part in it
     * @param length tokens in a window, question included
     * @param stride tokens that two windows in a row have in common
     * @param questionLength tokens that a question is cut to
     */
    public record Squad(String dir, String trainFile, String testFile, int length, int stride, int questionLength)
            implements Source {
        /** Checks the arguments. */
        public Squad {
            DIR.require(dir);
            TRAIN_FILE.require(trainFile);
            TEST_FILE.require(testFile);
            LENGTH.require(length);
            STRIDE.require(stride);
            QUESTION_LENGTH.require(questionLength);
            if (stride + questionLength >= length) {
                throw new IllegalArgumentException(
                        "data.stride = %d and data.question_length = %d must add up to less than data.length = %d"
                                .formatted(stride, questionLength, length));
            }
        }

        @Override
        public Kind kind() {
            return Kind.SQUAD;
        }
    }

    private static DataRecipe from(Values values) {
        Source source = switch (values.of(KIND)) {
            case DIGITS -> new Digits(Preparation.from(values));
            case CIFAR10 -> new Cifar10(values.of(DIR), Preparation.from(values));
            case MNIST -> new Mnist(values.of(DIR), Preparation.from(values));
            case IMAGES ->
                new Images(values.of(DIR), values.of(SIZE), values.of(TEST_FRACTION), Preparation.from(values));
            case CSV -> new Csv(values.of(FILE), values.of(LABEL), values.of(TEST_FRACTION));
            case SQUAD ->
                new Squad(
                        values.of(DIR),
                        values.of(TRAIN_FILE),
                        values.of(TEST_FILE),
                        values.of(LENGTH),
                        values.of(STRIDE),
                        values.of(QUESTION_LENGTH));
        };
        return new DataRecipe(
                source,
                values.of(VALIDATION_FRACTION),
                values.of(TRAIN_LIMIT),
                values.of(TEST_LIMIT),
                values.of(LOADERS));
    }

    private Values values() {
        Values values = new Values().with(KIND, source.kind());
        switch (source) {
            case Digits(Preparation preparation) -> preparation.into(values);
            case Cifar10(String dir, Preparation preparation) -> preparation.into(values.with(DIR, dir));
            case Mnist(String dir, Preparation preparation) -> preparation.into(values.with(DIR, dir));
            case Images images -> {
                values.with(DIR, images.dir).with(SIZE, images.size).with(TEST_FRACTION, images.testFraction);
                images.preparation.into(values);
            }
            case Csv csv -> values.with(FILE, csv.file).with(LABEL, csv.label).with(TEST_FRACTION, csv.testFraction);
            case Squad squad ->
                values.with(DIR, squad.dir)
                        .with(TRAIN_FILE, squad.trainFile)
                        .with(TEST_FILE, squad.testFile)
                        .with(LENGTH, squad.length)
                        .with(STRIDE, squad.stride)
                        .with(QUESTION_LENGTH, squad.questionLength);
        }
        return values.with(VALIDATION_FRACTION, validationFraction)
                .with(TRAIN_LIMIT, trainLimit)
                .with(TEST_LIMIT, testLimit)
                .with(LOADERS, loaders);
    }
}
