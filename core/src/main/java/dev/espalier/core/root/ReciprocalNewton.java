package dev.espalier.core.root;

/**
 * Newton's iteration on the reciprocal, {@code ψ(θ) = t(θ)^(−1/2) − 1}, with Householder's correction: the default.
 *
 * <pre>{@code
 * n = (√t − 1)·t/s                          Newton's step, relative to θ
 * a = θψ''/ψ'  = 3(s/t − r/s)
 * b = θ²ψ'''/ψ' = 12c/s − 27r/t + 15s²/t²
 * θ ← θ·(1 + n·(1 + na/2) / (1 + na + n²b/6))
 * }</pre>
 *
 * <p>ψ is concave, so its tangents lie above it. Hence the plain Newton step from the left never passes the root, and a
 * tangent that reaches zero only beyond the interval proves that there is no root. With a constant diagonal ψ is linear
 * and one step is exact. The correction uses what the same pass over the group yields besides: every iteration takes the
 * error to its fourth power instead of its square, so the iteration may end at a relative step of about {@code ε^(1/4)}. A step
 * that leaves the bracket is replaced by Newton's from the bracket's lower end, and that, if need be, by bisection.
 *
 * <p>Reference: Householder, The Numerical Treatment of a Single Nonlinear Equation, 1970.
 */
public record ReciprocalNewton() implements RootFinder {
    /** How far beyond the interval a tangent must point before that is more than rounding. */
    static final double ROUNDING = 0x1p-40;

    /** Near the threshold θ is so small that its relative steps never are: there the equation holds to its last bits first. */
    private static final double LAST_BITS = 0x1p-51;

    /** Newton's relative step beyond which the third derivative says nothing about the root. */
    private static final double FAR = 0.25;

    @Override
    public String name() {
        return "reciprocal-newton";
    }

    @Override
    public Root find(Equation equation, double lower, double upper, double start, Tolerance tolerance) {
        double smallStep = smallStep(tolerance.relative());
        double low = lower; // t ≥ 1 and falling
        double high = upper; // t < 1, or t rising
        double tangent = lower; // where Newton's step from low leads
        boolean crossed = false; // a point with t < 1 was seen
        double theta = start > lower && start < upper ? start : lower;
        for (int iteration = 1; iteration <= tolerance.maxIterations(); iteration++) {
            equation.evaluate(theta);
            double t = equation.t();
            double s = equation.s();
            double next = theta * (1 + step(t, s, equation.r(), equation.c()));
            // A correction that makes a small step of a long one does so at the bottom of a valley: that is no root.
            boolean small = Math.abs(next - theta) <= smallStep * theta && Math.abs(newtonStep(t, s)) <= 2 * smallStep;
            if (s > 0 && (small || Math.abs(t - 1) <= LAST_BITS)) {
                return new Root(Math.clamp(next, lower, upper), iteration, true);
            }
            if (t > 1 && s > 0) {
                low = theta;
                tangent = theta * (1 + newtonStep(t, s));
                if (tangent > upper * (1 + ROUNDING) && tangent < Double.POSITIVE_INFINITY) {
                    return Root.none(iteration);
                }
            } else if (t > 1 && theta == lower) {
                return Root.none(iteration);
            } else {
                high = theta;
                crossed |= t < 1;
            }
            theta = inside(next, low, high) ? next : inside(tangent, low, high) ? tangent : Bisection.middle(low, high);
            if (!inside(theta, low, high)) {
                return crossed ? new Root(theta, iteration, true) : Root.none(iteration);
            }
        }
        return new Root(theta, tolerance.maxIterations(), false);
    }

    /**
     * Newton's step on ψ, relative to θ. From the left of the root it never passes it.
     *
     * @param t the equation's {@code t}
     * @param s the equation's {@code s}
     * @return the step
     */
    public static double newtonStep(double t, double s) {
        return (Math.sqrt(t) - 1) * (t / s);
    }

    /**
     * Newton's step on ψ with Halley's correction, relative to θ: {@code n/(1 + na/2)}.
     *
     * @param t the equation's {@code t}
     * @param s the equation's {@code s}
     * @param r the equation's {@code r}
     * @return the step
     */
    public static double halleyStep(double t, double s, double r) {
        double n = newtonStep(t, s);
        return n / (1 + 1.5 * n * (s / t - r / s));
    }

    /**
     * Newton's step on ψ with Householder's correction, relative to θ; with Halley's, which is tamer, far from the root.
     *
     * @param t the equation's {@code t}
     * @param s the equation's {@code s}
     * @param r the equation's {@code r}
     * @param c the equation's {@code c}
     * @return the step
     */
    public static double step(double t, double s, double r, double c) {
        double n = newtonStep(t, s);
        if (Math.abs(n) > FAR) {
            return halleyStep(t, s, r);
        }
        double a = 3 * (s / t - r / s);
        double b = 12 * c / s - 27 * r / t + 15 * (s / t) * (s / t);
        return n * (1 + n * a / 2) / (1 + n * (a + n * b / 6));
    }

    /**
     * The relative step of {@link #step} after which the error is below a tolerance.
     *
     * @param tolerance ε
     * @return {@code ε^(1/4)/2}; the half allows for the error's constant
     */
    public static double smallStep(double tolerance) {
        return Math.sqrt(Math.sqrt(tolerance)) / 2;
    }

    /**
     * The relative step of {@link #halleyStep} after which the error is below a tolerance.
     *
     * @param tolerance ε
     * @return {@code ε^(1/3)}
     */
    public static double smallHalleyStep(double tolerance) {
        return Math.cbrt(tolerance);
    }

    private static boolean inside(double theta, double low, double high) {
        return theta > low && theta < high;
    }
}
