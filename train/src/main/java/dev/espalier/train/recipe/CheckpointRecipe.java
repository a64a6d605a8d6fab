package dev.espalier.train.recipe;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
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
            .withDefault(500)
            .changeable();
    private static final Key<Integer> KEEP = Key.whole("checkpoint.keep", "how many of the last checkpoints stay")
            .in(Range.atLeast(1))
            .withDefault(2)
            .changeable();

    static final Section SECTION = Section.of("checkpoint", List.of(EVERY, KEEP));

    static CheckpointRecipe of(Values values) {
        return new CheckpointRecipe(values.of(EVERY), values.of(KEEP));
    }
}
