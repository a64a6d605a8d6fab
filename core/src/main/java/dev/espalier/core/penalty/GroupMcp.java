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
        return knee == 0
                ? Profile.of(new Profile.Piece(0, 0, 0))
                : Profile.of(
                        new Profile.Piece(0, strength, Math.min(1 / beta, Double.MAX_VALUE)),
                        new Profile.Piece(knee, 0, 0));
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
