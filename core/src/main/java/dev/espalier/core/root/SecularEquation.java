package dev.espalier.core.root;

import dev.espalier.core.numeric.Norm;

/**
 * The equation behind every weighted proximal operator:
 *
 * <pre>{@code
 * t(θ) = Σ u_i² / (p_i θ + l)² = 1,      p_i = d_i − κ
 * }</pre>
 *
 * <p>Symbols: {@code u = D x}; {@code d} the metric's diagonal; {@code l = α·height} and {@code κ = α·bend} of the
 * penalty's piece, so {@code l = αλ, κ = 0} for ℓ1/ℓ2 and {@code l = αλ, κ = α/β} for MCP; {@code θ} the unknown norm of
 * the solution {@code z_i = θ u_i / (p_i θ + l)}. {@code t(θ)} is {@code (‖z(θ)‖/θ)²}.
 *
 * <p>Wherever all denominators are positive, {@code t} is convex and {@code ψ = t^(−1/2) − 1} concave, whatever the signs
 * of the {@code p_i}: ψ is a power mean of the positive linear functions {@code (p_i θ + l)/|u_i|}. Written in {@code u},
 * never as {@code θ + l/d_i}, which overflows for tiny {@code d_i}.
 */
public final class SecularEquation implements Equation {
    private final double[] u;
    private final double[] d;
    private final double kappa;
    private final double l;

    private final double normOfU;
    private final double smallestP;
    private final double largestP;

    private double t;
    private double s;
    private double r;
    private double c;

    /**
     * The equation of one group and one piece of a penalty.
     *
     * @param u {@code u = D x}
     * @param d the metric's diagonal, positive
     * @param kappa κ
     * @param l the threshold l ≥ 0
     */
    public SecularEquation(double[] u, double[] d, double kappa, double l) {
        this.u = u;
        this.d = d;
        this.kappa = kappa;
        this.l = l;
        this.normOfU = Norm.of(u);
        double smallest = Double.POSITIVE_INFINITY;
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < d.length; i++) {
            if (u[i] != 0) { // a weight that is zero stays zero and has no say in θ
                smallest = Math.min(smallest, d[i] - kappa);
                largest = Math.max(largest, d[i] - kappa);
            }
        }
        this.smallestP = smallest;
        this.largestP = largest;
    }

    /**
     * Evaluates the equation. With {@code n_i = p_i θ + l}, {@code w_i = u_i/n_i} and {@code q_i = p_i θ/n_i},
     * {@code t = Σw²}, {@code s = Σw²q = −θt'/2}, {@code r = Σw²q² = θ²t''/6} and {@code c = Σw²q³ = −θ³t'''/24}: numbers
     * without a unit, which do not overflow where θ is tiny.
     *
     * @param theta θ > 0
     */
    @Override
    public void evaluate(double theta) {
        t = 0;
        s = 0;
        r = 0;
        c = 0;
        double pull = pull(theta);
        int block = 256; // partial sums: the error grows with the number of blocks, not of elements
        for (int from = 0; from < u.length; from += block) {
            double tBlock = 0;
            double sBlock = 0;
            double rBlock = 0;
            double cBlock = 0;
            for (int i = from; i < Math.min(from + block, u.length); i++) {
                if (u[i] == 0) {
                    continue; // has no say, and its own a may overflow
                }
                double divisor = d[i] * theta + pull;
                double w = u[i] / divisor;
                double q = (d[i] - kappa) * theta / divisor;
                double square = w * w;
                tBlock += square;
                sBlock += square * q;
                rBlock += square * q * q;
                cBlock += square * q * q * q;
            }
            t += tBlock;
            s += sBlock;
            r += rBlock;
            c += cBlock;
        }
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
     * A lower bound on every root.
     *
     * @return the bound, at least 0; infinity if there is no root because {@code t} does not fall at all
     */
    public double lowerBound() {
        double sumOfP = 0;
        double sumOfSquares = 0;
        double sumOfU = 0;
        int n = 0;
        for (int i = 0; i < u.length; i++) {
            if (u[i] != 0) {
                double p = d[i] - kappa;
                sumOfP += p;
                sumOfSquares += p * p;
                sumOfU += Math.abs(u[i]);
                n++;
            }
        }
        return lowerBound(n, l, normOfU, sumOfU, largestP, sumOfP, sumOfSquares);
    }

    /**
     * The larger of two lower bounds on every root, from sums over the group.
     *
     * <p>{@code (‖u‖ − l)/p_max} (the paper's bounds on θ), and from Cauchy–Schwarz,
     * {@code (Σ|u_i|)² ≤ t·Σ(p_i θ + l)²}, the positive root of {@code aθ² + 2bθ + c} with
     * {@code a = Σp², b = lΣp, c = nl² − (Σ|u|)²}.
     *
     * @param n number of weights
     * @param l the threshold
     * @param normOfU {@code ‖u‖}
     * @param sumOfU {@code Σ|u_i|}
     * @param largestP the largest {@code p_i}
     * @param sumOfP {@code Σp_i}
     * @param sumOfSquares {@code Σp_i²}
     * @return the bound, at least 0; infinity if there is no root because {@code t} does not fall at all
     */
    public static double lowerBound(
            int n, double l, double normOfU, double sumOfU, double largestP, double sumOfP, double sumOfSquares) {
        if (largestP <= 0) {
            return normOfU > l ? Double.POSITIVE_INFINITY : 0;
        }
        double first = (normOfU - l) / largestP;
        double b = l * sumOfP;
        double root = l * Math.sqrt(n);
        double c = (root - sumOfU) * (root + sumOfU);
        double second = c < 0 ? -c / (b + Math.sqrt(b * b - sumOfSquares * c)) : 0;
        return Math.max(0, Double.isFinite(second) ? Math.max(first, second) : first);
    }

    /**
     * An upper bound on the wanted root, where one is known: {@code (‖u‖ − l)/p_min}.
     *
     * @return the bound; infinity if {@code p_min ≤ 0}
     */
    public double upperBound() {
        return smallestP > 0 ? (normOfU - l) / smallestP : Double.POSITIVE_INFINITY;
    }

    /**
     * Whether the wanted root, if any, lies above zero.
     *
     * @return {@code ‖u‖ > l}
     */
    public boolean startsAboveOne() {
        return normOfU > l;
    }

    /**
     * Writes the solution that belongs to θ.
     *
     * @param theta θ
     * @param z receives {@code z_i = θ u_i / (p_i θ + l)}
     */
    public void solution(double theta, double[] z) {
        double pull = pull(theta);
        for (int i = 0; i < u.length; i++) {
            z[i] = u[i] == 0 ? 0 : u[i] * (theta / (d[i] * theta + pull));
        }
    }

    /**
     * Writes what the solution that belongs to θ leaves of where it comes from, which no difference of the two would have digits of.
     *
     * @param theta θ
     * @param x the group, {@code u = D x}
     * @param left receives {@code x_i − z_i = x_i (l − κθ) / (p_i θ + l)}
     */
    public void left(double theta, double[] x, double[] left) {
        double pull = pull(theta);
        for (int i = 0; i < u.length; i++) {
            left[i] = u[i] == 0 ? 0 : x[i] * (pull / (d[i] * theta + pull));
        }
    }

    /**
     * {@code l − κθ}, the slope of the penalty times α, which is never negative. With it denominators are sums of what is not
     * negative either: {@code (d_i − κ)θ + l} would cancel where κ is much larger than {@code d_i}.
     */
    private double pull(double theta) {
        return Math.max(0, l - kappa * theta);
    }
}
