package dev.espalier.core.root;

/**
 * Bisection: slow, and hard to get wrong.
 *
 * <p>A middle point is to the right of the root if {@code t ≤ 1} there, or if {@code t} already rises there: {@code t} is
 * convex. Ends when the bracket is no wider than {@code ε θ}, or can no longer be halved.
 */
public record Bisection() implements RootFinder {

    @Override
    public String name() {
        return "bisection";
    }

    @Override
    public Root find(Equation equation, double lower, double upper, double start, Tolerance tolerance) {
        double low = lower;
        double high = upper;
        equation.evaluate(upper);
        boolean found = equation.t() <= 1 + ReciprocalNewton.ROUNDING;
        int iteration = 1;
        while (high - low > tolerance.relative() * high) {
            double theta = middle(low, high);
            if (theta <= low || theta >= high) {
                break;
            }
            if (iteration == tolerance.maxIterations()) {
                return new Root(theta, iteration, false);
            }
            iteration++;
            equation.evaluate(theta);
            boolean below = equation.t() <= 1;
            found |= below;
            if (below || (!found && equation.s() <= 0)) {
                high = theta;
            } else {
                low = theta;
            }
        }
        return found ? new Root(low + (high - low) / 2, iteration, true) : Root.none(iteration);
    }

    /** The middle of a bracket, in the geometric sense where it spans orders of magnitude. */
    static double middle(double low, double high) {
        return low > 0 && high > 4 * low ? Math.sqrt(low) * Math.sqrt(high) : low + (high - low) / 2;
    }
}
