package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.Map;

/**
 * The group SCAD penalty, by its slope: {@code λ} up to {@code r = λ}, then {@code (aλ − r)/(a − 1)} down to zero at
 * {@code r = aλ}.
 *
 * <p>It lives in the tests to prove that a penalty needs nothing but its two methods, and a family to be named: no solver knows of
 * it.
 *
 * <p>Reference: Fan and Li, Variable selection via nonconcave penalized likelihood and its oracle properties, 2001.
 *
 * @param lambda strength λ ≥ 0
 * @param a a > 1, the knee is at {@code aλ}
 * @param weight how λ_g depends on the group's size
 */
public record GroupScad(double lambda, double a, GroupWeight weight) implements Penalty {

    /** Checks λ and a. */
    public GroupScad {
        Check.notNegative("lambda", lambda);
        Check.positive("a - 1", a - 1);
    }

    /**
     * With {@code λ_g = λ}.
     *
     * @param lambda strength λ ≥ 0
     * @param a a > 1
     */
    public GroupScad(double lambda, double a) {
        this(lambda, a, GroupWeight.NONE);
    }

    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        return strength == 0
                ? Profile.of(new Profile.Piece(0, 0, 0))
                : Profile.of(
                        new Profile.Piece(0, strength, 0),
                        new Profile.Piece(strength, a * strength / (a - 1), 1 / (a - 1)),
                        new Profile.Piece(a * strength, 0, 0));
    }

    /** Makes it of its name and numbers. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter A = new Parameter(
                "a",
                "groups with a norm above a·λ_g are not shrunk",
                "finite and above 1",
                value -> value > 1 && value < Double.POSITIVE_INFINITY);

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
            return List.of(A);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new GroupScad(lambda, A.of(values), weight);
        }
    }
}
