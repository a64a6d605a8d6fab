package dev.espalier.train.run;

import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Evaluation;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/** Notices that a training goes nowhere, and says so. */
final class Divergence {
    private final Recipe recipe;
    private final double chance;
    private final long[] evaluationsAtChance = new long[1];

    Divergence(Recipe recipe, double chance) {
        this.recipe = recipe;
        this.chance = chance;
    }

    /** The loss of one batch. */
    void requireFinite(double loss, long step) {
        if (!Double.isFinite(loss)) {
            throw new DivergedException("the loss is %s in step %d: lower optimizer.rate = %s%s"
                    .formatted(loss, step, recipe.optimizer().rate(), clipping()));
        }
    }

    private String clipping() {
        return recipe.training().clipNorm() == 0 ? ", or set training.clip_norm (to 1, say)" : "";
    }

    /** After an evaluation: the mean loss since the one before, and what was found. */
    void check(double trainLoss, Evaluation evaluation, long step) {
        double largest = recipe.divergence().largestLoss();
        if (!(trainLoss <= largest)) {
            throw new DivergedException(
                    "the mean loss is %s after step %d: it is above divergence.largest_loss = %s; lower optimizer.rate = %s%s"
                            .formatted(
                                    trainLoss, step, largest, recipe.optimizer().rate(), clipping()));
        }
        evaluationsAtChance[0] = isAtChance(evaluation) ? evaluationsAtChance[0] + 1 : 0;
        int most = recipe.divergence().chanceEpochs();
        if (most > 0 && evaluationsAtChance[0] >= most) {
            throw new DivergedException(String.format(
                    Locale.ROOT,
                    "%s is %.3f, no better than chance (%.3f), in %d evaluations in a row: lower optimizer.rate = %s, or"
                            + " penalty.lambda if there is one; divergence.chance_epochs = 0 trains on",
                    evaluation.main().getKey(),
                    evaluation.main().getValue(),
                    chance,
                    most,
                    recipe.optimizer().rate()));
        }
    }

    /** Within two standard errors. */
    private boolean isAtChance(Evaluation evaluation) {
        double error = Math.sqrt(chance * (1 - chance) / evaluation.samples());
        return evaluation.main().getValue() <= chance + 2 * error;
    }

    MemorySegment memory() {
        return MemorySegment.ofArray(evaluationsAtChance);
    }
}
