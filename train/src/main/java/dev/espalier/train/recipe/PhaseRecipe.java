package dev.espalier.recipe;

import java.util.List;

/**
 * What comes before and after the training with a penalty.
 *
 * @param warmUpEpochs epochs without penalty before; 0 for none
 * @param warmUpRate their learning rate; 0 for the optimizer's
 * @param healEpochs epochs after, without penalty and with the zero groups held; 0 for none
 * @param healRate their learning rate; 0 for the optimizer's
 */
public record PhaseRecipe(int warmUpEpochs, double warmUpRate, int healEpochs, double healRate) {

    static final Key<Integer> WARM_UP_EPOCHS = Key.whole(
                    "phases.warm_up_epochs", "epochs without penalty before `training.epochs`")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Double> WARM_UP_RATE = Key.decimal(
                    "phases.warm_up_rate", "the learning rate that their schedule starts from; 0 for `optimizer.rate`")
            .in(Range.notNegative())
            .otherwise(0.0);
    static final Key<Integer> HEAL_EPOCHS = Key.whole(
                    "phases.heal_epochs",
                    "epochs after `training.epochs`, without penalty; groups that are zero, or below"
                            + " `method.threshold`, stay zero")
            .in(Range.atLeast(0))
            .otherwise(0);
    private static final Key<Double> HEAL_RATE = Key.decimal(
                    "phases.heal_rate", "the learning rate that their schedule starts from; 0 for `optimizer.rate`")
            .in(Range.notNegative())
            .otherwise(0.0);

    /** Nothing before and nothing after. */
    public static final PhaseRecipe NONE = new PhaseRecipe(
            WARM_UP_EPOCHS.standardValue().orElseThrow(),
            WARM_UP_RATE.standardValue().orElseThrow(),
            HEAL_EPOCHS.standardValue().orElseThrow(),
            HEAL_RATE.standardValue().orElseThrow());

    static final Section<PhaseRecipe> SECTION = new Section<>(
            "phases",
            List.of(WARM_UP_EPOCHS, WARM_UP_RATE, HEAL_EPOCHS, HEAL_RATE),
            PhaseRecipe::from,
            PhaseRecipe::values);

    /** Checks the numbers. */
    public PhaseRecipe {
        WARM_UP_EPOCHS.require(warmUpEpochs);
        WARM_UP_RATE.require(warmUpRate);
        HEAL_EPOCHS.require(healEpochs);
        HEAL_RATE.require(healRate);
    }

    private static PhaseRecipe from(Values values) {
        return new PhaseRecipe(
                values.of(WARM_UP_EPOCHS), values.of(WARM_UP_RATE), values.of(HEAL_EPOCHS), values.of(HEAL_RATE));
    }

    private Values values() {
        return new Values()
                .with(WARM_UP_EPOCHS, warmUpEpochs)
                .with(WARM_UP_RATE, warmUpRate)
                .with(HEAL_EPOCHS, healEpochs)
                .with(HEAL_RATE, healRate);
    }
}
