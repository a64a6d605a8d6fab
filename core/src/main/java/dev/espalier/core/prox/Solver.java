package dev.espalier.core.prox;

import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.NewtonRaphson;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.root.RootFinder;
import dev.espalier.core.root.Tolerance;
import java.util.List;

/** A way to evaluate the weighted proximal operator of a group where no closed form exists. */
public sealed interface Solver {

    /** The default: Newton's iteration on the reciprocal, as exact as double arithmetic allows. */
    Solver DEFAULT = new ByRoot(new ReciprocalNewton(), Tolerance.EXACT);

    /**
     * One of each, as exact as it can be.
     *
     * @return the solvers, the default first
     */
    static List<Solver> all() {
        return List.of(
                DEFAULT,
                new ByRoot(new NewtonRaphson(), Tolerance.EXACT),
                new ByRoot(new Bisection(), Tolerance.EXACT),
                AdaProx.DEFAULT);
    }

    /**
     * What it is called.
     *
     * @return lower case, with hyphens
     */
    String name();

    /**
     * When the solver may stop.
     *
     * @return the tolerance
     */
    Tolerance tolerance();

    /**
     * Solves for the norm θ of the solution, one equation in one unknown, and compares all local minimisers. Exact for
     * every positive diagonal metric, convex or not.
     *
     * @param finder the root finder
     * @param tolerance when it may stop
     */
    record ByRoot(RootFinder finder, Tolerance tolerance) implements Solver {
        @Override
        public String name() {
            return finder.name();
        }
    }

    /**
     * AdaProx (Melchior, Joseph and Moolekamp, 2019): proximal gradient descent on the subproblem, with the unweighted
     * operator in every iteration,
     *
     * <pre>{@code
     * z ← prox_{γh}(z − (γ/α) D (z − x)),   γ = α/d_max
     * }</pre>
     *
     * <p>Here for comparison. It is slow where the diagonal is spread, and on a problem that is not convex it ends in
     * some stationary point, not always the best one. At a tolerance of 1e-11 or less it says that it has converged only
     * where the certificate of a convex problem leaves an error of at most 1e-9 of the norm.
     *
     * @param tolerance ends when the relative step is at most ε
     */
    record AdaProx(Tolerance tolerance) implements Solver {
        /** The limit of the paper's comparison: 100 iterations. */
        public static final AdaProx DEFAULT = new AdaProx(new Tolerance(1e-12, 100));

        @Override
        public String name() {
            return "adaprox";
        }
    }
}
