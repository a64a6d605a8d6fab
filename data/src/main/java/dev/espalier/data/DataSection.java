package dev.espalier.data;

import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The section {@code [data]} of settings: all kinds of data that are on the class path, and the keys that several have. */
public final class DataSection {
    /** {@code data.validation_fraction}. */
    public static final Key<Double> VALIDATION_FRACTION = Key.decimal(
                    "data.validation_fraction",
                    "how much of the training part is set aside for validation; 0 to validate on the test part")
            .in(Range.fraction())
            .withDefault(0.0);
    /** {@code data.train_limit}. */
    public static final Key<Integer> TRAIN_LIMIT = Key.whole(
                    "data.train_limit",
                    "samples of the training part that are used at most, validation included; 0 for all")
            .in(Range.atLeast(0))
            .withDefault(0);
    /** {@code data.test_limit}. */
    public static final Key<Integer> TEST_LIMIT = Key.whole(
                    "data.test_limit", "test samples that are used at most; 0 for all")
            .in(Range.atLeast(0))
            .withDefault(0);
    /** {@code data.split_seed}. */
    public static final Key<Long> SPLIT_SEED = Key.longWhole(
                    "data.split_seed", "what the draw of held-out and limited samples depends on")
            .withDefault(Holdout.DEFAULT.seed());
    /** {@code data.loaders}. */
    public static final Key<Integer> LOADERS = Key.whole("data.loaders", "threads that load ahead of training")
            .in(Range.atLeast(1))
            .withDefault(2)
            .changeable();

    /** {@code data.dir}, of kinds that are folders of files. */
    public static final Key<String> DIR = Key.location(
                    "data.dir", "the folder of its files, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();
    /** {@code data.normalize}, of kinds of numbers. */
    public static final Key<Boolean> NORMALIZE = Key.flag(
                    "data.normalize",
                    "whether each channel, or column of a table, is shifted to mean 0 and scaled to deviation 1")
            .withDefault(true);
    /** {@code data.mean}, of kinds of images. */
    public static final Key<List<Double>> MEAN = Key.decimals(
                    "data.mean",
                    "what a model that was trained before expects to be subtracted from red, green and blue, from 0 to `white`;"
                            + " if empty, `normalize` decides")
            .in(new Range<>("none below 0", means -> means.stream().allMatch(mean -> mean >= 0)))
            .withDefault(List.of());
    /** {@code data.std}, of kinds of images. */
    public static final Key<List<Double>> STD = Key.decimals(
                    "data.std", "what each channel is then divided by; as many numbers as `mean` has")
            .in(new Range<>("all above 0", deviations -> deviations.stream().allMatch(deviation -> deviation > 0)))
            .withDefault(List.of());
    /** {@code data.white}, of kinds of images. */
    public static final Key<Double> WHITE = Key.decimal(
                    "data.white",
                    "what white is before `mean` is subtracted, where black is 0: 255 for a model that takes pixels as files have them")
            .in(Range.positive())
            .withDefault(1.0);
    /** {@code data.channels_last}, of kinds of images. */
    public static final Key<Boolean> CHANNELS_LAST = Key.flag(
                    "data.channels_last",
                    "whether the model takes height, width and channels in this order, instead of channels, height and width")
            .withDefault(false);
    /** {@code data.blue_first}, of kinds of images. */
    public static final Key<Boolean> BLUE_FIRST = Key.flag(
                    "data.blue_first", "whether the model takes blue, green and red in this order")
            .withDefault(false);
    /** {@code data.padding}, of kinds of images. */
    public static final Key<Integer> PADDING = Key.whole(
                    "data.padding", "black pixels around a training image before a random crop; 0 for no crop")
            .in(Range.atLeast(0))
            .withDefault(0);
    /** {@code data.flip}, of kinds of images. */
    public static final Key<Boolean> FLIP = Key.flag(
                    "data.flip", "whether every other training image, at random, is mirrored")
            .withDefault(false);
    /** {@code data.cutout}, of kinds of images. */
    public static final Key<Integer> CUTOUT = Key.whole(
                    "data.cutout",
                    "the side of a square that is blackened in every training image, at a random place; 0 for none")
            .in(Range.atLeast(0))
            .withDefault(0);
    /** {@code data.label_type}, of kinds whose labels could be classes or numbers. */
    public static final Key<LabelType> LABEL_TYPE = Key.choice(
                    "data.label_type",
                    LabelType.class,
                    "whether labels are classes or numbers; by default what `task.kind` says, and if that is `auto`, many different fractions are"
                            + " numbers, many different whole numbers that occur rarely too, and all else is classes")
            .withDefault(LabelType.AUTO);
    /** {@code data.labelled}, of kinds that can do without labels. */
    public static final Key<Boolean> LABELLED = Key.flag(
                    "data.labelled",
                    "whether rows have labels; false for inputs alone, which are enough where a model learns from another one's answers")
            .withDefault(true);
    /** {@code data.test_fraction}, of kinds that may have no test part. */
    public static final Key<Double> TEST_FRACTION = Key.decimal(
                    "data.test_fraction",
                    "how much of each class is held out for the test, where there is no test part")
            .in(Range.betweenZeroAndOne())
            .withDefault(Holdout.DEFAULT.fraction());

    /** All kinds, our own and those of others. */
    public static final Kinds<DataKind> KINDS = Kinds.found(ServiceLoader.load(DataKind.class));

    /** The section. */
    public static final Section SECTION = Section.of(
            "data",
            "which data",
            KINDS,
            Optional.empty(),
            List.of(VALIDATION_FRACTION, TRAIN_LIMIT, TEST_LIMIT, SPLIT_SEED, LOADERS));

    private DataSection() {}

    /**
     * {@return whether rows have labels}
     *
     * @param values the section's values
     */
    public static boolean isLabelled(Values values) {
        return !values.has(LABELLED) || values.of(LABELLED);
    }

    /**
     * {@return what is done at random to training images}
     *
     * @param values the section's values, of a kind of images
     */
    public static ImageAugmentation imageAugmentation(Values values) {
        return new ImageAugmentation(values.of(PADDING), values.of(FLIP), values.of(CUTOUT));
    }

    /**
     * Reads a section by itself, for programs that have no recipe.
     *
     * @param settings such as {@code data.kind=csv}, {@code data.path=table.csv}
     * @return the values
     * @throws dev.espalier.settings.SettingsException if they cannot be followed
     */
    public static Values read(String... settings) {
        return new Form("section", List.of(SECTION), List.of())
                .parse("[data]", "", List.of(settings))
                .section(SECTION);
    }

    /**
     * Loads the data.
     *
     * @param values the section's values
     * @param context who is told, and what the model has
     * @return the parts of a run
     * @throws IOException if a file cannot be read, or is not what it should be
     * @throws IllegalArgumentException if the data is too little to be cut
     */
    public static LoadedData load(Values values, Context context) throws IOException {
        return KINDS.of(values).load(values, context);
    }
}
