package dev.espalier.train.recipe;

import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import dev.espalier.settings.Variant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;

/**
 * How sparse the model shall become, and how that is met.
 *
 * @param kind what is counted, by its name
 * @param counted what is counted
 * @param share how much of it shall be left
 * @param groups about which share of groups that takes, to begin with: weights and operations go with the inputs of a layer and
 *     with its outputs, so that their share is about the square of the groups'
 * @param reachedAfter by which part of the training with the penalty
 * @param cost what is counted of a single group
 * @param by how it is met
 */
public record TargetRecipe(
        String kind,
        ToDoubleFunction<Left> counted,
        double share,
        double groups,
        double reachedAfter,
        GroupCost cost,
        By by) {

    /** How a target is met. */
    public enum By {
        /** λ is adapted, and the penalty finds the groups. */
        STRENGTH,
        /** Groups are chosen by what the loss would miss without them, for what they cost, and set to zero a few at a time. */
        CHOICE
    }

    /** What is left of a model in training, as shares of what there was. */
    public interface Left {
        /**
         * The groups that are not zero.
         *
         * @return their share
         */
        double groups();

        /**
         * The parameters of the pruned model.
         *
         * @return their share
         */
        double parameters();

        /**
         * The floating-point operations of the pruned model.
         *
         * @return their share
         */
        double flops();

        /**
         * The time of the pruned model, by the run's price list.
         *
         * @return its share
         */
        double latency();
    }

    private static final String LATENCY = "latency";

    private static final Key<Double> SHARE =
            Key.decimal("target.share", "how much of it shall be left").in(Range.betweenZeroAndOne());
    private static final Key<Double> REACHED_AFTER = Key.decimal(
                    "target.reached_after", "by which part of `training.epochs`; the rest of them keeps it there")
            .in(new Range<>("above 0 and at most 1", value -> value > 0 && value <= 1))
            .withDefault(0.6);
    private static final Key<By> BY = Key.choice(
                    "target.by",
                    By.class,
                    "how it is met: λ is adapted; or λ stays as it is, 0 for `auto`, and groups are chosen, a few at a time, by what the loss would miss without them, for what they cost")
            .withDefault(By.STRENGTH);

    private static final Variant<Optional<TargetRecipe>> NONE =
            new Variant<>("none", "nothing: λ stays as it is", List.of(), _ -> Optional.empty());

    private static final Kinds<Variant<Optional<TargetRecipe>>> KINDS = Kinds.of(List.of(
            NONE,
            counting("groups", "groups", Left::groups, share -> share, GroupCost.NONE),
            counting(
                    "parameters",
                    "the parameters of the pruned model",
                    Left::parameters,
                    Math::sqrt,
                    GroupCost.PARAMETERS),
            counting(
                    "flops",
                    "the floating-point operations of the pruned model",
                    Left::flops,
                    Math::sqrt,
                    GroupCost.FLOPS),
            counting(
                    LATENCY,
                    "the milliseconds of the pruned model in ONNX Runtime, by the run's price list",
                    Left::latency,
                    Math::sqrt,
                    GroupCost.LATENCY)));

    static final Section SECTION = Section.of(
            "target",
            "what λ is adapted to: nothing, or the share of groups, parameters, FLOPs or milliseconds that are left",
            KINDS,
            Optional.of(NONE.name()),
            List.of());

    /** A λ that is adapted needs a method that makes zeros all the while, and one that is not has to be said. */
    static final Form.Check CAN_BE_MET =
            new Form.Check(List.of(SECTION, MethodRecipe.SECTION, PenaltyKind.SECTION), TargetRecipe::outOfReach);

    private static Variant<Optional<TargetRecipe>> counting(
            String name, String meaning, ToDoubleFunction<Left> counted, DoubleUnaryOperator groups, GroupCost cost) {
        return new Variant<>(
                name,
                meaning,
                List.of(SHARE, REACHED_AFTER, BY),
                values -> Optional.of(new TargetRecipe(
                        name,
                        counted,
                        values.of(SHARE),
                        groups.applyAsDouble(values.of(SHARE)),
                        values.of(REACHED_AFTER),
                        cost,
                        values.of(BY))));
    }

    private static List<Conflict> outOfReach(Settings recipe) {
        String target = recipe.section(SECTION).kind();
        Method method = MethodRecipe.of(recipe.section(MethodRecipe.SECTION)).kind();
        Values penalty = recipe.section(PenaltyKind.SECTION);
        OptionalDouble lambda = PenaltyKind.lambda(penalty);
        if (target.equals(NONE.name())) {
            return Conflict.unless(
                    !method.penalizes() || lambda.isPresent(),
                    PenaltyKind.LAMBDA.path(),
                    "%s is missing: without a target nothing tells how strong the penalty shall be; set it (to 0.01, say), or say how much shall be left: target.kind and target.share, or train --keep 30%%"
                            .formatted(PenaltyKind.LAMBDA));
        }
        List<Conflict> conflicts = new ArrayList<>(Conflict.unless(
                method.meetsTargets(),
                SECTION.kindKey().orElseThrow().path(),
                "target.kind = %s and method.kind = %s do not fit: only proximal makes zeros all through training; set target.kind to none"
                        .formatted(target, method.name())));
        conflicts.addAll(Conflict.unless(
                !method.meetsTargets() || !penalty.has(PenaltyKind.LAMBDA) || lambda.orElse(1) > 0,
                PenaltyKind.LAMBDA.path(),
                "%s = %s must be above 0 for target.kind = %s, as it is where λ starts from; or leave it out"
                        .formatted(PenaltyKind.LAMBDA, lambda.orElse(0), target)));
        return conflicts;
    }

    /** {@return whether milliseconds are counted} */
    public boolean isLatency() {
        return kind.equals(LATENCY);
    }

    static Values none() {
        return Values.defaults(SECTION, NONE.name());
    }

    static Optional<TargetRecipe> of(Values values) {
        return KINDS.of(values).make(values);
    }
}
