package dev.espalier.data;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Cuts one data set into two: from each class the same fraction, drawn with a seed, is held out. Both parts keep the order of the
 * rows. The same seed gives the same parts on every machine. What stands in for classes where there are none, and which
 * rows stay together, {@link Strata} says.
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
     * Two parts of a data set.
     *
     * @param kept what is left to learn from
     * @param held what is held out
     */
    public record Cut(Dataset kept, Dataset held) {}

    /**
     * Cuts a data set.
     *
     * @param all what to cut; the parts look into it
     * @return the parts
     */
    public Cut of(Dataset all) {
        return cut(all, all.name() + " train", all.name() + " test");
    }

    /**
     * Cuts a part for validation off a training part.
     *
     * @param train what to cut; the parts look into it
     * @return what is left to learn from, and what to validate with
     */
    public Cut validationOf(Dataset train) {
        return cut(train, train.name(), train.name() + " validation");
    }

    private Cut cut(Dataset all, String keptName, String heldName) {
        boolean[] held = new boolean[all.size()];
        for (List<Strata.Block> blocks : new Strata(all).shuffled(seed)) {
            // A class always keeps something to be learnt from.
            int count = Math.clamp(Math.round(fraction * blocks.size()), 0, Math.max(0, blocks.size() - 1));
            for (Strata.Block block : blocks.subList(0, count)) {
                for (int row : block.rows()) {
                    held[row] = true;
                }
            }
        }
        return new Cut(part(keptName, all, held, false), part(heldName, all, held, true));
    }

    private Dataset part(String name, Dataset all, boolean[] held, boolean wanted) {
        int[] rows = IntStream.range(0, held.length)
                .filter(row -> held[row] == wanted)
                .toArray();
        if (rows.length == 0) {
            throw new IllegalArgumentException(
                    "%s has too few samples of each class to hold out %s of them: give more samples or a larger fraction"
                            .formatted(all.name(), fraction));
        }
        return all.rows(rows).named(name);
    }
}
