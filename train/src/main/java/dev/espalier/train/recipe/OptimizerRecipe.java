package dev.espalier.recipe;

import dev.espalier.rule.UpdateRule;
import java.util.List;

/**
 * How a gradient becomes a step.
 *
 * @param rule the optimizer with its own parameters
 * @param rate the learning rate that the schedule starts from
 * @param weightDecay decoupled weight decay, of tensors with two axes or more
 */
public record OptimizerRecipe(UpdateRule rule, double rate, double weightDecay) {

    private enum Kind {
        ADAM,
        SGD,
        MOMENTUM,
        ADAGRAD,
        RMSPROP
    }

    private static final UpdateRule.Adam STANDARD_ADAM = new UpdateRule.Adam();
    private static final UpdateRule.RmsProp STANDARD_RMSPROP = new UpdateRule.RmsProp();

    private static final Key<Kind> KIND =
            Key.choice("optimizer.kind", Kind.class, "which optimizer").otherwise(Kind.ADAM);
    private static final Key<Double> RATE = Key.decimal(
                    "optimizer.rate", "the learning rate that the schedule starts from")
            .in(Range.positive());
    private static final Key<Double> WEIGHT_DECAY = Key.decimal(
                    "optimizer.weight_decay", "decoupled weight decay, not of biases and norms")
            .in(Range.notNegative())
            .otherwise(0.0);
    private static final Key<Double> BETA1 = Key.decimal(
                    "optimizer.beta1", "what the mean of gradients keeps each step")
            .in(Range.fraction())
            .otherwise(STANDARD_ADAM.beta1())
            .only(Kind.ADAM);
    private static final Key<Double> BETA2 = Key.decimal("optimizer.beta2", "what the mean of squares keeps each step")
            .in(Range.fraction())
            .otherwise(STANDARD_ADAM.beta2())
            .only(Kind.ADAM);
    private static final Key<Double> ADAM_EPSILON = epsilon(Kind.ADAM, STANDARD_ADAM.epsilon());
    private static final Key<Double> MOMENTUM = Key.decimal("optimizer.momentum", "what the direction keeps each step")
            .in(Range.fraction())
            .otherwise(new UpdateRule.Momentum().momentum())
            .only(Kind.MOMENTUM);
    private static final Key<Double> ADAGRAD_EPSILON = epsilon(Kind.ADAGRAD, new UpdateRule.AdaGrad().epsilon());
    private static final Key<Double> DECAY = Key.decimal("optimizer.decay", "what the mean of squares keeps each step")
            .in(Range.fraction())
            .otherwise(STANDARD_RMSPROP.decay())
            .only(Kind.RMSPROP);
    private static final Key<Double> RMSPROP_EPSILON = epsilon(Kind.RMSPROP, STANDARD_RMSPROP.epsilon());

    static final Section<OptimizerRecipe> SECTION = new Section<>(
            "optimizer",
            List.of(
                    KIND,
                    RATE,
                    WEIGHT_DECAY,
                    BETA1,
                    BETA2,
                    ADAM_EPSILON,
                    MOMENTUM,
                    ADAGRAD_EPSILON,
                    DECAY,
                    RMSPROP_EPSILON),
            OptimizerRecipe::from,
            OptimizerRecipe::values);

    private static Key<Double> epsilon(Kind kind, double standard) {
        return Key.decimal("optimizer.epsilon", "what keeps the divisor away from zero")
                .in(Range.positive())
                .otherwise(standard)
                .only(kind);
    }

    /** Checks the rate and the decay. */
    public OptimizerRecipe {
        RATE.require(rate);
        WEIGHT_DECAY.require(weightDecay);
    }

    private static OptimizerRecipe from(Values values) {
        UpdateRule rule = switch (values.of(KIND)) {
            case ADAM -> new UpdateRule.Adam(values.of(BETA1), values.of(BETA2), values.of(ADAM_EPSILON));
            case SGD -> new UpdateRule.Sgd();
            case MOMENTUM -> new UpdateRule.Momentum(values.of(MOMENTUM));
            case ADAGRAD -> new UpdateRule.AdaGrad(values.of(ADAGRAD_EPSILON));
            case RMSPROP -> new UpdateRule.RmsProp(values.of(DECAY), values.of(RMSPROP_EPSILON));
        };
        return new OptimizerRecipe(rule, values.of(RATE), values.of(WEIGHT_DECAY));
    }

    private Values values() {
        Values values = new Values();
        switch (rule) {
            case UpdateRule.Adam(double beta1, double beta2, double epsilon) ->
                values.with(KIND, Kind.ADAM)
                        .with(BETA1, beta1)
                        .with(BETA2, beta2)
                        .with(ADAM_EPSILON, epsilon);
            case UpdateRule.Sgd() -> values.with(KIND, Kind.SGD);
            case UpdateRule.Momentum(double momentum) ->
                values.with(KIND, Kind.MOMENTUM).with(MOMENTUM, momentum);
            case UpdateRule.AdaGrad(double epsilon) ->
                values.with(KIND, Kind.ADAGRAD).with(ADAGRAD_EPSILON, epsilon);
            case UpdateRule.RmsProp(double decay, double epsilon) ->
                values.with(KIND, Kind.RMSPROP).with(DECAY, decay).with(RMSPROP_EPSILON, epsilon);
        }
        return values.with(RATE, rate).with(WEIGHT_DECAY, weightDecay);
    }
}
