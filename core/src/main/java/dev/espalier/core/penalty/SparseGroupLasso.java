package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Map;

/**
 * The sparse-group lasso: the ℓ1/ℓ2 norm of groups and the ℓ1 norm of their weights,
 *
 * <pre>{@code
 * h(x_g) = (1 − ρ) λ_g ‖x_g‖ + ρ λ Σ|x_i|
 * }</pre>
 *
 * <p>Convex. Groups become zero as a whole, and single weights in the others. It is {@link NestedLasso} with single weights
 * as the inner groups. With {@code ρ = 0} it is {@link GroupLasso}, with {@code ρ = 1} the plain ℓ1 penalty.
 *
 * <p>Reference: Simon, Friedman, Hastie and Tibshirani, A sparse-group lasso, 2013.
 *
 * @param lambda strength λ ≥ 0
 * @param share ρ, the single weights' share of the strength, from 0 to 1
 * @param weight how λ_g depends on the group's size
 */
public record SparseGroupLasso(double lambda, double share, GroupWeight weight) implements Penalty {

    /** Checks λ and ρ. */
    public SparseGroupLasso {
        Check.notNegative("lambda", lambda);
        Check.share("share", share);
    }

    /**
     * With {@code λ_g = λ √|g|}.
     *
     * @param lambda strength λ ≥ 0
     * @param share ρ, from 0 to 1
     */
    public SparseGroupLasso(double lambda, double share) {
        this(lambda, share, GroupWeight.SQRT_SIZE);
    }

    @Override
    public double strength(long size) {
        return weight.strength((1 - share) * lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        return Profile.norm(strength);
    }

    @Override
    public double singleStrength() {
        return weight.strength(share * lambda, 1);
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter SHARE = Parameter.share("share", "ρ: the share of λ that single weights bear");

        /** Called by the service loader. */
        public Family() {}

        @Override
        public String name() {
            return "sparse-group-lasso";
        }

        @Override
        public String meaning() {
            return "the mixed ℓ1/ℓ2 norm of groups and the ℓ1 norm of single weights";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(SHARE);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new SparseGroupLasso(lambda, SHARE.of(values), weight);
        }
    }
}
