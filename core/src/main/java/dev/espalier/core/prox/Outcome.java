package dev.espalier.core.prox;

/**
 * What the operator did to one group.
 *
 * @param branch which way it went
 * @param theta the norm θ of the solution
 * @param iterations evaluations that the solver spent; zero where a closed form served
 * @param residual {@code |‖z‖ − θ| / θ}, how well the solution fulfils its equation; zero where a closed form served. Where numbers are
 *     too large, too small or too close for double arithmetic, a bound on the relative error of every weight
 * @param converged false if the solver reached its iteration limit first, or if a weight may have a relative error above 1e-9, such as one
 *     below the smallest normal double
 */
public record Outcome(Branch branch, double theta, int iterations, double residual, boolean converged) {

    static Outcome zeroed(int iterations, boolean converged) {
        return new Outcome(Branch.ZEROED, 0, iterations, 0, converged);
    }

    static Outcome untouched(double norm, int iterations, boolean converged) {
        return new Outcome(Branch.UNTOUCHED, norm, iterations, 0, converged);
    }
}
