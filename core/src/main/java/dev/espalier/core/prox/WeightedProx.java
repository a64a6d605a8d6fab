package dev.espalier.core.prox;

import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.root.SecularEquation;
import dev.espalier.core.root.Tolerance;

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
 * <p>Numbers may be of any size. Those that squares of doubles cannot hold, and problems of which double arithmetic leaves less than nine
 * digits, are solved with more digits and a larger range, by one method whatever the solver: see docs/math/scaling.md.
 *
 * @param solver how to solve where no closed form exists
 */
public record WeightedProx(Solver solver) {

    /** Between these a problem is solved in double as it is. */
    private static final double SMALL = 0x1p-160;

    private static final double LARGE = 0x1p+160;

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
        if (!areOrdinary(x, d) || !isOrdinary(profile, stepSize)) {
            return WideSubproblem.solve(profile, x, d, stepSize, z);
        }
        Subproblem problem = new Subproblem(profile, x, d, stepSize);
        double[] original = z == x ? x.clone() : x;
        Outcome outcome = problem.solve(solver, start, z);
        return stands(outcome, problem.precise()) ? outcome : WideSubproblem.solve(profile, original, d, stepSize, z);
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
        if (penalty.inner().isEmpty()) {
            return apply(penalty.outer(), x, d, stepSize, start, z);
        }
        if (!areOrdinary(x, d)
                || !isOrdinary(penalty.outer(), stepSize)
                || !penalty.inner().stream().allMatch(profile -> isOrdinary(profile, stepSize))) {
            return WideSubproblem.solve(penalty, x, d, stepSize, z);
        }
        NestedSubproblem problem = new NestedSubproblem(penalty, x.clone(), d, stepSize, solver);
        double[] original = z == x ? x.clone() : x;
        Outcome outcome = problem.solve(start, z);
        return stands(outcome, problem.precise()) ? outcome : WideSubproblem.solve(penalty, original, d, stepSize, z);
    }

    /** Whether the arithmetic of doubles was enough: an iteration that was to end early, or is known to be slow, is taken as it is. */
    private boolean stands(Outcome outcome, boolean precise) {
        if (!(solver instanceof Solver.ByRoot) || solver.tolerance().relative() > Tolerance.EXACT.relative()) {
            return true;
        }
        boolean holds = precise && outcome.residual() <= WideSubproblem.ALLOWED;
        return outcome.converged() ? holds : !solver.equals(Solver.DEFAULT);
    }

    private static boolean areOrdinary(double[] x, double[] d) {
        for (int i = 0; i < x.length; i++) {
            if (!isOrdinary(x[i]) || !isOrdinary(d[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOrdinary(Profile profile, double stepSize) {
        for (Profile.Piece piece : profile.pieces()) {
            double pull = stepSize * piece.height();
            double bend = stepSize * piece.bend();
            boolean lost = stepSize > 0 && ((pull == 0 && piece.height() > 0) || (bend == 0 && piece.bend() != 0));
            if (lost || !isOrdinary(pull) || !isOrdinary(bend) || !isOrdinary(piece.from())) {
                return false;
            }
        }
        return true;
    }

    /** Whether neither squares nor quotients of such numbers leave the range of double. All that float32 can hold is. */
    private static boolean isOrdinary(double value) {
        double size = Math.abs(value);
        return size == 0 || (size >= SMALL && size <= LARGE);
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
