package dev.espalier.data;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Cuts one data set into two: from each class the same fraction, drawn with a seed, is held out for the test. Both parts
 * keep the order of the samples. The same seed gives the same parts on every machine.
 *
 * @param fraction how much of each class is held out, above 0 and below 1
 * @param seed what the draw depends on
 */
public record Holdout(double fraction, long seed) {
    /** What is held out unless somebody says otherwise: a fifth, by the seed 1. */
    public static final Holdout DEFAULT = new Holdout(0.2, 1);

    /** Checks the fraction. */
    public Holdout {
        if (!(fraction > 0 && fraction < 1)) {
            throw new IllegalArgumentException(
                    "fraction = " + fraction + " is out of range: it must be above 0 and below 1");
        }
    }

    /**
     * Cuts a data set.
     *
     * @param all what to cut; the parts look into it
     * @return the parts
     */
    public DataSplit of(Dataset all) {
        return cut(all, all.name() + " train", all.name() + " test");
    }

    /**
     * Cuts a part for validation off a training part.
     *
     * @param train what to cut; the parts look into it
     * @return what is left to learn from, and what to validate with
     */
    public DataSplit validationOf(Dataset train) {
        return cut(train, train.name(), train.name() + " validation");
    }

    private DataSplit cut(Dataset all, String keptName, String heldName) {
        boolean[] held = new boolean[all.size()];
        List<int[]> classes = Samples.byClass(all);
        for (int label = 0; label < classes.size(); label++) {
            int[] samples = classes.get(label);
            new Draws(seed, label).shuffle(samples);
            // A class always keeps one sample to be learnt from.
            int count = Math.min((int) Math.round(fraction * samples.length), samples.length - 1);
            for (int i = 0; i < count; i++) {
                held[samples[i]] = true;
            }
        }
        return new DataSplit(part(keptName, all, held, false), part(heldName, all, held, true));
    }

    /** Cuts what was read from a file or folder: that there is too little of it is a fault of the data. */
    DataSplit of(Dataset all, Path source) throws DataException {
        try {
            return of(all);
        } catch (IllegalArgumentException tooFew) {
            throw DataException.in(source, String.valueOf(tooFew.getMessage()), tooFew);
        }
    }

    private Dataset part(String name, Dataset all, boolean[] held, boolean wanted) {
        int[] samples = IntStream.range(0, held.length)
                .filter(sample -> held[sample] == wanted)
                .toArray();
        if (samples.length == 0) {
            throw new IllegalArgumentException(
                    "%s has too few samples of each class to hold out %s of them: give more samples or a larger fraction"
                            .formatted(all.name(), fraction));
        }
        return Samples.some(name, all, samples);
    }
}
