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
 * @param judged samples of the test part that ONNX Runtime is asked about in the end; 0 for all
 */
public record EvaluationRecipe(int every, int batchSize, int judged) {

    private static final Key<Integer> EVERY = Key.whole(
                    "evaluation.every", "after how many epochs, again and again; always after the last")
            .in(Range.atLeast(1))
            .withDefault(1);
    private static final Key<Integer> BATCH_SIZE = Key.whole(
                    "evaluation.batch_size", "samples that are computed at once")
            .in(Range.atLeast(1))
            .withDefault(256);
    private static final Key<Integer> JUDGED = Key.whole(
                    "evaluation.judged",
                    "samples of the test part that ONNX Runtime is asked about in the end, on the processor; if the network says the"
                            + " same of these, its word is taken for the rest, which a GPU makes fast; 0 for all")
            .in(Range.atLeast(0))
            .withDefault(0)
            .changeable();

    /** The section {@code [evaluation]}. */
    public static final Section SECTION = Section.of("evaluation", List.of(EVERY, BATCH_SIZE, JUDGED));

    /**
     * What the section says.
     *
     * @param values its values
     * @return how a model is judged
     */
    public static EvaluationRecipe of(Values values) {
        return new EvaluationRecipe(values.of(EVERY), values.of(BATCH_SIZE), values.of(JUDGED));
    }
}
