package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.train.recipe.Recipe;
import java.util.ArrayList;
import java.util.List;

/**
 * Successive halving: after so many epochs only the best go on, after some more only the best of these. All are looked at when all have come
 * as far, so that who goes on depends on no clock. What counts is the main score of the evaluation in training, which does not look at the
 * test part where the data has a validation part; over seeds, its mean.
 *
 * @param first the epoch after which it begins
 * @param factor of how many one goes on, and how many times later the next look is
 */
public record Halving(int first, int factor) {
    /** Checks the numbers. */
    public Halving {
        Check.atLeast("halving.first", first, 1);
        Check.atLeast("halving.factor", factor, 2);
    }

    /**
     * {@return after which epochs the worst are left behind}
     *
     * @param epochs how many a whole training has
     * @param branches how many begin
     */
    public List<Integer> rungs(int epochs, int branches) {
        List<Integer> rungs = new ArrayList<>();
        int left = branches;
        for (long epoch = first; epoch < epochs && left > 1; epoch *= factor) {
            rungs.add((int) epoch);
            left = survivors(left);
        }
        return rungs;
    }

    /**
     * {@return how many go on}
     *
     * @param branches how many there are
     */
    public int survivors(int branches) {
        return Math.ceilDiv(branches, factor);
    }

    /** Refuses trainings that are not evaluated when they are to be compared. */
    void requireFits(Recipe recipe) {
        if (first % recipe.evaluation().every() != 0) {
            throw new IllegalArgumentException(
                    "halving.first = %d: after that epoch nothing is evaluated, as evaluation.every is %d; make it a multiple"
                            .formatted(first, recipe.evaluation().every()));
        }
    }
}
