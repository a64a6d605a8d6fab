package dev.espalier.core.root;

/**
 * What a root finder found.
 *
 * @param theta the root; NaN if there is none in the interval
 * @param iterations evaluations of the equation that were spent
 * @param converged false if the iteration limit was reached first
 */
public record Root(double theta, int iterations, boolean converged) {

    static Root none(int iterations) {
        return new Root(Double.NaN, iterations, true);
    }

    /**
     * Whether there is a root.
     *
     * @return false if the equation has no root in the interval
     */
    public boolean exists() {
        return !Double.isNaN(theta);
    }
}
