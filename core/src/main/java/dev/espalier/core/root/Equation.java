package dev.espalier.core.root;

/**
 * An equation {@code t(θ) = 1} for the norm θ of a solution, where {@code t(θ) = (‖z(θ)‖/θ)²}, {@code t} is convex and
 * {@code t^(−1/2)} concave: what a {@link RootFinder} finds the root of.
 */
public sealed interface Equation permits SecularEquation, NestedEquation {

    /**
     * Evaluates the equation: {@code t} and its derivatives, as numbers without a unit.
     *
     * @param theta θ > 0
     */
    void evaluate(double theta);

    /**
     * The last evaluation's {@code t}.
     *
     * @return above one to the left of the wanted root, below one to its right
     */
    double t();

    /**
     * The last evaluation's {@code s = −θt'/2}.
     *
     * @return positive where {@code t} falls
     */
    double s();

    /**
     * The last evaluation's {@code r = θ²t''/6}.
     *
     * @return never negative: {@code t} is convex
     */
    double r();

    /**
     * The last evaluation's {@code c = −θ³t'''/24}.
     *
     * @return what the third derivative adds to the step
     */
    double c();
}
