package dev.espalier.train.recipe;

import dev.espalier.core.prox.HalfSpace;
import dev.espalier.core.rule.UpdateRule.Adam;
import dev.espalier.core.schedule.ToleranceSchedule;
import dev.espalier.core.step.StepOptions;
import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.util.List;
import java.util.Optional;

/**
 * What is done with the penalty.
 *
 * @param kind the method
 * @param threshold for {@link Method#SUBGRADIENT}: after the training with the penalty, groups with
 *     {@code ‖x_g‖ ≤ threshold·√|g|} become zero; 0 for the others
 * @param valueWeight for {@link Method#SUBGRADIENT}: what the norms of groups are weighed by
 * @param tolerance for {@link Method#PROXIMAL}: how exactly the proximal operator is solved; 0 for as exactly as the
 *     weights' type can tell, and for the others
 * @param metric for {@link Method#PROXIMAL}: whether the bias of Adam's D is corrected
 * @param epsilon for {@link Method#HALF_SPACE}: how much of itself a group must keep in a step; 0 for the others
 * @param projectionAfter for {@link Method#HALF_SPACE}: after which part of the training with the penalty groups become
 *     zero; 0 for the others
 * @param nonFinite what a step does with a gradient that is not finite
 */
public record MethodRecipe(
        Method kind,
        double threshold,
        ValueWeight valueWeight,
        double tolerance,
        Adam.Metric metric,
        double epsilon,
        double projectionAfter,
        StepOptions.NonFinite nonFinite) {

    private static final Key<StepOptions.NonFinite> NON_FINITE = Key.choice(
                    "method.non_finite",
                    StepOptions.NonFinite.class,
                    "what a step does with a gradient that is not finite: stop the training, or leave the step out")
            .withDefault(StepOptions.DEFAULT.nonFinite());

    private static final Kinds<Method> KINDS =
            Kinds.of(List.of(Method.BASELINE, Method.PROXIMAL, Method.SUBGRADIENT, Method.HALF_SPACE));

    static final Section SECTION = Section.of(
            "method", "what is done with the penalty", KINDS, Optional.of(Method.PROXIMAL.name()), List.of(NON_FINITE));

    /** Only Adam's metric has a bias that could be left uncorrected. */
    static final Form.Check CORRECTS_WHAT_HAS_A_BIAS =
            new Form.Check(List.of(SECTION, OptimizerRecipe.SECTION), recipe -> {
                Adam.Metric metric = of(recipe.section(SECTION)).metric();
                Values optimizer = recipe.section(OptimizerRecipe.SECTION);
                return Conflict.unless(
                        metric == Adam.Metric.CORRECTED
                                || OptimizerRecipe.of(optimizer).rule() instanceof Adam,
                        Method.METRIC.path(),
                        "%s = uncorrected is for optimizer.kind = adam, not for %s"
                                .formatted(Method.METRIC, optimizer.kind()));
            });

    /**
     * How steps are done.
     *
     * @return the options of an optimizer, on its usual number of threads
     */
    public StepOptions stepOptions() {
        return StepOptions.DEFAULT
                .withMethod(kind.steps())
                .withNonFinite(nonFinite)
                .withTolerance(tolerance == 0 ? ToleranceSchedule.EXACT : new ToleranceSchedule(tolerance, 0));
    }

    /** {@return what makes zeros after a step; empty for methods that do not project} */
    public Optional<HalfSpace> halfSpace() {
        return kind.equals(Method.HALF_SPACE) ? Optional.of(new HalfSpace(epsilon)) : Optional.empty();
    }

    static MethodRecipe of(Values values) {
        return new MethodRecipe(
                KINDS.of(values),
                orZero(values, Method.THRESHOLD),
                values.has(Method.VALUE_WEIGHT) ? values.of(Method.VALUE_WEIGHT) : ValueWeight.SIZE,
                orZero(values, Method.TOLERANCE),
                values.has(Method.METRIC) ? values.of(Method.METRIC) : Adam.Metric.CORRECTED,
                orZero(values, Method.EPSILON),
                orZero(values, Method.PROJECTION_AFTER),
                values.of(NON_FINITE));
    }

    private static double orZero(Values values, Key<Double> key) {
        return values.has(key) ? values.of(key) : 0;
    }
}
