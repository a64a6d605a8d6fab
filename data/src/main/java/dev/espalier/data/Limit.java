package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Picks some rows of a data set, for a quick trial: of each class the same share, as nearly as whole blocks of rows allow
 * (Sainte-Laguë's apportionment), drawn with a seed. They keep their order, and a smaller limit picks some of what a larger
 * one does. What stands in for classes where there are none, and which rows stay together, {@link Strata} says.
 *
 * @param most how many rows are picked at most, but always one block; all if there are not more
 * @param seed what the draw depends on
 */
record Limit(int most, long seed) {
    /** Checks the number. */
    public Limit {
        Check.atLeast("most", most, 1);
    }

    /** A block, and when it is picked. */
    private record Turn(double at, Strata.Block block) {
        int firstRow() {
            return block.rows()[0];
        }
    }

    /**
     * Picks rows.
     *
     * @param all what to pick from; what is picked looks into it
     * @return the same data set if it is small enough, otherwise one of the limit's size
     */
    public Dataset of(Dataset all) {
        if (all.size() <= most) {
            return all;
        }
        List<int[]> picked = new ArrayList<>();
        int count = 0;
        for (Turn turn : turns(all)) {
            count += turn.block.rows().length;
            if (count > most && !picked.isEmpty()) {
                break;
            }
            picked.add(turn.block.rows());
        }
        return all.rows(picked.stream().flatMapToInt(IntStream::of).sorted().toArray());
    }

    /** The i-th block of the n of a stratum is picked at (i + ½) / n. */
    private List<Turn> turns(Dataset all) {
        List<Turn> turns = new ArrayList<>();
        for (List<Strata.Block> blocks : new Strata(all).shuffled(seed)) {
            for (int i = 0; i < blocks.size(); i++) {
                turns.add(new Turn((i + 0.5) / blocks.size(), blocks.get(i)));
            }
        }
        turns.sort(Comparator.comparingDouble(Turn::at).thenComparingInt(Turn::firstRow));
        return turns;
    }
}
