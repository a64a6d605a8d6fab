package dev.espalier.train.recipe;

import dev.espalier.runtime.Timing.Goal;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.util.List;

/**
 * How long, in what portions and how often a model is trained.
 *
 * @param epochs passes over the training data, those of the phases before and after not counted
 * @param batchSize samples that are computed at once
 * @param accumulate batches that make a step
 * @param clipNorm what the norm of the whole gradient is cut to; 0 for no cut
 * @param recalibrate batches by which batch normalisations are measured anew in the end
 * @param precision how exactly products and convolutions are computed
 * @param seeds one run for each
 * @param pruneFor what the trained model is pruned for
 */
public record TrainingRecipe(
        int epochs,
        int batchSize,
        int accumulate,
        double clipNorm,
        int recalibrate,
        Precision precision,
        List<Long> seeds,
        PruneFor pruneFor) {

    /** How exactly products and convolutions are computed. Weights, gradients and the step are single precision. */
    public enum Precision {
        /** In single precision. */
        FLOAT32,
        /** On GPUs with factors of eleven bits of mantissa; the CPU computes in single precision. */
        TF32,
        /** With factors and results of eight bits of mantissa. */
        BF16
    }

    /** What a trained model is pruned for. */
    public enum PruneFor {
        /** For size where a target says how much shall be left, and for latency otherwise. */
        AUTO,
        /** For the widths that are fastest, even if they are more than a target asks for. */
        LATENCY,
        /** All that can go goes. */
        SIZE;

        /**
         * What that means.
         *
         * @param target whether a target says how much shall be left
         * @return the goal
         */
        public Goal goal(boolean target) {
            return switch (this) {
                case AUTO -> target ? Goal.SIZE : Goal.LATENCY;
                case LATENCY -> Goal.LATENCY;
                case SIZE -> Goal.SIZE;
            };
        }
    }

    static final Key<Integer> EPOCHS =
            Key.whole("training.epochs", "passes over the training data").in(Range.atLeast(1));
    private static final Key<Integer> BATCH_SIZE = Key.whole("training.batch_size", "samples that are computed at once")
            .in(Range.atLeast(1));
    private static final Key<Integer> ACCUMULATE = Key.whole(
                    "training.accumulate", "batches whose gradients are averaged to make a step")
            .in(Range.atLeast(1))
            .withDefault(1);
    private static final Key<Double> CLIP_NORM = Key.decimal(
                    "training.clip_norm", "what the norm of the whole gradient is cut to; 0 for no cut")
            .in(Range.notNegative())
            .withDefault(0.0);
    private static final Key<Integer> RECALIBRATE = Key.whole(
                    "training.recalibrate",
                    "batches by which the statistics of batch normalisations are measured anew when training is over, and groups have"
                            + " become zero; 0 for as training left them")
            .in(Range.atLeast(0))
            .withDefault(0);
    private static final Key<Precision> PRECISION = Key.choice(
                    "training.precision",
                    Precision.class,
                    "how exactly products and convolutions are computed; weights, gradients and the step are float32")
            .withDefault(Precision.FLOAT32);
    static final Key<List<Long>> SEEDS = Key.longWholes(
                    "training.seeds", "one run for each; several give mean ± standard deviation")
            .in(Range.distinct())
            .withDefault(List.of(1L));
    static final Key<PruneFor> PRUNE_FOR = Key.choice(
                    "training.prune_for",
                    PruneFor.class,
                    "what the trained model is pruned for: the widths that are fastest, or all that can go; by default the latter if there"
                            + " is a target")
            .withDefault(PruneFor.AUTO)
            .changeable();

    static final Section SECTION = Section.of(
            "training", List.of(EPOCHS, BATCH_SIZE, ACCUMULATE, CLIP_NORM, RECALIBRATE, PRECISION, SEEDS, PRUNE_FOR));

    static TrainingRecipe of(Values values) {
        return new TrainingRecipe(
                values.of(EPOCHS),
                values.of(BATCH_SIZE),
                values.of(ACCUMULATE),
                values.of(CLIP_NORM),
                values.of(RECALIBRATE),
                values.of(PRECISION),
                values.of(SEEDS),
                values.of(PRUNE_FOR));
    }
}
