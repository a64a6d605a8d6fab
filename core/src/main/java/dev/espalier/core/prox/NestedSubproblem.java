package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.root.NestedEquation;
import dev.espalier.core.root.Root;
import dev.espalier.core.root.Tolerance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The proximal problem of one group with groups within it.
 *
 * <p>Inner groups of one weight come off first: whatever the rest does, such a weight ends at {@code (|u_i| − l_c)₊} in place
 * of {@code |u_i|}. If no other inner group has a penalty, what is left is the problem of a group by itself. If the outer group
 * has none, it is one such problem for every inner group. Otherwise all is zero if {@code Σ_c (‖u_c‖ − l_c)₊² ≤ l²}, and if not,
 * the norm of the solution is the root of a {@link NestedEquation}.
 */
final class NestedSubproblem {
    private final NestedProfile penalty;
    private final double stepSize;
    private final Solver solver;
    private final double[] d;

    /** The candidate, and what the inner groups of one weight leave of it. */
    private final double[] original;

    private final double[] x;

    /** The weights of every inner group of more than one weight that has a penalty, and those of no such group. */
    private final List<int[]> children = new ArrayList<>();

    private final List<Profile> profiles = new ArrayList<>();
    private final int[] free;

    private boolean precise = true;

    NestedSubproblem(NestedProfile penalty, double[] original, double[] d, double stepSize, Solver solver) {
        this.penalty = penalty;
        this.original = original;
        this.d = d;
        this.stepSize = stepSize;
        this.solver = solver;
        this.x = original.clone();
        List<List<Integer>> members = new ArrayList<>();
        penalty.inner().forEach(profile -> members.add(new ArrayList<>()));
        List<Integer> none = new ArrayList<>();
        for (int i = 0; i < original.length; i++) {
            int owner = penalty.owner(i);
            (owner == NestedProfile.NONE ? none : members.get(owner)).add(i);
        }
        for (int child = 0; child < members.size(); child++) {
            Profile profile = penalty.inner().get(child);
            List<Integer> weights = members.get(child);
            if (weights.size() == 1) {
                int i = weights.getFirst();
                double shorter = profile.proximalNorm(Math.abs(x[i]), d[i], stepSize);
                precise &= keepsDigits(d[i] * Math.abs(x[i]), stepSize * profile.slope(0));
                x[i] = shorter == 0 ? 0 : Math.copySign(shorter, x[i]);
            }
            if (weights.size() == 1 || profile.slope(0) == 0) {
                none.addAll(weights);
            } else {
                children.add(weights.stream().mapToInt(Integer::intValue).toArray());
                profiles.add(profile);
            }
        }
        free = none.stream().mapToInt(Integer::intValue).sorted().toArray();
    }

    /** Whether double arithmetic has left the solution of {@link #solve} nine digits, as far as the conditions of its equations say. */
    boolean precise() {
        return precise;
    }

    Outcome solve(double start, double[] z) {
        double metric = d[0];
        if (solver instanceof Solver.AdaProx(Tolerance tolerance) && stepSize > 0) {
            return iterate(tolerance, z);
        }
        if (children.isEmpty()) {
            Subproblem outer = new Subproblem(penalty.outer(), x, d, stepSize);
            Outcome outcome = outer.solve(solver, start, z);
            precise &= outer.precise();
            return named(outcome, z);
        }
        if (stepSize == 0 || penalty.outer().slope(0) == 0) {
            return solveApart(z);
        }
        if (Arrays.stream(d).allMatch(value -> value == metric)) {
            precise &= composesPrecisely(metric);
            System.arraycopy(original, 0, z, 0, z.length);
            compose(z, metric);
            return named(new Outcome(Branch.SHRUNK, Norm.of(z), 0, 0, true), z);
        }
        return solveTogether((Solver.ByRoot) solver, start, z);
    }

    /** An outcome with the branch that {@code z} tells. */
    private Outcome named(Outcome outcome, double[] z) {
        Branch branch =
                outcome.theta() == 0 ? Branch.ZEROED : Arrays.equals(z, original) ? Branch.UNTOUCHED : Branch.SHRUNK;
        return new Outcome(branch, outcome.theta(), outcome.iterations(), outcome.residual(), outcome.converged());
    }

    /** Without a penalty of the outer group, every inner group is a problem by itself. */
    private Outcome solveApart(double[] z) {
        System.arraycopy(x, 0, z, 0, z.length);
        int iterations = 0;
        double residual = 0;
        boolean converged = true;
        for (int child = 0; child < children.size(); child++) {
            int[] weights = children.get(child);
            double[] part = gather(x, weights);
            Subproblem inner = new Subproblem(profiles.get(child), part, gather(d, weights), stepSize);
            Outcome outcome = inner.solve(solver, Double.NaN, part);
            precise &= inner.precise();
            scatter(part, weights, z);
            iterations += outcome.iterations();
            residual = Math.max(residual, outcome.residual());
            converged &= outcome.converged();
        }
        return named(new Outcome(Branch.SHRUNK, Norm.of(z), iterations, residual, converged), z);
    }

    private Outcome solveTogether(Solver.ByRoot byRoot, double start, double[] z) {
        Arrays.fill(z, 0);
        double threshold = stepSize * penalty.outer().slope(0);
        int[] living = notZero(free);
        double[] u = preconditioned(living);
        NestedEquation equation =
                new NestedEquation(u, gather(d, living), threshold, byRoot.finder(), byRoot.tolerance());
        List<int[]> livingChildren = new ArrayList<>();
        List<Double> excesses = new ArrayList<>(List.of(Norm.of(u)));
        double[] extremes = extremes(living, new double[] {Double.POSITIVE_INFINITY, 0});
        for (int child = 0; child < children.size(); child++) {
            int[] weights = notZero(children.get(child));
            double[] part = preconditioned(weights);
            double innerThreshold = stepSize * profiles.get(child).slope(0);
            double normOfU = Norm.of(part);
            double excess = normOfU - innerThreshold;
            precise &= keepsDigits(normOfU, innerThreshold);
            if (excess > 0) {
                equation.add(part, gather(d, weights), innerThreshold);
                livingChildren.add(weights);
                excesses.add(excess);
                extremes(weights, extremes);
            }
        }
        double normOfExcesses =
                Norm.of(excesses.stream().mapToDouble(Double::doubleValue).toArray());
        double excess = normOfExcesses - threshold;
        precise &= keepsDigits(normOfExcesses, threshold);
        if (excess <= 0) {
            return Outcome.zeroed(0, true);
        }
        double lower = excess / extremes[1];
        double upper = Math.min(excess / extremes[0], Norm.of(x));
        Root root = lower < upper
                ? byRoot.finder().find(equation, lower, upper, start, byRoot.tolerance())
                : new Root(upper, 0, true); // what rounding leaves of the bracket
        double theta = root.exists() ? root.theta() : upper;
        double[] part = new double[living.length];
        List<double[]> parts = equation.solution(theta, part);
        precise &= root.iterations() == 0 || equation.s() >= Subproblem.ENOUGH;
        scatter(part, living, z);
        for (int child = 0; child < parts.size(); child++) {
            scatter(parts.get(child), livingChildren.get(child), z);
        }
        return new Outcome(
                Branch.SHRUNK,
                theta,
                root.iterations(),
                Math.abs(Norm.of(z) - theta) / theta,
                root.converged() && equation.converged());
    }

    /** Whether the difference of a norm and its threshold has kept its digits, if it needs any. */
    private static boolean keepsDigits(double normOfU, double threshold) {
        return normOfU <= threshold || normOfU - threshold >= Subproblem.ENOUGH * normOfU;
    }

    /** A weight that is zero stays zero and has no say. */
    private int[] notZero(int[] weights) {
        return Arrays.stream(weights).filter(i -> x[i] != 0).toArray();
    }

    private double[] preconditioned(int[] weights) {
        return Arrays.stream(weights).mapToDouble(i -> d[i] * x[i]).toArray();
    }

    private double[] extremes(int[] weights, double[] extremes) {
        for (int i : weights) {
            extremes[0] = Math.min(extremes[0], d[i]);
            extremes[1] = Math.max(extremes[1], d[i]);
        }
        return extremes;
    }

    private static double[] gather(double[] values, int[] weights) {
        return Arrays.stream(weights).mapToDouble(i -> values[i]).toArray();
    }

    private static void scatter(double[] part, int[] weights, double[] values) {
        for (int i = 0; i < weights.length; i++) {
            values[weights[i]] = part[i];
        }
    }

    /**
     * The operator in a spherical metric, in place: in that metric, and in no other, it is the inner groups' operators and
     * then the outer one's (Jenatton and others, 2011).
     */
    private double compose(double[] point, double metric) {
        double[] norms = penalty.innerNorms(point);
        double[] scales = new double[norms.length];
        for (int child = 0; child < scales.length; child++) {
            double shorter = penalty.inner().get(child).proximalNorm(norms[child], metric, stepSize);
            scales[child] = shorter == norms[child] ? 1 : shorter / norms[child];
        }
        for (int i = 0; i < point.length; i++) {
            int owner = penalty.owner(i);
            point[i] *= owner == NestedProfile.NONE ? 1 : scales[owner];
        }
        double norm = Norm.of(point);
        double theta = penalty.outer().proximalNorm(norm, metric, stepSize);
        double scale = theta == norm ? 1 : theta / norm;
        for (int i = 0; i < point.length; i++) {
            point[i] *= scale;
        }
        return theta;
    }

    /** Whether all differences of {@link #compose} keep their digits. */
    private boolean composesPrecisely(double metric) {
        double[] norms = penalty.innerNorms(original);
        double[] shorter = new double[norms.length];
        boolean keeps = true;
        for (int child = 0; child < norms.length; child++) {
            double threshold = stepSize * penalty.inner().get(child).slope(0);
            keeps &= keepsDigits(metric * norms[child], threshold);
            shorter[child] = Math.max(0, metric * norms[child] - threshold);
        }
        double[] alone = IntStream.range(0, original.length)
                .filter(i -> penalty.owner(i) == NestedProfile.NONE)
                .mapToDouble(i -> metric * original[i])
                .toArray();
        double norm = Norm.of(new double[] {Norm.of(shorter), Norm.of(alone)});
        return keeps && keepsDigits(norm, stepSize * penalty.outer().slope(0));
    }

    private Outcome iterate(Tolerance tolerance, double[] z) {
        double largest = Norm.largest(d);
        double[] point = original.clone();
        double theta = Norm.of(point);
        double change = Double.POSITIVE_INFINITY;
        int iteration = 0;
        while (iteration < tolerance.maxIterations() && !(change <= tolerance.relative() * theta)) {
            iteration++;
            double[] next = new double[point.length];
            for (int i = 0; i < next.length; i++) {
                next[i] = point[i] - d[i] / largest * (point[i] - original[i]);
            }
            theta = compose(next, largest);
            double[] last = point;
            double[] difference = new double[next.length];
            Arrays.setAll(difference, i -> next[i] - last[i]);
            change = Norm.of(difference);
            point = next;
        }
        System.arraycopy(point, 0, z, 0, z.length);
        boolean converged =
                change <= tolerance.relative() * theta && (tolerance.relative() > Subproblem.EXACT || isCertain(point));
        return named(new Outcome(Branch.SHRUNK, theta, iteration, theta == 0 ? 0 : change / theta, converged), z);
    }

    /** Whether a point is the minimiser but for 1e-9 of its norm, by the same certificate as in {@link Subproblem}. */
    private boolean isCertain(double[] point) {
        double[] gradient = new double[point.length];
        Arrays.setAll(gradient, i -> d[i] * (point[i] - original[i]) / stepSize);
        double bend = penalty.outer().pieces().stream()
                .mapToDouble(Profile.Piece::bend)
                .max()
                .orElseThrow();
        double curvature = Arrays.stream(d).min().orElseThrow() - stepSize * bend;
        double distance = stepSize * penalty.stationarityDistance(point, gradient);
        return curvature > 0 && distance <= Subproblem.CERTAIN * Norm.of(point) * curvature;
    }
}
