package dev.espalier.prox;

import dev.espalier.numeric.Norm;
import dev.espalier.penalty.Profile;
import dev.espalier.penalty.Profile.Piece;
import dev.espalier.root.Root;
import dev.espalier.root.SecularEquation;
import dev.espalier.root.Tolerance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One group's proximal problem, its numbers in a range where neither products nor squares overflow.
 *
 * <p>The minimiser of {@code (2^a x, 2^b d, 2^b α, h scaled by 2^a)} is {@code 2^a} times that of {@code (x, d, α, h)}, so
 * extreme inputs are moved by powers of two, which costs no digit. Ordinary ones are taken as they are.
 */
final class Subproblem {
    /** Inputs between these need no scaling. */
    private static final double SMALL = 0x1p-100;

    private static final double LARGE = 0x1p+100;

    /** Relative difference of objectives that is only rounding; the longer of two candidates is then taken. */
    private static final double TIE = 1e-14;

    private final Profile profile;
    private final double[] original;
    private final double[] x;
    private final double[] d;
    private final double stepSize;
    private final int exponent;

    private final double[] u;
    private final double normOfX;
    private final boolean spherical;

    private Subproblem(Profile profile, double[] original, double[] x, double[] d, double stepSize, int exponent) {
        this.profile = profile;
        this.original = original;
        this.x = x;
        this.d = d;
        this.stepSize = stepSize;
        this.exponent = exponent;
        this.u = new double[x.length];
        boolean same = true;
        for (int i = 0; i < x.length; i++) {
            u[i] = d[i] * x[i];
            same &= d[i] == d[0];
        }
        this.normOfX = Norm.of(x);
        this.spherical = same;
    }

    static Subproblem of(Profile profile, double[] x, double[] d, double stepSize) {
        double largestX = Norm.largest(x);
        double largestU = 0;
        int exponentOfX = largestX == 0 ? 0 : Math.getExponent(largestX);
        for (int i = 0; i < x.length; i++) {
            largestU = Math.max(largestU, d[i] * Math.scalb(Math.abs(x[i]), -exponentOfX));
        }
        if (largestX == 0 || (inRange(largestX) && inRange(largestU))) {
            return new Subproblem(profile, x, x, d, stepSize, 0);
        }
        int exponentOfD = Math.getExponent(Math.clamp(largestU, Double.MIN_NORMAL, Double.MAX_VALUE));
        double[] scaledX = new double[x.length];
        double[] scaledD = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            scaledX[i] = Math.scalb(x[i], -exponentOfX);
            scaledD[i] = Math.clamp(Math.scalb(d[i], -exponentOfD), Double.MIN_VALUE, 0x1p+400);
        }
        return new Subproblem(
                profile.scaled(stepSize, -exponentOfX, -exponentOfD),
                x,
                scaledX,
                scaledD,
                stepSize == 0 ? 0 : 1,
                exponentOfX);
    }

    private static boolean inRange(double value) {
        return value >= SMALL && value <= LARGE;
    }

    Outcome solve(Solver solver, double start, double[] z) {
        if (x == original) {
            return solveScaled(solver, start, z);
        }
        double[] scaled = new double[z.length];
        Outcome outcome = solveScaled(solver, Math.scalb(start, -exponent), scaled);
        for (int i = 0; i < z.length; i++) {
            double value = Math.min(Math.abs(Math.scalb(scaled[i], exponent)), Math.abs(original[i]));
            z[i] = outcome.branch() == Branch.UNTOUCHED ? original[i] : Math.copySign(value, original[i]);
        }
        return new Outcome(
                outcome.branch(),
                Math.min(Math.scalb(outcome.theta(), exponent), Double.MAX_VALUE),
                outcome.iterations(),
                outcome.residual(),
                outcome.converged());
    }

    private Outcome solveScaled(Solver solver, double start, double[] z) {
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

    /** A local minimiser: its norm, and the equation it comes from; none where the penalty is constant. */
    private record Candidate(double theta, @Nullable SecularEquation equation) {}

    private Outcome solveByRoot(Solver.ByRoot solver, double start, double[] z) {
        List<Candidate> candidates = new ArrayList<>();
        int iterations = 0;
        boolean converged = true;
        boolean longer = longerThan(0);
        if (!longer) {
            candidates.add(new Candidate(0, null));
        }
        for (int k = 0; k < profile.pieces().size(); k++) {
            Piece piece = profile.pieces().get(k);
            double end = profile.end(k);
            boolean longerAtEnd = longerThan(end);
            if (piece.flat() && normOfX >= piece.from()) {
                candidates.add(new Candidate(normOfX, null));
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
                }
                if (!Double.isNaN(theta)) {
                    candidates.add(new Candidate(theta, equation));
                }
            }
            longer = longerAtEnd;
        }
        Candidate best = candidates.getFirst();
        for (Candidate candidate : candidates.subList(1, candidates.size())) {
            best = gain(candidate) >= gain(best) * (1 - TIE) ? candidate : best;
        }
        return outcome(best, iterations, converged, z);
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
     * How far a candidate lies below the objective at zero: {@code Σuz − ½Σdz² − αh(θ)}, where stationarity makes
     * {@code Σdz² = Σuz − αh'(θ)θ}.
     */
    private double gain(Candidate candidate) {
        double theta = candidate.theta();
        if (theta == 0) {
            return 0;
        }
        double[] z = new double[x.length];
        outcome(candidate, 0, true, z);
        double product = 0;
        for (int i = 0; i < z.length; i++) {
            product += u[i] * z[i];
        }
        return product / 2 - stepSize * (profile.value(theta) - profile.slope(theta) * theta / 2);
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
        boolean converged = change <= tolerance.relative() * theta;
        boolean same = Arrays.equals(point, x);
        System.arraycopy(point, 0, z, 0, x.length);
        Branch branch = theta == 0 ? Branch.ZEROED : same ? Branch.UNTOUCHED : Branch.SHRUNK;
        return new Outcome(branch, theta, iteration, theta == 0 ? 0 : change / theta, converged);
    }
}
