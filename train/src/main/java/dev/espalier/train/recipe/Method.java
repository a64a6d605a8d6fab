package dev.espalier.train.recipe;

import dev.espalier.core.rule.UpdateRule.Adam;
import dev.espalier.core.step.StepOptions;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kind;
import dev.espalier.settings.Range;
import java.util.List;

/**
 * What is done with the penalty: a kind of the section {@code [method]}.
 *
 * @param name what {@code method.kind} says
 * @param meaning what it is, half a sentence
 * @param keys its own keys
 * @param penalizes whether the penalty is in force at all
 * @param meetsTargets whether groups become zero all through the training, so that λ can follow a target
 * @param steps how an optimizer does its steps
 */
public record Method(
        String name,
        String meaning,
        List<Key<?>> keys,
        boolean penalizes,
        boolean meetsTargets,
        StepOptions.Method steps)
        implements Kind {

    static final Key<Double> THRESHOLD = Key.decimal(
                    "method.threshold", "t: groups with ‖x_g‖ ≤ t·√size become zero after `training.epochs`")
            .in(Range.notNegative());
    static final Key<ValueWeight> VALUE_WEIGHT = Key.choice(
                    "method.value_weight",
                    ValueWeight.class,
                    "what a group's norm is weighed by: the root of its size, or, only to compare with the paper's program, the root of"
                            + " its tensor's number of groups, or that root's inverse")
            .withDefault(ValueWeight.SIZE);
    static final Key<Double> TOLERANCE = Key.decimal(
                    "method.tolerance",
                    "how exactly the proximal operator is solved; 0 for as exactly as the weights' type can tell")
            .in(Range.notNegative())
            .withDefault(0.0);
    static final Key<Adam.Metric> METRIC = Key.choice(
                    "method.metric",
                    Adam.Metric.class,
                    "whether the bias of Adam's D is corrected, as that of its direction is; uncorrected only to compare with the paper's program")
            .withDefault(Adam.Metric.CORRECTED);
    static final Key<Double> EPSILON = Key.decimal(
                    "method.epsilon",
                    "ε: a group becomes zero when a step leads it from x_g to y_g with ⟨y_g, x_g⟩ < ε·‖x_g‖²")
            .in(Range.fraction())
            .withDefault(0.0);
    static final Key<Double> PROJECTION_AFTER = Key.decimal(
                    "method.projection_after",
                    "after which part of `training.epochs` groups become zero; until then steps are those of `subgradient`")
            .in(Range.fraction())
            .withDefault(0.5);

    /** Training without the penalty, for comparison. */
    public static final Method BASELINE = new Method(
            "baseline",
            "training without the penalty, for comparison",
            List.of(),
            false,
            false,
            StepOptions.Method.PROXIMAL);

    /** Each step ends in the penalty's weighted proximal operator. */
    public static final Method PROXIMAL = new Method(
            "proximal",
            "each step ends in the penalty's weighted proximal operator",
            List.of(TOLERANCE, METRIC),
            true,
            true,
            StepOptions.Method.PROXIMAL);

    /** The penalty's subgradient is added to the gradient, and small groups are set to zero after training. */
    public static final Method SUBGRADIENT = new Method(
            "subgradient",
            "the penalty's subgradient is added to the gradient, and small groups are set to zero after training",
            List.of(THRESHOLD, VALUE_WEIGHT),
            true,
            false,
            StepOptions.Method.SUBGRADIENT);

    /** Subgradient steps, and from some time on a projection after each, which makes zeros that stay. */
    public static final Method HALF_SPACE = new Method(
            "half-space",
            "subgradient steps, after which groups that turned around become zero and stay so",
            List.of(EPSILON, PROJECTION_AFTER),
            true,
            false,
            StepOptions.Method.SUBGRADIENT);

    /** Copies the list. */
    public Method {
        keys = List.copyOf(keys);
    }
}
