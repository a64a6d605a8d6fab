package dev.espalier.data;

import dev.espalier.settings.Values;
import java.util.List;

/**
 * The rows of a run, and what was learned about them. The parts hold what the files hold; {@link #batches} and
 * {@link #evaluation} make of it what models are given. They are not encoded beforehand, since chance comes first: a crop has
 * black beyond its border, and only the encoding knows what becomes of black.
 *
 * @param train what the model learns from
 * @param validation what it is watched by while it learns; the test part itself, if nothing is set aside
 * @param test what it is judged by in the end
 * @param encoding how rows become the model's inputs
 * @param augmentation what is done at random to a training row
 * @param notes what a user should know of the data, a sentence each
 * @param companion what belongs beside a model of it
 */
public record LoadedData(
        Dataset train,
        Dataset validation,
        Dataset test,
        Encoding encoding,
        Augmentation augmentation,
        List<String> notes,
        Companion companion) {
    /** Checks that the parts fit each other. */
    public LoadedData {
        train.requireAlike(validation);
        train.requireAlike(test);
        notes = List.copyOf(notes);
    }

    /**
     * Cuts what a kind opened, by the keys that all kinds have. Where there is no test part, one is held out by
     * {@code data.test_fraction}. Then both parts are limited, then validation is cut off the training part, then the kind learns
     * the encoding from what is left.
     *
     * @param kind the kind
     * @param values the section's values
     * @param parts what it opened
     * @return the parts of a run
     * @throws IllegalArgumentException if there is too little to be cut
     */
    public static LoadedData cut(DataKind kind, Values values, Parts parts) {
        long seed = values.of(DataSection.SPLIT_SEED);
        Holdout.Cut all = parts.test()
                .map(test -> new Holdout.Cut(parts.train(), test))
                .orElseGet(() -> new Holdout(testFraction(values), seed).of(parts.train()));
        Dataset train = limited(all.kept(), values.of(DataSection.TRAIN_LIMIT), seed);
        Dataset test =
                limited(all.held(), values.of(DataSection.TEST_LIMIT), seed).byLength();
        double fraction = values.of(DataSection.VALIDATION_FRACTION);
        Holdout.Cut cut =
                fraction == 0 ? new Holdout.Cut(train, test) : new Holdout(fraction, seed).validationOf(train);
        return new LoadedData(
                cut.kept(),
                fraction == 0 ? test : cut.held().byLength(),
                test,
                kind.encoding(values, cut.kept()),
                kind.augmentation(values),
                parts.notes(),
                parts.companion());
    }

    private static double testFraction(Values values) {
        return values.has(DataSection.TEST_FRACTION)
                ? values.of(DataSection.TEST_FRACTION)
                : Holdout.DEFAULT.fraction();
    }

    private static Dataset limited(Dataset part, int limit, long seed) {
        return limit == 0 ? part : new Limit(limit, seed).of(part);
    }

    /**
     * The same rows, read otherwise.
     *
     * @param other how rows become the model's inputs and targets
     * @return the data
     */
    public LoadedData withEncoding(Encoding other) {
        return new LoadedData(train, validation, test, other, augmentation, notes, companion);
    }

    /**
     * What a model learns from, and how it looks to the model.
     *
     * @return the inputs, encoded
     */
    public List<Field> inputs() {
        return encoding.inputFields();
    }

    /**
     * What the model is to say.
     *
     * @return the targets, encoded
     */
    public List<Field> targets() {
        return encoding.targetFields();
    }

    /**
     * Refuses data without labels.
     *
     * @param task what needs them, such as {@code task.kind = regression}
     * @throws IllegalArgumentException if there are no targets; the message says what to change
     */
    public void requireTargets(String task) {
        if (encoding.targets().isEmpty()) {
            throw new IllegalArgumentException(
                    "%s needs labels to learn from, but %s has none: set data.labelled = true and say where they are, or task.kind = \"imitation\" to learn a model's own answers"
                            .formatted(task, train.name()));
        }
    }

    /**
     * The training part in batches, with chance in it.
     *
     * @param plan how rows make batches
     * @param first the first batch to give
     * @param epochs the epoch to stop before
     * @return the batches; to be closed
     */
    public Batches batches(BatchPlan plan, BatchPosition first, long epochs) {
        return new Batches(train, encoding, augmentation, plan, first, epochs);
    }

    /**
     * One pass over a part, in order and without chance: what a model is judged with.
     *
     * @param part one of the three
     * @param batchSize the number of rows in a batch
     * @return all batches; to be closed
     */
    public Batches evaluation(Dataset part, int batchSize) {
        return Batches.evaluation(part, encoding, batchSize);
    }
}
