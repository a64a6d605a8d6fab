package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.root.Root;
import dev.espalier.core.root.SecularEquation;
import dev.espalier.core.root.Tolerance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The proximal problem of one group, penalised by its norm alone. */
final class Subproblem {
    /** Share of the penalty that is only rounding; the longer of two candidates is taken if no more than that is between them. */
    private static final double TIE = 1e-14;

    /** A relative error that a result may have and still be called converged. */
    static final double CERTAIN = 1e-9;

    /** A tolerance above this asks for less than that. */
    static final double EXACT = 1e-11;

    /** The share of what is subtracted that a difference must have for nine digits of it to be right. */
    static final double ENOUGH = 5e-7;

    private final Profile profile;
    private final double[] x;
    private final double[] d;
    private final double stepSize;

    private final double[] u;
    private final double normOfX;
    private final boolean spherical;

    private boolean precise = true;

    Subproblem(Profile profile, double[] x, double[] d, double stepSize) {
        this.profile = profile;
        this.x = x;
        this.d = d;
        this.stepSize = stepSize;
        this.u = new double[x.length];
        boolean same = true;
        for (int i = 0; i < x.length; i++) {
            u[i] = d[i] * x[i];
            same &= d[i] == d[0];
        }
        this.normOfX = Norm.of(x);
        this.spherical = same;
    }

    /** Whether double arithmetic has left the solution of {@link #solve} nine digits, as far as the conditions of its equation say. */
    boolean precise() {
        return precise;
    }

    Outcome solve(Solver solver, double start, double[] z) {
        if (normOfX == 0) {
            Arrays.fill(z, 0);
            return Outcome.zeroed(0, true);
        }
        if (stepSize == 0) {
            return untouched(0, true, z);
        }
        if (spherical) {
            return solveSpherical(z);
        }
        return switch (solver) {
            case Solver.ByRoot byRoot -> solveByRoot(byRoot, start, z);
            case Solver.AdaProx adaProx -> iterate(adaProx.tolerance(), z);
        };
    }

    private Outcome solveSpherical(double[] z) {
        double theta = profile.proximalNorm(normOfX, d[0], stepSize);
        precise = isPrecise(theta);
        if (theta == 0) {
            Arrays.fill(z, 0);
            return Outcome.zeroed(0, true);
        }
        if (theta == normOfX) {
            return untouched(0, true, z);
        }
        for (int i = 0; i < z.length; i++) {
            z[i] = x[i] * (theta / normOfX);
        }
        return new Outcome(Branch.SHRUNK, theta, 0, 0, true);
    }

    /** Whether neither difference of the closed form has lost its digits. */
    private boolean isPrecise(double theta) {
        double metric = d[0];
        Piece piece = profile.pieces().getFirst();
        for (Piece next : profile.pieces()) {
            piece = next.from() < theta ? next : piece;
        }
        double excess = metric * normOfX - stepSize * piece.height();
        double curvature = metric - stepSize * piece.bend();
        return theta == 0 || theta == normOfX || (excess >= ENOUGH * metric * normOfX && curvature >= ENOUGH * metric);
    }

    /** A local minimiser: its norm, the equation it comes from, none where the penalty is constant, and whether it has its digits. */
    private record Candidate(double theta, @Nullable SecularEquation equation, boolean precise) {}

    private Outcome solveByRoot(Solver.ByRoot solver, double start, double[] z) {
        List<Candidate> candidates = new ArrayList<>();
        int iterations = 0;
        boolean converged = true;
        boolean longer = longerThan(0);
        if (!longer) {
            candidates.add(new Candidate(0, null, true));
        }
        for (int k = 0; k < profile.pieces().size(); k++) {
            Piece piece = profile.pieces().get(k);
            double end = profile.end(k);
            boolean longerAtEnd = longerThan(end);
            if (piece.flat() && normOfX >= piece.from()) {
                candidates.add(new Candidate(normOfX, null, true));
            } else if (longer) {
                SecularEquation equation =
                        new SecularEquation(u, d, stepSize * piece.bend(), stepSize * piece.height());
                double lower = Math.max(piece.from(), equation.lowerBound());
                double upper = Math.min(Math.min(end, normOfX), equation.upperBound());
                double theta = longerAtEnd ? Double.NaN : upper; // what rounding may leave of a root that must exist
                if (lower < upper) {
                    Root root = solver.finder().find(equation, lower, upper, start, solver.tolerance());
                    iterations += root.iterations();
                    converged &= root.converged();
                    theta = root.exists() ? root.theta() : theta;
                } else if (!Double.isNaN(theta)) {
                    equation.evaluate(theta);
                }
                if (!Double.isNaN(theta)) {
                    candidates.add(new Candidate(theta, equation, isPrecise(equation, piece, theta)));
                }
            }
            longer = longerAtEnd;
        }
        Candidate best = candidates.getFirst();
        for (Candidate candidate : candidates.subList(1, candidates.size())) {
            best = isAsGood(candidate, best) ? candidate : best;
        }
        precise = best.precise();
        return outcome(best, iterations, converged, z);
    }

    /** Whether t falls steeply enough for θ to have digits, and enough of the slope is left for the weights to have them. */
    private boolean isPrecise(SecularEquation equation, Piece piece, double theta) {
        double bent = stepSize * piece.bend() * theta;
        double pull = stepSize * piece.height() - bent;
        return equation.s() >= ENOUGH && (bent <= 0 || pull * equation.s() >= ENOUGH * bent);
    }

    /** Whether {@code ‖z(θ)‖ > θ}: the objective still falls as the norm grows beyond θ. */
    private boolean longerThan(double theta) {
        if (theta >= normOfX) {
            return false; // |z_i| ≤ |x_i|
        }
        double slope = stepSize * profile.slope(theta);
        if (slope == 0) {
            return true;
        }
        SecularEquation equation = new SecularEquation(u, d, 0, slope);
        if (theta == 0) {
            return equation.startsAboveOne();
        }
        equation.evaluate(theta);
        return equation.t() > 1;
    }

    /**
     * Whether the longer of two candidates has the lower objective. What it pays for its penalty, {@code α(h(θ_a) − h(θ_b))}, is held
     * against what it saves, {@code ½ Σ d_i (a_i − b_i)(x_i − a_i + x_i − b_i)}: terms of one sign. The two objectives themselves would
     * not do, nor their distances from the one at zero: of either, a weight with a large metric may have more than all else together.
     */
    private boolean isAsGood(Candidate longer, Candidate shorter) {
        double[] a = new double[x.length];
        double[] b = new double[x.length];
        outcome(longer, 0, true, a);
        outcome(shorter, 0, true, b);
        double[] leftByA = left(longer, a);
        double[] leftByB = left(shorter, b);
        double saved = 0;
        for (int i = 0; i < x.length; i++) {
            // Either is a difference of what is rounded: the one of smaller numbers is nearer.
            double step = Math.abs(a[i]) < Math.abs(leftByB[i]) ? a[i] - b[i] : leftByB[i] - leftByA[i];
            saved += d[i] * step * (leftByA[i] + leftByB[i]);
        }
        double paid = (1 - TIE) * profile.value(longer.theta()) - profile.value(shorter.theta());
        return stepSize * paid <= saved / 2;
    }

    /** {@code x − z} of a candidate, to the last digits. */
    private double[] left(Candidate candidate, double[] z) {
        double[] left = new double[x.length];
        if (candidate.equation() != null) {
            candidate.equation().left(candidate.theta(), x, left);
        } else {
            Arrays.setAll(left, i -> x[i] - z[i]); // all or nothing
        }
        return left;
    }

    private Outcome outcome(Candidate candidate, int iterations, boolean converged, double[] z) {
        double theta = candidate.theta();
        if (theta == 0) {
            Arrays.fill(z, 0);
            return Outcome.zeroed(iterations, converged);
        }
        if (candidate.equation() == null) {
            return untouched(iterations, converged, z);
        }
        candidate.equation().solution(theta, z);
        return new Outcome(Branch.SHRUNK, theta, iterations, Math.abs(Norm.of(z) - theta) / theta, converged);
    }

    private Outcome untouched(int iterations, boolean converged, double[] z) {
        System.arraycopy(x, 0, z, 0, x.length);
        return Outcome.untouched(normOfX, iterations, converged);
    }

    private Outcome iterate(Tolerance tolerance, double[] z) {
        double largest = Norm.largest(d);
        double[] point = x.clone();
        double[] moved = new double[x.length];
        double theta = normOfX;
        double change = Double.POSITIVE_INFINITY;
        int iteration = 0;
        while (iteration < tolerance.maxIterations() && !(change <= tolerance.relative() * theta)) {
            iteration++;
            for (int i = 0; i < x.length; i++) {
                moved[i] = point[i] - d[i] / largest * (point[i] - x[i]);
            }
            double length = Norm.of(moved);
            theta = profile.proximalNorm(length, largest, stepSize);
            double scale = theta == length ? 1 : theta / length;
            for (int i = 0; i < x.length; i++) {
                double next = moved[i] * scale;
                moved[i] = next - point[i];
                point[i] = next;
            }
            change = Norm.of(moved);
        }
        boolean converged =
                change <= tolerance.relative() * theta && (tolerance.relative() > EXACT || isCertain(point, theta));
        boolean same = Arrays.equals(point, x);
        System.arraycopy(point, 0, z, 0, x.length);
        Branch branch = theta == 0 ? Branch.ZEROED : same ? Branch.UNTOUCHED : Branch.SHRUNK;
        return new Outcome(branch, theta, iteration, theta == 0 ? 0 : change / theta, converged);
    }

    /**
     * Whether a point is the minimiser but for 1e-9 of its norm, by its certificate: with {@code r = D(z − x) + αh'(θ)z/θ} and a
     * penalty that bends down by κ at most, {@code Σ (d_i − κ)(z_i − z*_i)² ≤ Σ r_i²/(d_i − κ)}. Small steps alone say nothing of it where
     * the metric is spread. Where a {@code d_i} is not above κ the problem need not be convex, and nothing is certain.
     */
    private boolean isCertain(double[] point, double theta) {
        if (theta == 0) {
            return !longerThan(0)
                    && stepSize * steepest() < Arrays.stream(d).min().orElseThrow();
        }
        double ratio = stepSize * profile.slope(theta) / theta;
        double kappa = stepSize * steepest();
        double sum = 0;
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < x.length; i++) {
            if (x[i] != 0) {
                double rest = d[i] * (point[i] - x[i]) + ratio * point[i];
                double curvature = d[i] - kappa;
                sum += rest * rest / curvature;
                least = Math.min(least, curvature);
            }
        }
        return least > 0 && Math.sqrt(sum / least) <= CERTAIN * theta;
    }

    private double steepest() {
        return profile.pieces().stream().mapToDouble(Piece::bend).max().orElseThrow();
    }
}
