package dev.espalier.penalty;

import dev.espalier.check.Check;

/**
 * The group SCAD penalty, by its slope: {@code λ} up to {@code r = λ}, then {@code (aλ − r)/(a − 1)} down to zero at
 * {@code r = aλ}.
 *
 * <p>It lives in the tests to prove that a penalty needs nothing but its two methods: no solver knows of it.
 *
 * <p>Reference: Fan and Li, Variable selection via nonconcave penalized likelihood and its oracle properties, 2001.
 *
 * @param lambda strength λ ≥ 0
 * @param a a > 1, the knee is at {@code aλ}
 */
public record GroupScad(double lambda, double a) implements Penalty {

    /** Checks λ and a. */
    public GroupScad {
        Check.notNegative("lambda", lambda);
        Check.positive("a - 1", a - 1);
    }

    @Override
    public double strength(long size) {
        return GroupWeight.NONE.strength(lambda, size);
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
}
