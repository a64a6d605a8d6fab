package dev.espalier.train.recipe;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import dev.espalier.squad.AnswerSearch;
import java.util.List;

/**
 * How a model is judged.
 *
 * @param every after how many epochs, and after the last
 * @param batchSize samples that are computed at once
 * @param best for answers: how many starts and ends are combined
 * @param answerLength for answers: how many tokens one has at most
 */
public record EvaluationRecipe(int every, int batchSize, int best, int answerLength) {

    private static final Key<Integer> EVERY = Key.whole(
                    "evaluation.every", "after how many epochs, again and again; always after the last")
            .in(Range.atLeast(1))
            .otherwise(1);
    private static final Key<Integer> BATCH_SIZE = Key.whole(
                    "evaluation.batch_size", "samples that are computed at once")
            .in(Range.atLeast(1))
            .otherwise(256);
    private static final Key<Integer> BEST = Key.whole(
                    "evaluation.best", "SQuAD only: how many of the likeliest starts and ends are combined")
            .in(Range.atLeast(1))
            .otherwise(AnswerSearch.DEFAULT.best());
    private static final Key<Integer> ANSWER_LENGTH = Key.whole(
                    "evaluation.answer_length", "SQuAD only: tokens that an answer has at most")
            .in(Range.atLeast(1))
            .otherwise(AnswerSearch.DEFAULT.answerLength());

    /** The section {@code [evaluation]}. */
    public static final Section SECTION = Section.of("evaluation", List.of(EVERY, BATCH_SIZE, BEST, ANSWER_LENGTH));

    /**
     * What the section says.
     *
     * @param values its values
     * @return how a model is judged
     */
    public static EvaluationRecipe of(Values values) {
        return new EvaluationRecipe(values.of(EVERY), values.of(BATCH_SIZE), values.of(BEST), values.of(ANSWER_LENGTH));
    }
}
