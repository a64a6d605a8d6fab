package dev.espalier.core.root;

/**
 * Finds the smallest θ of an interval at which {@code t(θ)} falls to one: the norm of a local minimiser of the proximal
 * problem.
 *
 * <p>The interval's denominators must be positive, so that {@code t} is convex on it, and {@code t ≥ 1} at its lower
 * end. Nothing is assumed of the upper end: {@code t} may have no root in between, one, or two, and then the smaller is
 * the minimiser and the larger a maximiser.
 */
public sealed interface RootFinder permits ReciprocalNewton, NewtonRaphson, Bisection {

    /**
     * What it is called.
     *
     * @return lower case, with hyphens
     */
    String name();

    /**
     * Finds the root.
     *
     * @param equation the equation
     * @param lower lower end, {@code t ≥ 1} there
     * @param upper upper end
     * @param start first guess, for finders that take one; anything outside the interval means none
     * @param tolerance when to stop
     * @return the root, or that there is none
     */
    Root find(Equation equation, double lower, double upper, double start, Tolerance tolerance);
}
