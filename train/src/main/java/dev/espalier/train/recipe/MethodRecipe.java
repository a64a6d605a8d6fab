package dev.espalier.recipe;

import dev.espalier.schedule.ToleranceSchedule;
import dev.espalier.step.StepOptions;
import java.util.List;

/**
 * What is done with the penalty.
 *
 * @param kind the method
 * @param threshold for {@link Kind#SUBGRADIENT}: after the training with the penalty, groups with
 *     {@code ‖x_g‖ ≤ threshold·√|g|} become zero; 0 for the others
 * @param tolerance for {@link Kind#PROXIMAL}: how exactly the proximal operator is solved; 0 for as exactly as the
 *     weights' type can tell, and for the others
 * @param nonFinite what a step does with a gradient that is not finite
 */
public record MethodRecipe(Kind kind, double threshold, double tolerance, StepOptions.NonFinite nonFinite) {

    /** Kinds of methods. */
    public enum Kind {
        /** Training without the penalty, for comparison. */
        BASELINE,
        /** Each step ends in the penalty's weighted proximal operator. */
        PROXIMAL,
        /** The penalty's subgradient is added to the gradient, and small groups are set to zero after training. */
        SUBGRADIENT
    }

    private static final Key<Kind> KIND = Key.choice("method.kind", Kind.class, "what is done with the penalty")
            .otherwise(Kind.PROXIMAL);
    private static final Key<Double> THRESHOLD = Key.decimal(
                    "method.threshold", "t: groups with ‖x_g‖ ≤ t·√size become zero after `training.epochs`")
            .in(Range.notNegative())
            .only(Kind.SUBGRADIENT);
    private static final Key<Double> TOLERANCE = Key.decimal(
                    "method.tolerance",
                    "how exactly the proximal operator is solved; 0 for as exactly as the weights' type can tell")
            .in(Range.notNegative())
            .otherwise(0.0)
            .only(Kind.PROXIMAL);
    private static final Key<StepOptions.NonFinite> NON_FINITE = Key.choice(
                    "method.non_finite",
                    StepOptions.NonFinite.class,
                    "what a step does with a gradient that is not finite: stop the training, or leave the step out")
            .otherwise(StepOptions.DEFAULT.nonFinite());

    static final Section<MethodRecipe> SECTION = new Section<>(
            "method", List.of(KIND, THRESHOLD, TOLERANCE, NON_FINITE), MethodRecipe::from, MethodRecipe::values);

    /** Checks the numbers. */
    public MethodRecipe {
        THRESHOLD.require(threshold);
        TOLERANCE.require(tolerance);
        requireUnused(kind, Kind.SUBGRADIENT, THRESHOLD, threshold);
        requireUnused(kind, Kind.PROXIMAL, TOLERANCE, tolerance);
    }

    private static void requireUnused(Kind kind, Kind user, Key<Double> key, double value) {
        if (kind != user && value != 0) {
            throw new IllegalArgumentException("%s = %s must be 0 for method.kind = %s: only %s uses it"
                    .formatted(key, value, ValueType.Choice.label(kind), ValueType.Choice.label(user)));
        }
    }

    /**
     * How steps are done.
     *
     * @return the options of an optimizer, on its usual number of threads
     */
    public StepOptions stepOptions() {
        return StepOptions.DEFAULT
                .withMethod(
                        switch (kind) {
                            case BASELINE, PROXIMAL -> StepOptions.Method.PROXIMAL;
                            case SUBGRADIENT -> StepOptions.Method.SUBGRADIENT;
                        })
                .withNonFinite(nonFinite)
                .withTolerance(tolerance == 0 ? ToleranceSchedule.EXACT : new ToleranceSchedule(tolerance, 0));
    }

    private static MethodRecipe from(Values values) {
        Kind kind = values.of(KIND);
        return new MethodRecipe(
                kind,
                kind == Kind.SUBGRADIENT ? values.of(THRESHOLD) : 0,
                kind == Kind.PROXIMAL ? values.of(TOLERANCE) : 0,
                values.of(NON_FINITE));
    }

    private Values values() {
        Values values = new Values().with(KIND, kind);
        switch (kind) {
            case BASELINE -> {}
            case PROXIMAL -> values.with(TOLERANCE, tolerance);
            case SUBGRADIENT -> values.with(THRESHOLD, threshold);
        }
        return values.with(NON_FINITE, nonFinite);
    }
}
