package dev.espalier.train.recipe;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.util.List;

/**
 * When a training counts as diverged; a loss that is not a number always does.
 *
 * @param largestLoss the largest loss that goes on
 * @param chanceEpochs evaluations in a row that are no better than without learning; 0 for any number
 */
public record DivergenceRecipe(double largestLoss, int chanceEpochs) {

    private static final Key<Double> LARGEST_LOSS = Key.decimal(
                    "divergence.largest_loss", "a larger mean loss of an epoch ends the training")
            .in(Range.positive())
            .withDefault(1e4);
    private static final Key<Integer> CHANCE_EPOCHS = Key.whole(
                    "divergence.chance_epochs",
                    "so many evaluations in a row that are no better than without learning end the training; 0 for no such limit")
            .in(Range.atLeast(0))
            .withDefault(5);

    static final Section SECTION = Section.of("divergence", List.of(LARGEST_LOSS, CHANCE_EPOCHS));

    static DivergenceRecipe of(Values values) {
        return new DivergenceRecipe(values.of(LARGEST_LOSS), values.of(CHANCE_EPOCHS));
    }
}
