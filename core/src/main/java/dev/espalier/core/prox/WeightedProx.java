package dev.espalier.core.prox;

import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.root.SecularEquation;

/**
 * The weighted proximal operator of one group:
 *
 * <pre>{@code
 * prox(x) = argmin_z ½ Σ d_i (z_i − x_i)² + α h(‖z‖)
 * }</pre>
 *
 * <p>for every positive diagonal {@code d} and every penalty {@link Profile}, convex or not; the result is the global
 * minimiser. With {@code u = D x}, a stationary point of norm θ is {@code z_i = θ u_i / (d_i θ + α h'(θ))}, so
 * {@code ‖z(θ)‖ = θ} is one equation in θ: on every piece of the profile a {@link SecularEquation}. The objective has a
 * local minimum where {@code ‖z(θ)‖ − θ} turns from positive to negative, and at zero if {@code ‖u‖ ≤ α h'(0)}. Nearly
 * always there is just one; otherwise the lowest objective wins, and the longer on a tie.
 *
 * <p>For ℓ1/ℓ2 this is Theorem 1 of the paper. For MCP it is Theorem 2 without its assumption {@code α < β d_min}, which
 * fails all the time in training with Adam. For groups with groups within it is the theory of docs/math/nested.md.
 * {@link NaiveProx} is the slow, obvious twin.
 *
 * @param solver how to solve where no closed form exists
 */
public record WeightedProx(Solver solver) {

    /** The operator with the default solver. */
    public static final WeightedProx EXACT = new WeightedProx(Solver.DEFAULT);

    /**
     * Evaluates the operator.
     *
     * @param profile the penalty at the group's strength λ_g
     * @param x the group; finite
     * @param d the metric's diagonal; finite and positive
     * @param stepSize α ≥ 0
     * @param z receives the minimiser; may be {@code x} itself
     * @return what was done
     */
    public Outcome apply(Profile profile, double[] x, double[] d, double stepSize, double[] z) {
        return apply(profile, x, d, stepSize, Double.NaN, z);
    }

    /**
     * Evaluates the operator from a guess of the solution's norm, such as the one of the same group a training step
     * earlier.
     *
     * @param profile the penalty at the group's strength λ_g
     * @param x the group; finite
     * @param d the metric's diagonal; finite and positive
     * @param stepSize α ≥ 0
     * @param start the guess; NaN for none. It changes the cost, not the result
     * @param z receives the minimiser; may be {@code x} itself
     * @return what was done
     */
    public Outcome apply(Profile profile, double[] x, double[] d, double stepSize, double start, double[] z) {
        require(x, d, stepSize, z);
        return Subproblem.of(profile, x, d, stepSize).solve(solver, start, z);
    }

    /**
     * Evaluates the operator of a group with groups within it, {@code argmin_z ½ Σ d_i (z_i − x_i)² + α h(z)}.
     *
     * @param penalty all of the group's penalty
     * @param x the group; finite
     * @param d the metric's diagonal; finite and positive
     * @param stepSize α ≥ 0
     * @param start a guess of the solution's norm; NaN for none. It changes the cost, not the result
     * @param z receives the minimiser; may be {@code x} itself
     * @return what was done; the iterations are evaluations at the outer level
     */
    public Outcome apply(NestedProfile penalty, double[] x, double[] d, double stepSize, double start, double[] z) {
        require(x, d, stepSize, z);
        Check.sameSize("x", x.length, "the penalty's group", penalty.size());
        return NestedSubproblem.solve(penalty, x, d, stepSize, solver, start, z);
    }

    private static void require(double[] x, double[] d, double stepSize, double[] z) {
        Check.atLeast("number of weights in x", x.length, 1);
        Check.sameSize("d", d.length, "x", x.length);
        Check.sameSize("z", z.length, "x", x.length);
        Check.allFinite("x", x);
        Check.allPositive("d", d);
        Check.notNegative("stepSize (alpha)", stepSize);
    }
}
