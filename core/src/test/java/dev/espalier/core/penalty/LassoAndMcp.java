package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Map;

/**
 * Group MCP and the group lasso at once, by the slope: it falls from {@code λ} to {@code share·λ} at {@code r = βλ}, and stays there, so
 * that no group goes unpenalised.
 *
 * <p>It lives in the tests to prove that a penalty needs nothing but its two methods, and a family to be named: no solver knows of
 * it, and no fast path serves it.
 *
 * @param lambda strength λ ≥ 0
 * @param beta β > 0, the slope stays from {@code βλ} on
 * @param share of λ that is left there, from 0 to 1
 * @param weight how λ_g depends on the group's size
 */
public record LassoAndMcp(double lambda, double beta, double share, GroupWeight weight) implements Penalty {

    /** Checks λ, β and the share. */
    public LassoAndMcp {
        Check.notNegative("lambda", lambda);
        Check.positive("beta", beta);
        Check.share("share", share);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        double knee = beta * strength;
        return knee == 0
                ? Profile.norm(strength)
                : Profile.of(
                        new Profile.Piece(0, strength, Math.min((1 - share) / beta, Double.MAX_VALUE)),
                        new Profile.Piece(knee, share * strength, 0));
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter BETA = Parameter.positive("beta", "from a norm of β·λ_g on the slope stays");
        private static final Parameter SHARE = Parameter.share("share", "of λ that is left there");

        @Override
        public String name() {
            return "lasso-and-mcp";
        }

        @Override
        public String meaning() {
            return "group MCP and the mixed ℓ1/ℓ2 norm at once";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(BETA, SHARE);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new LassoAndMcp(lambda, BETA.of(values), SHARE.of(values), weight);
        }
    }
}
