package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Map;

/**
 * The group minimax concave penalty: {@code h(x_g) = MCP(‖x_g‖; β, λ_g)} with
 *
 * <pre>{@code
 * MCP(r; β, λ) = λ r − r²/(2β)   for r ≤ βλ
 *              = β λ²/2          beyond
 * }</pre>
 *
 * <p>Not convex; groups beyond the knee {@code βλ_g} are not shrunk at all. As β grows it turns into {@link GroupLasso}.
 *
 * <p>References: Zhang, Nearly unbiased variable selection under minimax concave penalty, 2010; Breheny and Huang,
 * Penalized methods for bi-level variable selection, 2009.
 *
 * @param lambda strength λ ≥ 0
 * @param beta β > 0, the knee is at {@code βλ_g}
 * @param weight how λ_g depends on the group's size
 */
public record GroupMcp(double lambda, double beta, GroupWeight weight) implements Penalty {

    /** Below this a knee has lost most of its digits. */
    private static final double SMALLEST_KNEE = 0x1p-1064;

    /** Checks λ and β. */
    public GroupMcp {
        Check.notNegative("lambda", lambda);
        Check.positive("beta", beta);
    }

    /**
     * With {@code λ_g = λ √|g|}.
     *
     * @param lambda strength λ ≥ 0
     * @param beta β > 0
     */
    public GroupMcp(double lambda, double beta) {
        this(lambda, beta, GroupWeight.SQRT_SIZE);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        double knee = beta * strength;
        if (strength == 0) {
            return Profile.norm(0);
        }
        return knee < SMALLEST_KNEE || 1 / beta == Double.POSITIVE_INFINITY
                ? tiny(strength)
                : Profile.of(new Profile.Piece(0, strength, 1 / beta), new Profile.Piece(knee, 0, 0));
    }

    /** With a knee that a normal number can hold, a slope that is finite, and the same value {@code βλ²/2} beyond the knee. */
    private Profile tiny(double strength) {
        double knee = Double.MIN_NORMAL * Math.max(1, strength);
        double share =
                strength < 1 ? (0x1p511 * beta) * (0x1p511 * strength) : Math.scalb(beta, 1022); // of the new knee
        double height = strength * share;
        return height == 0
                ? Profile.norm(0)
                : Profile.of(new Profile.Piece(0, height, height / knee), new Profile.Piece(knee, 0, 0));
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        /** Group SCAD's, too. */
        static final Parameter BETA = Parameter.positive("beta", "β: groups with a norm above β·λ_g are not shrunk");

        /** Called by the service loader. */
        public Family() {}

        @Override
        public String name() {
            return "group-mcp";
        }

        @Override
        public String meaning() {
            return "the group minimax concave penalty";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(BETA);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new GroupMcp(lambda, BETA.of(values), weight);
        }
    }
}
