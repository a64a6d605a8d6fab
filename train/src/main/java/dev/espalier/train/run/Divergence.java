package dev.espalier.train.run;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Evaluation;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;

/** Notices that a training goes nowhere, and says so. */
final class Divergence {
    private final Recipe recipe;
    private final OptionalDouble baseline;
    private final long[] evaluationsAtBaseline = new long[1];

    Divergence(Recipe recipe, OptionalDouble baseline) {
        this.recipe = recipe;
        this.baseline = baseline;
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
        evaluationsAtBaseline[0] = isAtBaseline(evaluation) ? evaluationsAtBaseline[0] + 1 : 0;
        int most = recipe.divergence().chanceEpochs();
        if (most > 0 && evaluationsAtBaseline[0] >= most) {
            Metric metric = evaluation.main().getKey();
            throw new DivergedException(
                    "%s is %s, no better than without learning (%s), in %d evaluations in a row: lower optimizer.rate = %s, or"
                                    .formatted(
                                            metric.words(),
                                            metric.write(evaluation.main().getValue()),
                                            metric.write(baseline.orElseThrow()),
                                            most,
                                            recipe.optimizer().rate())
                            + " penalty.lambda if there is one; divergence.chance_epochs = 0 trains on");
        }
    }

    /**
     * After an epoch with a penalty: what the penalty has made zero for good is told before more time goes by.
     *
     * @param dead the layers whose groups are all zero
     * @param cut whether nothing of the input reaches the output any more; asked only if there are such layers
     * @param all whether these are all layers that have groups
     * @param lambda λ that did it
     * @param epoch the epoch, from 1
     */
    void requireConnected(List<String> dead, BooleanSupplier cut, boolean all, double lambda, int epoch) {
        if (dead.isEmpty() || !(all || cut.getAsBoolean())) {
            return;
        }
        String mend = recipe.target().isPresent()
                ? "raise target.share = %s (or --keep), or let the model learn without a penalty first, phases.warm_up_epochs = %d"
                        .formatted(
                                recipe.target().get().share(), recipe.phases().warmUpEpochs() + 3)
                : String.format(
                        Locale.ROOT,
                        "lower penalty.lambda (to %.2g, say), or leave it out and say how much shall be left, as with --keep 30%%",
                        lambda / 10);
        throw new DivergedException(String.format(
                Locale.ROOT,
                "all groups of %s are zero after epoch %d, at λ = %.3g, and nothing of the input gets through: %s",
                Verdict.some(dead),
                epoch,
                lambda,
                mend));
    }

    /** No better; of shares it is known how far luck goes, and two standard errors are no better. */
    private boolean isAtBaseline(Evaluation evaluation) {
        if (baseline.isEmpty()) {
            return false;
        }
        Metric metric = evaluation.main().getKey();
        double known = baseline.getAsDouble();
        double luck =
                metric.unit() == Metric.Unit.SHARE ? 2 * Math.sqrt(known * (1 - known) / evaluation.samples()) : 0;
        double reached = metric.direction() == Metric.Direction.HIGHER ? known + luck : known - luck;
        return !metric.isBetter(evaluation.main().getValue(), reached);
    }

    MemorySegment memory() {
        return MemorySegment.ofArray(evaluationsAtBaseline);
    }
}
