package dev.espalier.reproduce.convergence;

/**
 * The bound of Theorem 3, for known constants:
 *
 * <pre>{@code
 * mean of dist(0, ∂F(x_t))² over t = 1 … T  ≤  C₁/T·Σ‖g_t − ∇f(x_t)‖² + C₂Δ/T + C₃/T
 *
 * C  = 3(2 + 1/γ² + 3L + 4L²) / (δ/2α − L)
 * C₁ = 4(12 + 3/L + C/2L)
 * C₂ = 4C
 * C₃ = 4(2C + 12)ρ₀M G/(1 − μ) + 96ρ₀²G²/(1 − μ²) + K(2C(L + L' + C) + 2(L + L')²)
 * }</pre>
 *
 * <p>The paper has 4 for the 12 and 32 for the 96 in C₃: it drops a factor of 3 on the way (docs/math/convergence.md). Without
 * momentum these terms vanish.
 *
 * <p>The proof holds for every single run, not just in the mean over runs, if the noise is the one that was met.
 *
 * @param smoothness L, the Lipschitz constant of ∇f
 * @param penaltySmoothness L', that of ∇h where the operator is not exact; 0 if it always is
 * @param metricBound δ, the smallest entry of D
 * @param stepBound γ, the smallest {@code α/d}
 * @param stepSize α
 * @param momentum ρ₀ of {@code m_t = (1 − ρ_t) g_t + ρ_t m_{t−1}, ρ_t = ρ₀ μ^t}; 0 for none
 * @param momentumDecay μ
 * @param gradientBound G, the longest gradient
 * @param moveBound M = D + D', the longest exact move {@code ‖x*_{t+1} − x_t‖}
 * @param squaredErrors K, the sum of the squared errors of the operator
 */
public record Theorem(
        double smoothness,
        double penaltySmoothness,
        double metricBound,
        double stepBound,
        double stepSize,
        double momentum,
        double momentumDecay,
        double gradientBound,
        double moveBound,
        double squaredErrors) {

    /** Checks the step size. */
    public Theorem {
        if (!(stepSize < metricBound / (2 * smoothness))) {
            throw new IllegalArgumentException(
                    "stepSize (alpha) = %s is too large: the theorem asks for less than δ/2L = %s"
                            .formatted(stepSize, metricBound / (2 * smoothness)));
        }
    }

    /**
     * The theorem for gradient steps in the Euclidean metric, without momentum, with an exact operator.
     *
     * @param smoothness L
     * @param stepSize α
     * @return the theorem, all of it known before the first step
     */
    public static Theorem plain(double smoothness, double stepSize) {
        return new Theorem(smoothness, 0, 1, stepSize, stepSize, 0, 0, 0, 0, 0);
    }

    /**
     * The constant that the others are made of.
     *
     * @return C
     */
    public double c() {
        return 3
                * (2 + 1 / (stepBound * stepBound) + 3 * smoothness + 4 * smoothness * smoothness)
                / (metricBound / (2 * stepSize) - smoothness);
    }

    /**
     * What noise costs.
     *
     * @return C₁
     */
    public double c1() {
        return 4 * (12 + 3 / smoothness + c() / (2 * smoothness));
    }

    /**
     * What the way to go costs.
     *
     * @return C₂
     */
    public double c2() {
        return 4 * c();
    }

    /**
     * What momentum and inexactness cost.
     *
     * @return C₃
     */
    public double c3() {
        double ofMomentum = 4 * (2 * c() + 12) * momentum * moveBound * gradientBound / (1 - momentumDecay)
                + 96 * momentum * momentum * gradientBound * gradientBound / (1 - momentumDecay * momentumDecay);
        double both = smoothness + penaltySmoothness;
        return ofMomentum + squaredErrors * (2 * c() * (both + c()) + 2 * both * both);
    }

    /**
     * The bound.
     *
     * @param steps T
     * @param squaredNoise {@code Σ‖g_t − ∇f(x_t)‖²}
     * @param gap Δ = F(x_0) − min F, or more
     * @return the bound on the mean squared distance
     */
    public double bound(long steps, double squaredNoise, double gap) {
        return (c1() * squaredNoise + c2() * gap + c3()) / steps;
    }

    /**
     * The corollary's number of steps.
     *
     * @param squaredTolerance ε²
     * @param gap Δ
     * @return {@code T = 2(C₂Δ + C₃)/ε²}
     */
    public long steps(double squaredTolerance, double gap) {
        return (long) Math.ceil(2 * (c2() * gap + c3()) / squaredTolerance);
    }

    /**
     * The corollary's mini-batch size.
     *
     * @param squaredTolerance ε²
     * @param variance σ², that of a gradient from one sample
     * @return {@code m = 2C₁σ²/ε²}
     */
    public int batchSize(double squaredTolerance, double variance) {
        return (int) Math.ceil(2 * c1() * variance / squaredTolerance);
    }
}
