package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.Map;

/**
 * The mixed ℓ1/ℓ2 norm: {@code h(x_g) = λ_g ‖x_g‖}. Convex; shrinks every group by the same amount.
 *
 * <p>Reference: Yuan and Lin, Model selection and estimation in regression with grouped variables, 2006.
 *
 * @param lambda strength λ ≥ 0
 * @param weight how λ_g depends on the group's size
 */
public record GroupLasso(double lambda, GroupWeight weight) implements Penalty {

    /** Checks λ. */
    public GroupLasso {
        Check.notNegative("lambda", lambda);
    }

    /**
     * With {@code λ_g = λ √|g|}.
     *
     * @param lambda strength λ ≥ 0
     */
    public GroupLasso(double lambda) {
        this(lambda, GroupWeight.SQRT_SIZE);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        return Profile.norm(strength);
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        /** Called by the service loader. */
        public Family() {}

        @Override
        public String name() {
            return "group-lasso";
        }

        @Override
        public String meaning() {
            return "the mixed ℓ1/ℓ2 norm";
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new GroupLasso(lambda, weight);
        }
    }
}
