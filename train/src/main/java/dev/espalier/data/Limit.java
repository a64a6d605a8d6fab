package dev.espalier.data;

import dev.espalier.check.Check;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Picks some samples of a data set, for a quick trial: of each class the same share, as nearly as whole samples allow
 * (Sainte-Laguë's apportionment), drawn with a seed. They keep their order, and a smaller limit picks some of what a larger
 * one does.
 *
 * @param most how many samples are picked; all if there are not more
 * @param seed what the draw depends on
 */
public record Limit(int most, long seed) {
    /** Checks the number. */
    public Limit {
        Check.atLeast("most", most, 1);
    }

    /**
     * Picks samples.
     *
     * @param all what to pick from; what is picked looks into it
     * @return the same data set if it is small enough, otherwise one of the limit's size
     */
    public Dataset of(Dataset all) {
        if (all.size() <= most) {
            return all;
        }
        double[] turns = turns(all);
        int[] picked = IntStream.range(0, all.size())
                .boxed()
                .sorted(Comparator.comparingDouble(sample -> turns[sample]))
                .limit(most)
                .mapToInt(Integer::intValue)
                .sorted()
                .toArray();
        return Samples.some(all.name(), all, picked);
    }

    /** When each sample is picked: the i-th of the n of a class at (i + ½) / n. */
    private double[] turns(Dataset all) {
        double[] turns = new double[all.size()];
        List<int[]> classes = Samples.byClass(all);
        for (int label = 0; label < classes.size(); label++) {
            int[] samples = classes.get(label);
            new Draws(seed, label).shuffle(samples);
            for (int i = 0; i < samples.length; i++) {
                turns[samples[i]] = (i + 0.5) / samples.length;
            }
        }
        return turns;
    }
}
