package dev.espalier.core.schedule;

import dev.espalier.core.check.Check;

/**
 * The tolerance of the proximal solver over training steps: {@code ε_t = ε₀ / (1 + t)^p}, floored at the precision of
 * double.
 *
 * <p>The convergence theorem for the inexact method asks for {@code Σ ε_t² < ∞}, hence {@code p > 1/2}.
 *
 * @param initial ε₀ > 0
 * @param power p > 1/2, or 0 for a constant tolerance (which the theorem does not cover)
 */
public record ToleranceSchedule(double initial, double power) {

    /** The relative precision that double arithmetic can reach. */
    public static final double FLOOR = 1e-16;

    /** As exact as double arithmetic allows, at every step. */
    public static final ToleranceSchedule EXACT = new ToleranceSchedule(FLOOR, 0);

    /** Checks ε₀ and p. */
    public ToleranceSchedule {
        Check.positive("initial tolerance", initial);
        if (power != 0 && !(power > 0.5 && power < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "power = " + power
                            + " is out of range: it must be above 0.5, so that the squares sum up, or 0 for a constant tolerance");
        }
    }

    /**
     * The tolerance of a training step.
     *
     * @param step t, from 0
     * @return ε_t
     */
    public double at(long step) {
        return Math.max(FLOOR, initial / Math.pow(1.0 + Check.atLeast("step", step, 0), power));
    }

    /**
     * Whether the squares have a finite sum, as the convergence theorem asks. The floor is not counted: it stands for an
     * exact solution.
     *
     * @return true if {@code p > 1/2} or the tolerance is the floor throughout
     */
    public boolean squareSummable() {
        return power > 0.5 || initial <= FLOOR;
    }
}
