package dev.espalier.recipe;

import dev.espalier.check.Check;
import dev.espalier.schedule.LearningRate;
import java.util.List;

/**
 * How the learning rate changes over training, in epochs.
 *
 * @param shape its shape
 * @param warmUp for how many epochs, or parts of one, the rate first rises from zero; 0 for none
 */
public record ScheduleRecipe(Shape shape, double warmUp) {

    private enum Kind {
        CONSTANT,
        STEP,
        MULTI_STEP,
        LINEAR,
        COSINE
    }

    private static final Key<Kind> KIND =
            Key.choice("schedule.kind", Kind.class, "how the rate falls").otherwise(Kind.CONSTANT);
    private static final Key<Double> FACTOR = Key.decimal("schedule.factor", "what the rate is multiplied with")
            .in(Range.positive())
            .otherwise(0.1)
            .only(Kind.STEP, Kind.MULTI_STEP);
    private static final Key<Integer> EVERY = Key.whole("schedule.every", "after how many epochs, again and again")
            .in(Range.atLeast(1))
            .only(Kind.STEP);
    private static final Key<List<Integer>> MILESTONES = Key.wholes("schedule.milestones", "after which epochs")
            .in(Range.rising(1))
            .only(Kind.MULTI_STEP);
    private static final Key<Double> LAST = Key.decimal("schedule.last", "the rate at the end")
            .in(Range.notNegative())
            .otherwise(0.0)
            .only(Kind.COSINE);
    static final Key<Double> WARM_UP = Key.decimal(
                    "schedule.warm_up", "for how many epochs, or parts of one, the rate first rises from zero")
            .in(Range.notNegative())
            .otherwise(0.0);

    static final Section<ScheduleRecipe> SECTION = new Section<>(
            "schedule",
            List.of(KIND, FACTOR, EVERY, MILESTONES, LAST, WARM_UP),
            ScheduleRecipe::from,
            ScheduleRecipe::values);

    /** Checks the warm-up. */
    public ScheduleRecipe {
        WARM_UP.require(warmUp);
    }

    /** How the rate falls. */
    public sealed interface Shape {}

    /** It does not. */
    public record Constant() implements Shape {}

    /**
     * It is multiplied again and again.
     *
     * @param factor with what
     * @param every after how many epochs
     */
    public record Step(double factor, int every) implements Shape {
        /** Checks the numbers. */
        public Step {
            FACTOR.require(factor);
            EVERY.require(every);
        }
    }

    /**
     * It is multiplied now and then.
     *
     * @param factor with what
     * @param milestones after which epochs
     */
    public record MultiStep(double factor, List<Integer> milestones) implements Shape {
        /** Checks the numbers. */
        public MultiStep {
            FACTOR.require(factor);
            milestones = List.copyOf(MILESTONES.require(milestones));
        }
    }

    /** Linearly, to zero at the end of training. */
    public record Linear() implements Shape {}

    /**
     * Along half a cosine.
     *
     * @param last the rate at the end of training
     */
    public record Cosine(double last) implements Shape {
        /** Checks the rate. */
        public Cosine {
            LAST.require(last);
        }
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
        long steps = Math.multiplyExact(epochs, stepsPerEpoch);
        return switch (shape) {
            case Constant() -> LearningRate.constant(rate);
            case Step(double factor, int every) ->
                new LearningRate.StepDecay(rate, factor, Math.multiplyExact(every, stepsPerEpoch));
            case MultiStep(double factor, List<Integer> milestones) ->
                new LearningRate.MultiStep(
                        rate,
                        factor,
                        milestones.stream()
                                .map(epoch -> Math.multiplyExact(epoch, stepsPerEpoch))
                                .toList());
            case Linear() -> new LearningRate.LinearToZero(rate, steps);
            case Cosine(double last) -> new LearningRate.Cosine(rate, last, steps);
        };
    }

    private static ScheduleRecipe from(Values values) {
        Shape shape = switch (values.of(KIND)) {
            case CONSTANT -> new Constant();
            case STEP -> new Step(values.of(FACTOR), values.of(EVERY));
            case MULTI_STEP -> new MultiStep(values.of(FACTOR), values.of(MILESTONES));
            case LINEAR -> new Linear();
            case COSINE -> new Cosine(values.of(LAST));
        };
        return new ScheduleRecipe(shape, values.of(WARM_UP));
    }

    private Values values() {
        Values values = new Values();
        switch (shape) {
            case Constant() -> values.with(KIND, Kind.CONSTANT);
            case Step(double factor, int every) ->
                values.with(KIND, Kind.STEP).with(FACTOR, factor).with(EVERY, every);
            case MultiStep(double factor, List<Integer> milestones) ->
                values.with(KIND, Kind.MULTI_STEP).with(FACTOR, factor).with(MILESTONES, milestones);
            case Linear() -> values.with(KIND, Kind.LINEAR);
            case Cosine(double last) -> values.with(KIND, Kind.COSINE).with(LAST, last);
        }
        return values.with(WARM_UP, warmUp);
    }
}
