package dev.espalier.recipe;

import java.util.List;

/**
 * How sparse the model shall become. With a target, λ is adapted during training until it is met.
 *
 * @param kind what is counted
 * @param share how much of it shall be left; 1 without a target
 * @param reachedAfter by which part of the training with the penalty; 1 without a target
 */
public record TargetRecipe(Kind kind, double share, double reachedAfter) {

    /** What a target counts. */
    public enum Kind {
        /** Nothing: λ stays as it is. */
        NONE,
        /** Groups. */
        SPARSITY,
        /** The parameters of the pruned model. */
        PARAMETERS,
        /** The floating-point operations of the pruned model. */
        FLOPS
    }

    static final Key<Kind> KIND = Key.choice(
                    "target.kind",
                    Kind.class,
                    "what λ is adapted to: nothing, or the share of groups, parameters or FLOPs that are left")
            .otherwise(Kind.NONE);
    private static final Key<Double> SHARE = Key.decimal("target.share", "how much of it shall be left")
            .in(new Range<>("above 0 and below 1", value -> value > 0 && value < 1))
            .only(Kind.SPARSITY, Kind.PARAMETERS, Kind.FLOPS);
    private static final Key<Double> REACHED_AFTER = Key.decimal(
                    "target.reached_after", "by which part of `training.epochs`; the rest of them keeps it there")
            .in(new Range<>("above 0 and at most 1", value -> value > 0 && value <= 1))
            .otherwise(0.6)
            .only(Kind.SPARSITY, Kind.PARAMETERS, Kind.FLOPS);

    /** No target. */
    public static final TargetRecipe NONE = new TargetRecipe(Kind.NONE, 1, 1);

    static final Section<TargetRecipe> SECTION =
            new Section<>("target", List.of(KIND, SHARE, REACHED_AFTER), TargetRecipe::from, TargetRecipe::values);

    /** Checks the numbers. */
    public TargetRecipe {
        if (kind != Kind.NONE) {
            SHARE.require(share);
            REACHED_AFTER.require(reachedAfter);
        } else if (share != 1 || reachedAfter != 1) {
            throw new IllegalArgumentException(
                    "%s = %s and %s = %s must be 1 for target.kind = none: nothing is counted"
                            .formatted(SHARE, share, REACHED_AFTER, reachedAfter));
        }
    }

    private static TargetRecipe from(Values values) {
        Kind kind = values.of(KIND);
        return kind == Kind.NONE ? NONE : new TargetRecipe(kind, values.of(SHARE), values.of(REACHED_AFTER));
    }

    private Values values() {
        Values values = new Values().with(KIND, kind);
        return kind == Kind.NONE ? values : values.with(SHARE, share).with(REACHED_AFTER, reachedAfter);
    }
}
