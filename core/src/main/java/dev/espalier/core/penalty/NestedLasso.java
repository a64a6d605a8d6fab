package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The ℓ1/ℓ2 norm of groups and of groups within them:
 *
 * <pre>{@code
 * h(x_g) = (1 − ρ) λ_g ‖x_g‖ + ρ Σ_c λ_c ‖x_c‖      c: the groups within g
 * }</pre>
 *
 * <p>Convex. Groups become zero as a whole, or some of the groups within them do. With {@code ρ = 0} only the outer groups
 * are penalised, with {@code ρ = 1} only the inner ones. A group without groups within is its own only one, so there this
 * is {@link GroupLasso} of the same λ: one penalty serves a model in which some groups nest and others do not.
 *
 * <p>Other penalties do not nest: where one of the two is not convex, the problem has local minima that nobody can count.
 *
 * <p>References: Zhao, Rocha and Yu, The composite absolute penalties family for grouped and hierarchical variable
 * selection, 2009; Jenatton, Mairal, Obozinski and Bach, Proximal methods for hierarchical sparse coding, 2011.
 *
 * @param lambda strength λ ≥ 0
 * @param share ρ, the inner groups' share of the strength, from 0 to 1
 * @param weight how λ_g and λ_c depend on a group's size
 */
public record NestedLasso(double lambda, double share, GroupWeight weight) implements Penalty {

    /** Checks λ and ρ. */
    public NestedLasso {
        Check.notNegative("lambda", lambda);
        Check.share("share", share);
    }

    /**
     * With {@code λ_g = λ √|g|}.
     *
     * @param lambda strength λ ≥ 0
     * @param share ρ, from 0 to 1
     */
    public NestedLasso(double lambda, double share) {
        this(lambda, share, GroupWeight.SQRT_SIZE);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        return Profile.norm(strength);
    }

    /**
     * The strength on a group, apart from the groups within it.
     *
     * @param size number of weights |g|
     * @return {@code (1 − ρ) λ_g}
     */
    public double outerStrength(long size) {
        return weight.strength((1 - share) * lambda, size);
    }

    /**
     * The strength on a group within a group.
     *
     * @param size number of weights |c|
     * @return {@code ρ λ_c}
     */
    public double innerStrength(long size) {
        return weight.strength(share * lambda, size);
    }

    /**
     * {@return the penalty of a group with groups within}
     *
     * @param owners for every weight the number of the inner group that it is in, from 0; −1 if it is in none
     */
    public NestedProfile over(int[] owners) {
        long[] sizes = new long[Arrays.stream(owners).max().orElse(-1) + 1];
        for (int owner : owners) {
            if (owner >= 0) {
                sizes[owner]++;
            }
        }
        List<Profile> inner = Arrays.stream(sizes)
                .mapToObj(size -> Profile.norm(innerStrength(size)))
                .toList();
        return NestedProfile.of(Profile.norm(outerStrength(owners.length)), owners, inner);
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter SHARE =
                Parameter.share("share", "ρ: the share of λ that groups within groups bear");

        /** Called by the service loader. */
        public Family() {}

        @Override
        public String name() {
            return "nested-lasso";
        }

        @Override
        public String meaning() {
            return "the mixed ℓ1/ℓ2 norm of groups and of groups within them";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(SHARE);
        }

        @Override
        public boolean nests() {
            return true;
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new NestedLasso(lambda, SHARE.of(values), weight);
        }
    }
}
