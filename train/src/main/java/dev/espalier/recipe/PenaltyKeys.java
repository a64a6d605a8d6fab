package dev.espalier.recipe;

import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupWeight;
import dev.espalier.recipe.PenaltyRecipe.Kind;
import java.util.List;

/** The keys of the section {@code penalty}. */
final class PenaltyKeys {
    /** All that are penalties. */
    private static final Kind[] SOME = {Kind.GROUP_LASSO, Kind.GROUP_MCP, Kind.NESTED_LASSO, Kind.SPARSE_GROUP_LASSO};

    static final Key<Kind> KIND = Key.choice("penalty.kind", Kind.class, "which penalty every group has")
            .otherwise(Kind.NONE);
    static final Key<Double> LAMBDA =
            Key.decimal("penalty.lambda", "strength λ").in(Range.notNegative()).only(SOME);
    static final Key<Double> BETA = Key.decimal("penalty.beta", "β: groups with a norm above β·λ_g are not shrunk")
            .in(Range.positive())
            .only(Kind.GROUP_MCP);
    static final Key<Double> SHARE = Key.decimal(
                    "penalty.share", "ρ: the share of λ that groups within groups bear, or single weights")
            .in(new Range<>("from 0 to 1", value -> value >= 0 && value <= 1))
            .only(Kind.NESTED_LASSO, Kind.SPARSE_GROUP_LASSO);
    private static final Key<GroupWeight> GROUP_WEIGHT = Key.choice(
                    "penalty.group_weight", GroupWeight.class, "whether λ_g is λ·√size or λ")
            .otherwise(new GroupLasso(0).weight())
            .only(SOME);

    static final Section<PenaltyRecipe> SECTION = new Section<>(
            "penalty", List.of(KIND, LAMBDA, BETA, SHARE, GROUP_WEIGHT), PenaltyKeys::from, PenaltyKeys::values);

    private PenaltyKeys() {}

    private static PenaltyRecipe from(Values values) {
        return switch (values.of(KIND)) {
            case NONE -> new PenaltyRecipe.None();
            case GROUP_LASSO -> new PenaltyRecipe.Lasso(values.of(LAMBDA), values.of(GROUP_WEIGHT));
            case GROUP_MCP -> new PenaltyRecipe.Mcp(values.of(LAMBDA), values.of(BETA), values.of(GROUP_WEIGHT));
            case NESTED_LASSO -> new PenaltyRecipe.Nested(values.of(LAMBDA), values.of(SHARE), values.of(GROUP_WEIGHT));
            case SPARSE_GROUP_LASSO ->
                new PenaltyRecipe.SparseGroup(values.of(LAMBDA), values.of(SHARE), values.of(GROUP_WEIGHT));
        };
    }

    private static Values values(PenaltyRecipe penalty) {
        Values values = new Values().with(KIND, penalty.kind());
        return switch (penalty) {
            case PenaltyRecipe.None _ -> values;
            case PenaltyRecipe.Lasso(double lambda, GroupWeight weight) ->
                values.with(LAMBDA, lambda).with(GROUP_WEIGHT, weight);
            case PenaltyRecipe.Mcp(double lambda, double beta, GroupWeight weight) ->
                values.with(LAMBDA, lambda).with(BETA, beta).with(GROUP_WEIGHT, weight);
            case PenaltyRecipe.Nested(double lambda, double share, GroupWeight weight) ->
                values.with(LAMBDA, lambda).with(SHARE, share).with(GROUP_WEIGHT, weight);
            case PenaltyRecipe.SparseGroup(double lambda, double share, GroupWeight weight) ->
                values.with(LAMBDA, lambda).with(SHARE, share).with(GROUP_WEIGHT, weight);
        };
    }
}
