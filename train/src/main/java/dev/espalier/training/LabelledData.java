package dev.espalier.training;

import dev.espalier.data.DataSplit;
import dev.espalier.data.Dataset;
import dev.espalier.data.Datasets;
import dev.espalier.data.Holdout;
import dev.espalier.data.Limit;
import dev.espalier.data.Normalization;
import dev.espalier.data.Preprocessing;
import dev.espalier.data.SampleShape;
import dev.espalier.recipe.DataRecipe;
import java.io.IOException;
import java.util.Optional;

/**
 * The samples of a run. All parts have the same shape and the same classes.
 *
 * @param train what the model learns from
 * @param validation what it is watched by while it learns; the test part itself, if the recipe sets nothing aside
 * @param test what it is judged by in the end
 * @param preprocessing what is done to a training sample; to judge, leave out its augmentation
 */
public record LabelledData(Dataset train, Dataset validation, Dataset test, Preprocessing preprocessing) {
    /** Checks that the parts fit each other. */
    public LabelledData {
        new DataSplit(train, validation);
        new DataSplit(train, test);
    }

    /**
     * Loads what a recipe names. First both parts are limited, then validation is cut off the training part, then the
     * normalisation is found: CIFAR-10's usual one, or that of what is left to learn from.
     *
     * @param recipe which data
     * @return all of it, in memory
     * @throws IOException if a file cannot be read, or is not what it should be
     * @throws IllegalArgumentException if the data has no labels, or is too little to be cut
     */
    public static LabelledData load(DataRecipe recipe) throws IOException {
        return switch (recipe.source()) {
            case DataRecipe.Labelled source -> load(recipe, source);
            case DataRecipe.Squad _ ->
                throw new IllegalArgumentException("data.kind = squad has answers instead of classes:"
                        + " choose digits, cifar10, mnist, fashion-mnist, images or csv");
        };
    }

    private static LabelledData load(DataRecipe recipe, DataRecipe.Labelled source) throws IOException {
        long seed = recipe.splitSeed();
        DataSplit all = Datasets.load(source.dataSource(seed));
        Dataset train = limited(all.train(), recipe.trainLimit(), seed);
        Dataset test = limited(all.test(), recipe.testLimit(), seed);
        // Another fraction than zero makes another split, whose second part is for validation.
        DataSplit cut = recipe.validationFraction() == 0
                ? new DataSplit(train, test)
                : new Holdout(recipe.validationFraction(), seed).validationOf(train);
        return new LabelledData(cut.train(), cut.test(), test, preprocessing(source, cut.train()));
    }

    private static Dataset limited(Dataset part, int limit, long seed) {
        return limit == 0 ? part : new Limit(limit, seed).of(part);
    }

    private static Preprocessing preprocessing(DataRecipe.Labelled source, Dataset train) {
        DataRecipe.Preparation preparation = source.preparation();
        Optional<Normalization> normalization =
                preparation.normalize() ? Optional.of(normalization(source, train)) : Optional.empty();
        return new Preprocessing(normalization, preparation.padding(), preparation.flip());
    }

    private static Normalization normalization(DataRecipe.Labelled source, Dataset train) {
        return switch (source) {
            case DataRecipe.Cifar10 _ -> Normalization.CIFAR10;
            case DataRecipe.Digits _,
                    DataRecipe.Mnist _,
                    DataRecipe.FashionMnist _,
                    DataRecipe.Images _,
                    DataRecipe.Csv _ -> Normalization.of(train);
        };
    }

    /**
     * The shape of a sample.
     *
     * @return an image or a vector
     */
    public SampleShape shape() {
        return train.shape();
    }

    /**
     * The number of classes.
     *
     * @return at least 2
     */
    public int classes() {
        return train.classNames().size();
    }
}
