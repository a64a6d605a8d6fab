package dev.espalier.recipe;

import java.util.List;

/**
 * When the state of a training is written down.
 *
 * @param every after how many steps
 * @param keep how many of the last checkpoints stay
 */
public record CheckpointRecipe(int every, int keep) {

    private static final Key<Integer> EVERY = Key.whole("checkpoint.every", "after how many steps, again and again")
            .in(Range.atLeast(1))
            .otherwise(500);
    private static final Key<Integer> KEEP = Key.whole("checkpoint.keep", "how many of the last checkpoints stay")
            .in(Range.atLeast(1))
            .otherwise(2);

    static final Section<CheckpointRecipe> SECTION =
            new Section<>("checkpoint", List.of(EVERY, KEEP), CheckpointRecipe::from, CheckpointRecipe::values);

    /** Checks the numbers. */
    public CheckpointRecipe {
        EVERY.require(every);
        KEEP.require(keep);
    }

    private static CheckpointRecipe from(Values values) {
        return new CheckpointRecipe(values.of(EVERY), values.of(KEEP));
    }

    private Values values() {
        return new Values().with(EVERY, every).with(KEEP, keep);
    }
}
