package dev.espalier.recipe;

import dev.espalier.data.DataSource;
import dev.espalier.data.Holdout;
import dev.espalier.data.SampleShape;
import dev.espalier.squad.UnknownTokens;
import dev.espalier.squad.WindowPlan;
import java.nio.file.Path;
import java.util.List;

/**
 * What a model learns from and is judged by.
 *
 * @param source where it comes from
 * @param validationFraction how much of the training part is set aside for validation
 * @param trainLimit how many samples of the training part are used at most, validation included; 0 for all
 * @param testLimit how many test samples are used at most; 0 for all
 * @param splitSeed what the draw of held-out and limited samples depends on
 * @param loaders number of threads that load ahead of training
 */
public record DataRecipe(
        Source source, double validationFraction, int trainLimit, int testLimit, long splitSeed, int loaders) {

    /** Kinds of data. */
    public enum Kind {
        /** UCI's handwritten digits, 8×8, which Espalier brings along. */
        DIGITS,
        /** CIFAR-10's binary batches. */
        CIFAR10,
        /** MNIST's idx files. */
        MNIST,
        /** Fashion-MNIST's idx files. */
        FASHION_MNIST,
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
            .only(Kind.CIFAR10, Kind.MNIST, Kind.FASHION_MNIST, Kind.IMAGES, Kind.SQUAD)
            .changeable();
    private static final Key<String> PATH = Key.text(
                    "data.path",
                    "the table, or a folder with train.csv and test.csv, relative to where the program is started")
            .in(Range.notBlank())
            .only(Kind.CSV)
            .changeable();
    private static final Key<Boolean> NORMALIZE = Key.flag(
                    "data.normalize",
                    "whether each channel, or column of a table, is shifted to mean 0 and scaled to deviation 1")
            .otherwise(true)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.FASHION_MNIST, Kind.IMAGES, Kind.CSV);
    private static final Key<Integer> PADDING = Key.whole(
                    "data.padding", "black pixels around a training image before a random crop; 0 for no crop")
            .in(Range.atLeast(0))
            .otherwise(0)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.FASHION_MNIST, Kind.IMAGES);
    private static final Key<Boolean> FLIP = Key.flag(
                    "data.flip", "whether every other training image, at random, is mirrored")
            .otherwise(false)
            .only(Kind.DIGITS, Kind.CIFAR10, Kind.MNIST, Kind.FASHION_MNIST, Kind.IMAGES);
    private static final Key<Integer> SIZE = Key.whole("data.size", "height and width that images are brought to")
            .in(Range.atLeast(1))
            .otherwise(32)
            .only(Kind.IMAGES);
    private static final Key<Integer> CHANNELS = Key.whole(
                    "data.channels", "what images are brought to: 1 for grey, 3 for colour")
            .in(new Range<>("1 or 3", value -> value == 1 || value == 3))
            .otherwise(3)
            .only(Kind.IMAGES);

    private static final DataSource.Csv USUAL_TABLE = new DataSource.Csv(Path.of("table.csv"));
    private static final Key<Boolean> HEADER = Key.flag("data.header", "whether the first line names the columns")
            .otherwise(USUAL_TABLE.header())
            .only(Kind.CSV);
    private static final Key<String> LABEL = Key.text(
                    "data.label", "the column of labels: its name, or its number from 0, or from the end as -1, -2, …")
            .in(Range.notBlank())
            .otherwise(USUAL_TABLE.label())
            .only(Kind.CSV);
    private static final Key<String> DELIMITER = Key.text("data.delimiter", "what stands between two columns")
            .in(new Range<>(
                    "one character that is no quote and no line break",
                    value -> value.length() == 1 && DataSource.Csv.canDelimit(value.charAt(0))))
            .otherwise(String.valueOf(USUAL_TABLE.delimiter()))
            .only(Kind.CSV);
    private static final Key<Double> TEST_FRACTION = Key.decimal(
                    "data.test_fraction",
                    "how much of each class is held out for the test, where there is no test part")
            .in(new Range<>("above 0 and below 1", value -> value > 0 && value < 1))
            .otherwise(Holdout.DEFAULT.fraction())
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
            .otherwise(WindowPlan.DEFAULT.length())
            .only(Kind.SQUAD);
    private static final Key<Integer> STRIDE = Key.whole(
                    "data.stride", "tokens of the text that two windows in a row have in common")
            .in(Range.atLeast(0))
            .otherwise(WindowPlan.DEFAULT.stride())
            .only(Kind.SQUAD);
    private static final Key<Integer> QUESTION_LENGTH = Key.whole(
                    "data.question_length",
                    "tokens that a question is cut to; with `stride` and three special tokens below `length`")
            .in(Range.atLeast(1))
            .otherwise(WindowPlan.DEFAULT.questionLength())
            .only(Kind.SQUAD);
    private static final Key<Double> LARGEST_UNKNOWN = Key.decimal(
                    "data.largest_unknown",
                    "a larger share of tokens that the vocabulary does not know, in any part, ends the training before it begins")
            .in(new Range<>("from 0 to 1", value -> value >= 0 && value <= 1))
            .otherwise(UnknownTokens.SUSPICIOUS)
            .changeable()
            .only(Kind.SQUAD);
    private static final Key<Double> VALIDATION_FRACTION = Key.decimal(
                    "data.validation_fraction",
                    "how much of the training part is set aside for validation; 0 to validate on the test part")
            .in(Range.fraction())
            .otherwise(0.0);
    private static final Key<Integer> TRAIN_LIMIT = Key.whole(
                    "data.train_limit",
                    "samples of the training part that are used at most, validation included; 0 for all")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Integer> TEST_LIMIT = Key.whole(
                    "data.test_limit", "test samples that are used at most; 0 for all")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Long> SPLIT_SEED = Key.longWhole(
                    "data.split_seed", "what the draw of held-out and limited samples depends on")
            .otherwise(Holdout.DEFAULT.seed());
    private static final Key<Integer> LOADERS = Key.whole("data.loaders", "threads that load ahead of training")
            .in(Range.atLeast(1))
            .otherwise(2)
            .changeable();

    static final Section<DataRecipe> SECTION = new Section<>(
            "data",
            List.of(
                    KIND,
                    DIR,
                    PATH,
                    NORMALIZE,
                    PADDING,
                    FLIP,
                    SIZE,
                    CHANNELS,
                    HEADER,
                    LABEL,
                    DELIMITER,
                    TEST_FRACTION,
                    TRAIN_FILE,
                    TEST_FILE,
                    LENGTH,
                    STRIDE,
                    QUESTION_LENGTH,
                    LARGEST_UNKNOWN,
                    VALIDATION_FRACTION,
                    TRAIN_LIMIT,
                    TEST_LIMIT,
                    SPLIT_SEED,
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

    /** Samples with a class each. */
    public sealed interface Labelled extends Source {
        /**
         * What is done to a sample on its way into a batch.
         *
         * @return the preparation
         */
        Preparation preparation();

        /**
         * The same in terms of the files.
         *
         * @param splitSeed what the draw of a test part depends on, where there is none
         * @return what loads them
         */
        DataSource dataSource(long splitSeed);
    }

    /**
     * What is done to a sample on its way into a batch.
     *
     * @param normalize whether channels, or columns of a table, are shifted and scaled
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
    public record Digits(Preparation preparation) implements Labelled {
        @Override
        public Kind kind() {
            return Kind.DIGITS;
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            return new DataSource.Digits();
        }
    }

    /**
     * CIFAR-10.
     *
     * @param dir the folder of its binary batches
     * @param preparation what is done to an image
     */
    public record Cifar10(String dir, Preparation preparation) implements Labelled {
        /** Checks the folder's name. */
        public Cifar10 {
            DIR.require(dir);
        }

        @Override
        public Kind kind() {
            return Kind.CIFAR10;
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            return new DataSource.Cifar10(Path.of(dir));
        }
    }

    /**
     * MNIST.
     *
     * @param dir the folder of its idx files
     * @param preparation what is done to an image
     */
    public record Mnist(String dir, Preparation preparation) implements Labelled {
        /** Checks the folder's name. */
        public Mnist {
            DIR.require(dir);
        }

        @Override
        public Kind kind() {
            return Kind.MNIST;
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            return new DataSource.Mnist(Path.of(dir));
        }
    }

    /**
     * Fashion-MNIST.
     *
     * @param dir the folder of its idx files
     * @param preparation what is done to an image
     */
    public record FashionMnist(String dir, Preparation preparation) implements Labelled {
        /** Checks the folder's name. */
        public FashionMnist {
            DIR.require(dir);
        }

        @Override
        public Kind kind() {
            return Kind.FASHION_MNIST;
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            return new DataSource.FashionMnist(Path.of(dir));
        }
    }

    /**
     * A folder for each class.
     *
     * @param dir the folder of these folders
     * @param size height and width that images are brought to
     * @param channels 1 for grey, 3 for colour
     * @param testFraction how much of each class is held out for the test
     * @param preparation what is done to an image
     */
    public record Images(String dir, int size, int channels, double testFraction, Preparation preparation)
            implements Labelled {
        /** Checks the arguments. */
        public Images {
            DIR.require(dir);
            SIZE.require(size);
            CHANNELS.require(channels);
            TEST_FRACTION.require(testFraction);
        }

        @Override
        public Kind kind() {
            return Kind.IMAGES;
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            SampleShape.Image shape = new SampleShape.Image(channels, size, size);
            return new DataSource.Images(Path.of(dir), shape, new Holdout(testFraction, splitSeed));
        }
    }

    /**
     * A table.
     *
     * @param path the file, or a folder with {@code train.csv} and perhaps {@code test.csv}
     * @param header whether the first line names the columns
     * @param label the column of labels: its name or its number
     * @param delimiter what stands between two columns: one character
     * @param testFraction how much of each class is held out for the test
     * @param normalize whether columns are shifted and scaled
     */
    public record Csv(
            String path, boolean header, String label, String delimiter, double testFraction, boolean normalize)
            implements Labelled {
        /** Checks the arguments. */
        public Csv {
            PATH.require(path);
            LABEL.require(label);
            DELIMITER.require(delimiter);
            TEST_FRACTION.require(testFraction);
        }

        @Override
        public Kind kind() {
            return Kind.CSV;
        }

        @Override
        public Preparation preparation() {
            return new Preparation(normalize, 0, false);
        }

        @Override
        public DataSource dataSource(long splitSeed) {
            Holdout holdout = new Holdout(testFraction, splitSeed);
            return new DataSource.Csv(Path.of(path), header, label, delimiter.charAt(0), holdout);
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
     * @param largestUnknown share of unknown tokens that no part may exceed
     */
    public record Squad(
            String dir,
            String trainFile,
            String testFile,
            int length,
            int stride,
            int questionLength,
            double largestUnknown)
            implements Source {
        /** Checks the arguments. */
        public Squad {
            DIR.require(dir);
            TRAIN_FILE.require(trainFile);
            TEST_FILE.require(testFile);
            LENGTH.require(length);
            STRIDE.require(stride);
            QUESTION_LENGTH.require(questionLength);
            LARGEST_UNKNOWN.require(largestUnknown);
            if ((long) stride + questionLength + WindowPlan.SPECIAL >= length) {
                throw new IllegalArgumentException(
                        "data.stride = %d, data.question_length = %d and %d special tokens must add up to less than data.length = %d"
                                .formatted(stride, questionLength, WindowPlan.SPECIAL, length));
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
            case FASHION_MNIST -> new FashionMnist(values.of(DIR), Preparation.from(values));
            case IMAGES ->
                new Images(
                        values.of(DIR),
                        values.of(SIZE),
                        values.of(CHANNELS),
                        values.of(TEST_FRACTION),
                        Preparation.from(values));
            case CSV ->
                new Csv(
                        values.of(PATH),
                        values.of(HEADER),
                        values.of(LABEL),
                        values.of(DELIMITER),
                        values.of(TEST_FRACTION),
                        values.of(NORMALIZE));
            case SQUAD ->
                new Squad(
                        values.of(DIR),
                        values.of(TRAIN_FILE),
                        values.of(TEST_FILE),
                        values.of(LENGTH),
                        values.of(STRIDE),
                        values.of(QUESTION_LENGTH),
                        values.of(LARGEST_UNKNOWN));
        };
        return new DataRecipe(
                source,
                values.of(VALIDATION_FRACTION),
                values.of(TRAIN_LIMIT),
                values.of(TEST_LIMIT),
                values.of(SPLIT_SEED),
                values.of(LOADERS));
    }

    private Values values() {
        Values values = new Values().with(KIND, source.kind());
        switch (source) {
            case Digits(Preparation preparation) -> preparation.into(values);
            case Cifar10(String dir, Preparation preparation) -> preparation.into(values.with(DIR, dir));
            case Mnist(String dir, Preparation preparation) -> preparation.into(values.with(DIR, dir));
            case FashionMnist(String dir, Preparation preparation) -> preparation.into(values.with(DIR, dir));
            case Images images -> {
                values.with(DIR, images.dir)
                        .with(SIZE, images.size)
                        .with(CHANNELS, images.channels)
                        .with(TEST_FRACTION, images.testFraction);
                images.preparation.into(values);
            }
            case Csv csv ->
                values.with(PATH, csv.path)
                        .with(HEADER, csv.header)
                        .with(LABEL, csv.label)
                        .with(DELIMITER, csv.delimiter)
                        .with(TEST_FRACTION, csv.testFraction)
                        .with(NORMALIZE, csv.normalize);
            case Squad squad ->
                values.with(DIR, squad.dir)
                        .with(TRAIN_FILE, squad.trainFile)
                        .with(TEST_FILE, squad.testFile)
                        .with(LENGTH, squad.length)
                        .with(STRIDE, squad.stride)
                        .with(QUESTION_LENGTH, squad.questionLength)
                        .with(LARGEST_UNKNOWN, squad.largestUnknown);
        }
        return values.with(VALIDATION_FRACTION, validationFraction)
                .with(TRAIN_LIMIT, trainLimit)
                .with(TEST_LIMIT, testLimit)
                .with(SPLIT_SEED, splitSeed)
                .with(LOADERS, loaders);
    }
}
