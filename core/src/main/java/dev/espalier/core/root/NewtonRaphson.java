package dev.espalier.core.root;

/**
 * The paper's solver (Algorithm 3): Newton's iteration on {@code G(θ) = t(θ) − 1}.
 *
 * <pre>{@code
 * θ ← θ·(1 + (t − 1) / (2 s))
 * }</pre>
 *
 * <p>{@code G} is convex, so from the left the iteration climbs to the root and never passes it; where {@code pθ} outweighs
 * {@code l} and the root is far, θ grows by no more than half in a step. The paper ends it at {@code |G| ≤ ε}, which says
 * little about θ and may lie below what rounding allows; here it ends at a relative step of ε, or when it no longer climbs.
 */
public record NewtonRaphson() implements RootFinder {

    @Override
    public String name() {
        return "newton-raphson";
    }

    @Override
    public Root find(Equation equation, double lower, double upper, double start, Tolerance tolerance) {
        double theta = start > lower && start < upper ? start : lower;
        boolean fromLeft = theta == lower;
        for (int iteration = 1; iteration <= tolerance.maxIterations(); iteration++) {
            equation.evaluate(theta);
            double excess = equation.t() - 1;
            double s = equation.s();
            if (fromLeft && excess <= 0) {
                return new Root(theta, iteration, true);
            }
            if (s <= 0) { // beyond the valley, where tangents lead away from the root
                if (fromLeft) {
                    return Root.none(iteration);
                }
                theta = lower;
                fromLeft = true;
                continue;
            }
            double next = theta * (1 + excess / (2 * s));
            if (excess > 0 && next > upper * (1 + ReciprocalNewton.ROUNDING)) {
                return Root.none(iteration);
            }
            double inside = Math.clamp(next, lower, upper);
            if (Math.abs(inside - theta) <= tolerance.relative() * inside) {
                return new Root(inside, iteration, true);
            }
            theta = inside;
            fromLeft = true;
        }
        return new Root(theta, tolerance.maxIterations(), false);
    }
}
