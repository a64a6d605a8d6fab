package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Map;

/**
 * The group SCAD penalty (smoothly clipped absolute deviation), by its slope as a function of the group's norm {@code r}:
 *
 * <pre>{@code
 * h'(r) = λ_g                                  for r ≤ φβλ_g
 *       = λ_g (βλ_g − r) / ((1 − φ) βλ_g)      for r ≤ βλ_g
 *       = 0                                    beyond
 * }</pre>
 *
 * <p>β is group MCP's: groups beyond the knee {@code βλ_g} are not shrunk. The share φ of the way there keeps the full slope, so
 * that small groups are treated as by {@link GroupLasso} and do not meet the falling slope at once; φ = 0 is {@link GroupMcp}.
 * Fan and Li's own form has its first break at λ and its second at aλ: β = a and φ = 1/a, {@link #classical}. In training λ is
 * tiny, and with it the breaks of that form; so here, as for group MCP, β says where they are, and φ what the slope looks like.
 *
 * <p>Not convex. As β grows it turns into {@link GroupLasso}.
 *
 * <p>Reference: Fan and Li, Variable selection via nonconcave penalized likelihood and its oracle properties, 2001.
 *
 * @param lambda strength λ ≥ 0
 * @param beta β > 0, the knee is at {@code βλ_g}
 * @param flat φ from 0 to 0.99, the share of the way to the knee on which the slope stays
 * @param weight how λ_g depends on the group's size
 */
public record GroupScad(double lambda, double beta, double flat, GroupWeight weight) implements Penalty {
    /** Beyond this the slope falls so steeply that rounding leaves too little of it. */
    private static final double MOST_FLAT = 0.99;

    /** Below this a break of the slope has lost most of its digits. */
    private static final double SMALLEST_BREAK = 0x1p-1064;

    /** Checks λ, β and φ. */
    public GroupScad {
        Check.notNegative("lambda", lambda);
        Check.positive("beta", beta);
        if (!(flat >= 0 && flat <= MOST_FLAT)) {
            throw new IllegalArgumentException("flat = " + flat + " is out of range: it must be from 0 to " + MOST_FLAT
                    + "; 1/a for SCAD's own a");
        }
    }

    /**
     * With {@code λ_g = λ √|g|}.
     *
     * @param lambda strength λ ≥ 0
     * @param beta β > 0
     * @param flat φ from 0 to 0.99
     */
    public GroupScad(double lambda, double beta, double flat) {
        this(lambda, beta, flat, GroupWeight.SQRT_SIZE);
    }

    /**
     * SCAD as its authors wrote it: the slope is λ_g up to {@code r = λ_g}, and falls to zero at {@code r = aλ_g}.
     *
     * @param lambda strength λ ≥ 0
     * @param a a > 1, at least 1/0.99; its authors recommend 3.7
     * @param weight how λ_g depends on the group's size
     * @return the penalty
     */
    public static GroupScad classical(double lambda, double a, GroupWeight weight) {
        return new GroupScad(lambda, a, 1 / a, weight);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        if (strength == 0) {
            return Profile.norm(0);
        }
        double knee = beta * strength;
        double first = knee < Double.POSITIVE_INFINITY ? flat * knee : flat * beta * strength;
        if (first == Double.POSITIVE_INFINITY) {
            return Profile.norm(strength);
        }
        double height = strength / (1 - flat);
        double bend = 1 / beta / (1 - flat);
        if (first < SMALLEST_BREAK
                || Double.isInfinite(height)
                || Double.isInfinite(bend)) { // no room for both breaks; beyond them this has the same value
            return new GroupMcp(lambda, beta * (1 + flat), weight).profile(strength);
        }
        if (!(first > 0 && first < knee)) {
            return new GroupMcp(lambda, beta, weight).profile(strength);
        }
        return Profile.of(
                new Profile.Piece(0, strength, 0),
                new Profile.Piece(first, height, bend),
                new Profile.Piece(knee, 0, 0));
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter BETA = GroupMcp.Family.BETA;
        private static final Parameter FLAT = new Parameter(
                "flat",
                "share of the norms below β·λ_g on which the slope is still λ_g; 0 for group MCP, 1/a with β = a for SCAD's own form",
                "from 0 to " + MOST_FLAT,
                value -> value >= 0 && value <= MOST_FLAT);

        /** Called by the service loader. */
        public Family() {}

        @Override
        public String name() {
            return "group-scad";
        }

        @Override
        public String meaning() {
            return "the group smoothly clipped absolute deviation";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(BETA, FLAT);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new GroupScad(lambda, BETA.of(values), FLAT.of(values), weight);
        }
    }
}
