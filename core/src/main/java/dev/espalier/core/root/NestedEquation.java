package dev.espalier.core.root;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The equation of a group with groups within it, all penalised by their norms:
 *
 * <pre>{@code
 * t(θ) = Σ_c τ_c² + Σ_i u_i² / (d_i θ + l)² = 1
 * }</pre>
 *
 * <p>Symbols: {@code l} the outer group's threshold; {@code τ_c = θ_c/θ} the norm of an inner group's solution as a share of
 * the whole one's, itself the root of an equation,
 *
 * <pre>{@code
 * Σ u_i² / (e_i τ_c + l_c)² = 1,      e_i = d_i θ + l
 * }</pre>
 *
 * <p>with {@code l_c} the inner group's threshold; the second sum is over the weights that are in no inner group. For given θ
 * the inner groups know nothing of each other, and each is a {@link SecularEquation} with the metric {@code e}. {@code 1/τ_c}
 * is concave in {@code e} (its hypograph is the cone over {@code {v : ‖u/(v + l_c)‖ ≤ 1}}, a convex set), hence so is
 * {@code t^(−1/2)}, a power mean of these.
 *
 * <p>The derivatives follow from differentiating the inner equation. With {@code Y = −ln τ_c} and dots for {@code d/d ln θ},
 * {@code q_i = d_i θ τ_c/(e_i τ_c + l_c)}, {@code b_i = l_c/(e_i τ_c + l_c)}, {@code w_i = u_i/(e_i τ_c + l_c)} and
 * {@code g_i = (1 − b_i)Ẏ − q_i}, which is the rate of {@code ln w_i}, it says {@code Σw²g = 0}, and then
 * {@code Σw²(2g² + ġ) = 0} and {@code Σw²(4g³ + 6gġ + g̈) = 0}.
 */
public final class NestedEquation implements Equation {
    private final SecularEquation free;
    private final int freeWeights;
    private final double l;
    private final List<Child> children = new ArrayList<>();
    private final RootFinder finder;
    private final Tolerance tolerance;

    private boolean converged = true;
    private double t;
    private double s;
    private double r;
    private double c;

    /** An inner group that is not zero. */
    private static final class Child {
        final double[] u;
        final double[] d;
        final double l;

        /** The metric of the inner equation. */
        final double[] e;

        double tau = Double.NaN;

        Child(double[] u, double[] d, double l) {
            this.u = u;
            this.d = d;
            this.l = l;
            this.e = new double[u.length];
        }
    }

    /**
     * The equation of an outer group, as yet without inner ones.
     *
     * @param u {@code u = D x} of the weights in no inner group
     * @param d the metric's diagonal there, positive
     * @param l the outer group's threshold, positive
     * @param finder what finds the roots of the inner equations
     * @param tolerance when it may stop
     */
    public NestedEquation(double[] u, double[] d, double l, RootFinder finder, Tolerance tolerance) {
        this.free = new SecularEquation(u, d, 0, l);
        this.freeWeights = u.length;
        this.l = l;
        this.finder = finder;
        this.tolerance = tolerance;
    }

    /**
     * Adds an inner group that will not be zero.
     *
     * @param u {@code u = D x} of its weights; longer than the threshold
     * @param d the metric's diagonal there, positive
     * @param threshold {@code l_c}, positive
     */
    public void add(double[] u, double[] d, double threshold) {
        children.add(new Child(u, d, threshold));
    }

    /**
     * Whether all inner equations were solved.
     *
     * @return false if a finder reached its limit in the last evaluation
     */
    public boolean converged() {
        return converged;
    }

    @Override
    public void evaluate(double theta) {
        t = 0;
        s = 0;
        r = 0;
        c = 0;
        converged = true;
        if (freeWeights > 0) {
            free.evaluate(theta);
            t = free.t();
            s = free.s();
            r = free.r();
            c = free.c();
        }
        for (Child child : children) {
            solve(child, theta);
            addDerivatives(child, theta);
        }
    }

    private void solve(Child child, double theta) {
        for (int i = 0; i < child.e.length; i++) {
            child.e[i] = child.d[i] * theta + l;
        }
        SecularEquation equation = new SecularEquation(child.u, child.e, 0, child.l);
        double lower = equation.lowerBound();
        double upper = equation.upperBound();
        Root root = lower < upper
                ? finder.find(equation, lower, upper, child.tau, tolerance) // from where the last evaluation left it
                : new Root(upper, 0, true); // what rounding leaves of the bracket
        converged &= root.converged();
        child.tau = root.exists() ? root.theta() : upper;
    }

    private void addDerivatives(Child child, double theta) {
        double tau = child.tau;
        int n = child.u.length;
        double[] q = new double[n];
        double[] b = new double[n];
        double[] weight = new double[n];
        double sumOfQ = 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double denominator = child.e[i] * tau + child.l;
            double w = child.u[i] / denominator;
            weight[i] = w * w;
            q[i] = child.d[i] * theta * tau / denominator;
            b[i] = child.l / denominator;
            sumOfQ += weight[i] * q[i];
            sum += weight[i] * (1 - b[i]);
        }
        double first = sumOfQ / sum;
        double second = 0;
        for (int i = 0; i < n; i++) {
            double g = (1 - b[i]) * first - q[i];
            double h = 1 - q[i] - b[i] * first;
            second += weight[i] * (b[i] * g * first + q[i] * h - 2 * g * g) / sum;
        }
        double third = 0;
        for (int i = 0; i < n; i++) {
            double g = (1 - b[i]) * first - q[i];
            double h = 1 - q[i] - b[i] * first;
            double rateOfG = (1 - b[i]) * second - b[i] * g * first - q[i] * h;
            double rateOfH = -q[i] * h - b[i] * (g * first + second);
            double known = b[i] * (g * g * first + rateOfG * first + 2 * g * second) + q[i] * (h * h + rateOfH);
            third += weight[i] * (known - 4 * g * g * g - 6 * g * rateOfG) / sum;
        }
        double square = tau * tau;
        t += square;
        s += square * first;
        r += square * (2 * first * first - second + first) / 3;
        c += square
                * (4 * first * first * first - 6 * first * second + third + 6 * first * first - 3 * second + 2 * first)
                / 12;
    }

    @Override
    public double t() {
        return t;
    }

    @Override
    public double s() {
        return s;
    }

    @Override
    public double r() {
        return r;
    }

    @Override
    public double c() {
        return c;
    }

    /**
     * Solves for the inner groups at the root.
     *
     * @param theta θ
     * @param z receives the solution of the weights in no inner group
     * @return the solution of every inner group, in the order in which they were added
     */
    public List<double[]> solution(double theta, double[] z) {
        free.solution(theta, z);
        List<double[]> solutions = new ArrayList<>();
        for (Child child : children) {
            solve(child, theta);
            double[] solution = new double[child.u.length];
            Arrays.setAll(solution, i -> child.u[i] * (theta * child.tau / (child.e[i] * child.tau + child.l)));
            solutions.add(solution);
        }
        return solutions;
    }
}
