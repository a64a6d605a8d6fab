package dev.espalier.train.recipe;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.util.List;

/**
 * How a model is judged.
 *
 * @param every after how many epochs, and after the last
 * @param batchSize samples that are computed at once
 */
public record EvaluationRecipe(int every, int batchSize) {

    private static final Key<Integer> EVERY = Key.whole(
                    "evaluation.every", "after how many epochs, again and again; always after the last")
            .in(Range.atLeast(1))
            .withDefault(1);
    private static final Key<Integer> BATCH_SIZE = Key.whole(
                    "evaluation.batch_size", "samples that are computed at once")
            .in(Range.atLeast(1))
            .withDefault(256);

    /** The section {@code [evaluation]}. */
    public static final Section SECTION = Section.of("evaluation", List.of(EVERY, BATCH_SIZE));

    /**
     * What the section says.
     *
     * @param values its values
     * @return how a model is judged
     */
    public static EvaluationRecipe of(Values values) {
        return new EvaluationRecipe(values.of(EVERY), values.of(BATCH_SIZE));
    }
}
