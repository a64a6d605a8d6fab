package dev.espalier.train.recipe;

import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.step.StepOptions;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import dev.espalier.settings.Variant;
import java.util.List;
import java.util.Optional;

/**
 * How a gradient becomes a step.
 *
 * @param rule the optimizer with its own parameters
 * @param rate the learning rate that the schedule starts from
 * @param weightDecay decoupled weight decay
 * @param gradientDecay weight decay that is part of the gradient
 * @param decayed what it is for
 * @param metricFloor the share of a tensor's mean that no entry of the metric is below; 0 for none
 */
public record OptimizerRecipe(
        UpdateRule rule,
        double rate,
        double weightDecay,
        double gradientDecay,
        TrainingPlan.Decayed decayed,
        double metricFloor) {
    private static final Key<Double> RATE = Key.decimal(
                    "optimizer.rate", "the learning rate that the schedule starts from")
            .in(Range.positive());
    private static final Key<Double> WEIGHT_DECAY = Key.decimal("optimizer.weight_decay", "decoupled weight decay")
            .in(Range.notNegative())
            .withDefault(0.0);
    private static final Key<Double> GRADIENT_DECAY = Key.decimal(
                    "optimizer.gradient_decay",
                    "weight decay that is added to the gradient, behind clipping, as programs have it that do not decouple it; with adam it"
                            + " makes groups zero without a penalty")
            .in(Range.notNegative())
            .withDefault(0.0);
    private static final Key<TrainingPlan.Decayed> DECAYED = Key.choice(
                    "optimizer.decayed",
                    TrainingPlan.Decayed.class,
                    "what has weight decay: weights of layers, or biases and norms as well")
            .withDefault(TrainingPlan.Decayed.MATRICES);
    private static final Key<Double> METRIC_FLOOR = Key.decimal(
                    "optimizer.metric_floor",
                    "ρ: no weight's D is below ρ times the mean of its tensor, so that what has hardly seen a gradient is"
                            + " not zeroed at once")
            .in(Range.fraction())
            .withDefault(StepOptions.DEFAULT.metricFloor());

    private static final Kinds<Variant<UpdateRule>> KINDS =
            Kinds.of(List.of(adam(), sgd(), momentum(), adagrad(), rmsprop()));

    static final Section SECTION = Section.of(
            "optimizer",
            "which optimizer",
            KINDS,
            Optional.of("adam"),
            List.of(RATE, WEIGHT_DECAY, GRADIENT_DECAY, DECAYED, METRIC_FLOOR));

    private static Variant<UpdateRule> adam() {
        UpdateRule.Adam standard = new UpdateRule.Adam();
        Key<Double> beta1 = kept("optimizer.beta1", "what the mean of gradients keeps each step", standard.beta1());
        Key<Double> beta2 = kept("optimizer.beta2", "what the mean of squares keeps each step", standard.beta2());
        Key<Double> epsilon = epsilon(standard.epsilon());
        return new Variant<>(
                "adam",
                "means of gradients and of their squares",
                List.of(beta1, beta2, epsilon),
                values -> new UpdateRule.Adam(values.of(beta1), values.of(beta2), values.of(epsilon)));
    }

    private static Variant<UpdateRule> sgd() {
        return new Variant<>("sgd", "the gradient itself", List.of(), _ -> new UpdateRule.Sgd());
    }

    private static Variant<UpdateRule> momentum() {
        Key<Double> momentum =
                kept("optimizer.momentum", "what the direction keeps each step", new UpdateRule.Momentum().momentum());
        return new Variant<>(
                "momentum",
                "the gradient, and what is left of those before",
                List.of(momentum),
                values -> new UpdateRule.Momentum(values.of(momentum)));
    }

    private static Variant<UpdateRule> adagrad() {
        Key<Double> epsilon = epsilon(new UpdateRule.AdaGrad().epsilon());
        return new Variant<>(
                "adagrad",
                "gradients divided by the root of the sum of their squares",
                List.of(epsilon),
                values -> new UpdateRule.AdaGrad(values.of(epsilon)));
    }

    private static Variant<UpdateRule> rmsprop() {
        UpdateRule.RmsProp standard = new UpdateRule.RmsProp();
        Key<Double> decay = kept("optimizer.decay", "what the mean of squares keeps each step", standard.decay());
        Key<Double> epsilon = epsilon(standard.epsilon());
        return new Variant<>(
                "rmsprop",
                "gradients divided by the root of the mean of their squares",
                List.of(decay, epsilon),
                values -> new UpdateRule.RmsProp(values.of(decay), values.of(epsilon)));
    }

    private static Key<Double> kept(String path, String meaning, double standard) {
        return Key.decimal(path, meaning).in(Range.fraction()).withDefault(standard);
    }

    private static Key<Double> epsilon(double standard) {
        return Key.decimal("optimizer.epsilon", "what keeps the divisor away from zero")
                .in(Range.positive())
                .withDefault(standard);
    }

    static OptimizerRecipe of(Values values) {
        return new OptimizerRecipe(
                KINDS.of(values).make(values),
                values.of(RATE),
                values.of(WEIGHT_DECAY),
                values.of(GRADIENT_DECAY),
                values.of(DECAYED),
                values.of(METRIC_FLOOR));
    }
}
