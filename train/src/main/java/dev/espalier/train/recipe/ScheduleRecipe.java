package dev.espalier.train.recipe;

import dev.espalier.core.check.Check;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import dev.espalier.settings.Variant;
import java.util.List;
import java.util.Optional;

/**
 * How the learning rate changes over training, in epochs.
 *
 * @param shape its shape
 * @param warmUp for how many epochs, or parts of one, the rate first rises from zero; 0 for none
 */
public record ScheduleRecipe(Shape shape, double warmUp) {

    /** How the rate falls. */
    @FunctionalInterface
    public interface Shape {
        /**
         * The learning rate in steps.
         *
         * @param rate the rate to begin with
         * @param epochs for how long
         * @param stepsPerEpoch how many steps an epoch has
         * @return the learning rate
         */
        LearningRate over(double rate, int epochs, long stepsPerEpoch);
    }

    private static final Key<Double> FACTOR = Key.decimal("schedule.factor", "what the rate is multiplied with")
            .in(Range.positive())
            .withDefault(0.1);
    private static final Key<Double> WARM_UP = Key.decimal(
                    "schedule.warm_up", "for how many epochs, or parts of one, the rate first rises from zero")
            .in(Range.notNegative())
            .withDefault(0.0);

    private static final Kinds<Variant<Shape>> KINDS =
            Kinds.of(List.of(constant(), step(), multiStep(), linear(), cosine()));

    static final Section SECTION =
            Section.of("schedule", "how the rate falls", KINDS, Optional.of("constant"), List.of(WARM_UP));

    /** The warm-up is over before the first phase is. */
    static final Form.Check WARMS_UP_IN_TIME =
            new Form.Check(List.of(SECTION, PhaseRecipe.SECTION, TrainingRecipe.SECTION), ScheduleRecipe::longWarmUp);

    private static Variant<Shape> constant() {
        return new Variant<>("constant", "it does not", List.of(), _ -> (rate, _, _) -> LearningRate.constant(rate));
    }

    private static Variant<Shape> step() {
        Key<Integer> every = Key.whole("schedule.every", "after how many epochs, again and again")
                .in(Range.atLeast(1));
        return new Variant<>("step", "it is multiplied again and again", List.of(FACTOR, every), values -> {
            double factor = values.of(FACTOR);
            int epochs = values.of(every);
            return (rate, _, stepsPerEpoch) ->
                    new LearningRate.StepDecay(rate, factor, Math.multiplyExact(epochs, stepsPerEpoch));
        });
    }

    private static Variant<Shape> multiStep() {
        Key<List<Integer>> milestones =
                Key.wholes("schedule.milestones", "after which epochs").in(Range.rising(1));
        return new Variant<>("multi-step", "it is multiplied now and then", List.of(FACTOR, milestones), values -> {
            double factor = values.of(FACTOR);
            List<Integer> epochs = values.of(milestones);
            return (rate, _, stepsPerEpoch) -> new LearningRate.MultiStep(
                    rate,
                    factor,
                    epochs.stream()
                            .map(epoch -> Math.multiplyExact(epoch, stepsPerEpoch))
                            .toList());
        });
    }

    private static Variant<Shape> linear() {
        return new Variant<>(
                "linear",
                "linearly, to zero at the end of training",
                List.of(),
                _ -> (rate, epochs, stepsPerEpoch) ->
                        new LearningRate.LinearToZero(rate, Math.multiplyExact(epochs, stepsPerEpoch)));
    }

    private static Variant<Shape> cosine() {
        Key<Double> last = Key.decimal("schedule.last", "the rate at the end")
                .in(Range.notNegative())
                .withDefault(0.0);
        return new Variant<>("cosine", "along half a cosine", List.of(last), values -> {
            double end = values.of(last);
            return (rate, epochs, stepsPerEpoch) ->
                    new LearningRate.Cosine(rate, end, Math.multiplyExact(epochs, stepsPerEpoch));
        });
    }

    private static List<Conflict> longWarmUp(Settings recipe) {
        double warmUp = of(recipe.section(SECTION)).warmUp;
        int before = PhaseRecipe.of(recipe.section(PhaseRecipe.SECTION)).warmUpEpochs();
        Key<Integer> first = before > 0 ? PhaseRecipe.WARM_UP_EPOCHS : TrainingRecipe.EPOCHS;
        int epochs = recipe.of(first);
        return Conflict.unless(
                warmUp <= epochs,
                WARM_UP.path(),
                "%s = %s must be at most %s = %d".formatted(WARM_UP, warmUp, first, epochs));
    }

    /**
     * The schedule in steps, warm-up included.
     *
     * @param rate the rate to begin with
     * @param epochs length of the training
     * @param stepsPerEpoch how many steps an epoch has
     * @return the learning rate
     */
    public LearningRate learningRate(double rate, int epochs, long stepsPerEpoch) {
        LearningRate schedule = withoutWarmUp(rate, epochs, stepsPerEpoch);
        long warmUpSteps = Math.round(warmUp * stepsPerEpoch);
        return warmUpSteps == 0 ? schedule : schedule.warmedUp(warmUpSteps);
    }

    /**
     * The schedule in steps, from its full rate on: for a phase that is not the first.
     *
     * @param rate the rate to begin with
     * @param epochs length of the phase
     * @param stepsPerEpoch how many steps an epoch has
     * @return the learning rate
     */
    public LearningRate withoutWarmUp(double rate, int epochs, long stepsPerEpoch) {
        Check.atLeast("stepsPerEpoch", stepsPerEpoch, 1);
        return shape.over(rate, epochs, stepsPerEpoch);
    }

    static ScheduleRecipe of(Values values) {
        return new ScheduleRecipe(KINDS.of(values).make(values), values.of(WARM_UP));
    }
}
