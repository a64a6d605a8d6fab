package dev.espalier.core.prox;

import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The proximal problem of one group in {@link Wide} arithmetic: for numbers anywhere in the range of double, and for roots of which
 * double leaves too few digits.
 *
 * <p>The same theory as {@link Subproblem} and {@link NestedSubproblem}, with one root finder: Newton's iteration on
 * {@code ψ = t^(−1/2) − 1} from the left. ψ is concave, and nearly linear between the points where one weight takes over from
 * another; so the iteration never passes the root, and climbs over any number of orders of magnitude in about as many steps as there
 * are weights.
 *
 * <p>The outcome has converged only if every weight of the result is the minimiser's but for {@link #ALLOWED}. One that falls below the
 * range of normal doubles is not: rounding takes its digits, and the residual says how many.
 */
final class WideSubproblem {
    /** The relative error that a weight of a converged result may have. */
    static final double ALLOWED = 1e-10;

    private static final int MAX_ITERATIONS = 500;

    /** Share of the penalty that counts as rounding when minima are compared, as in {@link Subproblem}. */
    private static final Wide TIE = Wide.of(1e-14);

    /** A relative step of θ that is only rounding. */
    private static final Wide LAST_STEP = Wide.ONE.shifted(-96);

    private static final Wide LAST_EXCESS = Wide.ONE.shifted(-96);

    /** The relative error of {@code t} that rounding leaves. */
    private static final double ROUNDING = 0x1p-92;

    private final double[] x;
    private final double[] d;
    private final Wide stepSize;
    private int iterations;
    private boolean converged = true;

    /** A bound on the relative error of what has been solved for, apart from the last rounding. */
    private double error;

    private WideSubproblem(double[] x, double[] d, double stepSize) {
        this.x = x;
        this.d = d;
        this.stepSize = Wide.of(stepSize);
    }

    static Outcome solve(Profile profile, double[] x, double[] d, double stepSize, double[] z) {
        return solve(NestedProfile.flat(profile, x.length), x, d, stepSize, z);
    }

    static Outcome solve(NestedProfile penalty, double[] x, double[] d, double stepSize, double[] z) {
        return new WideSubproblem(x.clone(), d, stepSize).solve(penalty, z);
    }

    /** Weights whose {@code u} is not zero, as magnitudes: {@code u = D x}. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Part(int[] indices, Wide[] x, Wide[] u, Wide[] d) {
        Wide normOfU() {
            return norm(u);
        }

        Wide largestD() {
            return Arrays.stream(d).reduce(Wide.ZERO, Wide::atLeast);
        }
    }

    private static Wide norm(Wide[] values) {
        return Arrays.stream(values)
                .map(Wide::squared)
                .reduce(Wide.ZERO, Wide::plus)
                .root();
    }

    private Part part(List<Integer> members, Wide[] u) {
        int[] indices = members.stream()
                .mapToInt(Integer::intValue)
                .filter(i -> !u[i].isZero())
                .toArray();
        Wide[] partOfU = Arrays.stream(indices).mapToObj(i -> u[i]).toArray(Wide[]::new);
        Wide[] partOfD = Arrays.stream(indices).mapToObj(i -> Wide.of(d[i])).toArray(Wide[]::new);
        Wide[] partOfX = new Wide[indices.length];
        Arrays.setAll(partOfX, i -> partOfU[i].over(partOfD[i]));
        return new Part(indices, partOfX, partOfU, partOfD);
    }

    private Outcome solve(NestedProfile penalty, double[] z) {
        Wide[] u = new Wide[x.length];
        Arrays.setAll(u, i -> Wide.of(Math.abs(x[i])).times(Wide.of(d[i])));
        List<List<Integer>> members = new ArrayList<>();
        penalty.inner().forEach(profile -> members.add(new ArrayList<>()));
        List<Integer> free = new ArrayList<>();
        for (int i = 0; i < x.length; i++) {
            int owner = penalty.owner(i);
            (owner == NestedProfile.NONE ? free : members.get(owner)).add(i);
        }
        boolean touched = false;
        List<Child> children = new ArrayList<>();
        for (int index = 0; index < members.size(); index++) {
            List<Integer> weights = members.get(index);
            Wide threshold = stepSize.times(Wide.of(penalty.inner().get(index).slope(0)));
            if (weights.size() == 1 && threshold.isPositive()) {
                int i = weights.getFirst();
                touched |= !u[i].isZero();
                Wide left = u[i].minus(threshold);
                error = Math.max(error, left.isPositive() ? cancelled(u[i], left) : 0);
                u[i] = left.atLeast(Wide.ZERO);
            }
            if (weights.size() == 1 || threshold.isZero()) {
                free.addAll(weights);
            } else {
                children.add(new Child(part(weights, u), threshold));
            }
        }
        Wide[] solution = new Wide[x.length];
        Arrays.fill(solution, Wide.ZERO);
        Part freePart = part(free, u);
        Wide outerThreshold = stepSize.times(Wide.of(penalty.outer().slope(0)));
        Wide theta;
        if (children.isEmpty()) {
            touched |= solveFlat(penalty.outer(), freePart, solution);
            theta = norm(solution);
        } else {
            touched |= children.stream().anyMatch(child -> child.part.indices().length > 0);
            if (outerThreshold.isZero()) {
                scatter(freePart.x(), freePart, solution);
                children.forEach(child ->
                        scatter(new Ball(child.part, child.threshold, Wide.ZERO).solve(), child.part, solution));
            } else {
                touched = true;
                new Tree(freePart, children.stream().filter(Child::isAlive).toList(), outerThreshold).solve(solution);
            }
            theta = norm(solution);
        }
        return touched ? outcome(solution, theta, z) : untouched(z);
    }

    private Outcome untouched(double[] z) {
        System.arraycopy(x, 0, z, 0, x.length);
        Wide[] all = Arrays.stream(x).mapToObj(Wide::of).toArray(Wide[]::new);
        double norm = Math.min(norm(all).doubleValue(), Double.MAX_VALUE);
        return norm == 0 ? Outcome.zeroed(iterations, true) : Outcome.untouched(norm, iterations, converged);
    }

    private static void scatter(Wide[] values, Part part, Wide[] solution) {
        for (int i = 0; i < values.length; i++) {
            solution[part.indices()[i]] = values[i];
        }
    }

    /** Rounds the solution, and says by how much. */
    private Outcome outcome(Wide[] solution, Wide theta, double[] z) {
        double residual = error;
        boolean zero = true;
        for (int i = 0; i < z.length; i++) {
            double value = Math.min(solution[i].doubleValue(), Math.abs(x[i]));
            z[i] = value == 0 ? 0 : Math.copySign(value, x[i]);
            zero &= value == 0;
            if (!solution[i].isZero()) {
                Wide difference = Wide.of(value).minus(solution[i]);
                residual =
                        Math.max(residual, Math.abs(difference.over(solution[i]).doubleValue()));
            }
        }
        boolean good = converged && residual <= ALLOWED;
        residual = Math.min(residual, Double.MAX_VALUE); // there is no other number in JSON
        double norm = Math.min(theta.doubleValue(), Double.MAX_VALUE);
        return zero || norm == 0
                ? new Outcome(Branch.ZEROED, 0, iterations, residual, good)
                : new Outcome(Branch.SHRUNK, norm, iterations, residual, good);
    }

    /** The relative error of a difference, from the relative error of the minuend. */
    private static double cancelled(Wide minuend, Wide difference) {
        return ROUNDING * minuend.over(difference).doubleValue();
    }

    /** A stationary point of norm θ: {@code z_i = u_i/(d_i + ρ)} with {@code ρ = αh'(θ)/θ}; none for zero, where it is infinite. */
    private record Candidate(Wide theta, @Nullable Wide ratio, double error) {
        static final Candidate NOTHING = new Candidate(Wide.ZERO, null, 0);
    }

    /** Solves the problem of a penalty of one norm. Returns whether the part was touched. */
    private boolean solveFlat(Profile profile, Part part, Wide[] solution) {
        int n = part.indices().length;
        if (n == 0) {
            return false;
        }
        if (stepSize.isZero()) {
            scatter(part.x(), part, solution);
            return false;
        }
        Wide normOfX = norm(part.x());
        List<Candidate> candidates = new ArrayList<>();
        boolean longer = isLonger(part, Wide.ZERO, pull(profile.pieces().getFirst(), Wide.ZERO));
        if (!longer) {
            candidates.add(Candidate.NOTHING);
        }
        for (int k = 0; k < profile.pieces().size(); k++) {
            Piece piece = profile.pieces().get(k);
            double end = profile.end(k);
            boolean last = end == Double.POSITIVE_INFINITY; // a piece from infinity on is none
            Wide until = last ? normOfX : Wide.of(end);
            boolean beyond = !last && normOfX.exceeds(until); // the group may be longer than the piece
            boolean longerBefore = beyond && isLonger(part, until, pull(piece, until));
            boolean longerAfter =
                    beyond && isLonger(part, until, pull(profile.pieces().get(k + 1), until));
            if (piece.flat() && !Wide.of(piece.from()).exceeds(normOfX)) {
                candidates.add(new Candidate(normOfX, Wide.ZERO, 0));
            } else if (longer) {
                Candidate root = root(part, piece, until.atMost(normOfX));
                if (root != null) {
                    candidates.add(root);
                } else if (longerBefore && !longerAfter) { // the slope jumps up, if only by rounding
                    candidates.add(new Candidate(until, pull(piece, until).over(until), 0));
                }
            }
            longer = longerAfter;
            if (last) {
                break;
            }
        }
        if (candidates.isEmpty()) { // what rounding may leave of a root that must exist
            converged = false;
            candidates.add(new Candidate(normOfX, Wide.ZERO, 1));
        }
        Candidate best = candidates.getFirst();
        for (Candidate candidate : candidates.subList(1, candidates.size())) {
            best = isAsGood(profile, part, candidate, best) ? candidate : best;
        }
        error = Math.max(error, best.error());
        if (best.ratio() != null) {
            scatter(point(part, best.ratio()), part, solution);
        }
        return best.ratio() == null || !best.ratio().isZero();
    }

    private static Wide[] point(Part part, Wide ratio) {
        Wide[] z = new Wide[part.u().length];
        Arrays.setAll(z, i -> part.u()[i].over(part.d()[i].plus(ratio)));
        return z;
    }

    /** {@code α(height − bend·θ)}, never negative. */
    private Wide pull(Piece piece, Wide theta) {
        return stepSize.times(
                        Wide.of(piece.height()).minus(Wide.of(piece.bend()).times(theta)))
                .atLeast(Wide.ZERO);
    }

    /** Whether {@code ‖z(θ)‖ > θ}. */
    private boolean isLonger(Part part, Wide theta, Wide pull) {
        if (pull.isZero()) {
            return norm(part.x()).exceeds(theta);
        }
        iterations += theta.isZero() ? 0 : 1;
        Wide sum = Wide.ZERO;
        for (int i = 0; i < part.u().length; i++) {
            Wide divisor = part.d()[i].times(theta).plus(pull);
            sum = sum.plus(part.u()[i].over(divisor).squared());
        }
        return sum.exceeds(Wide.ONE);
    }

    /** The smallest root of a piece, if there is one up to its end. */
    private @Nullable Candidate root(Part part, Piece piece, Wide upper) {
        Wide threshold = stepSize.times(Wide.of(piece.height()));
        Wide kappa = stepSize.times(Wide.of(piece.bend()));
        Wide largest = part.largestD().minus(kappa);
        if (!largest.isPositive()) {
            return null; // t does not fall
        }
        Wide[] p = new Wide[part.d().length];
        Arrays.setAll(p, i -> part.d()[i].minus(kappa));
        Wide theta = part.normOfU().minus(threshold).over(largest).atLeast(Wide.of(piece.from()));
        Wide limit = upper.plus(upper.times(LAST_STEP));
        if (theta.exceeds(limit)) {
            return null;
        }
        for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
            iterations++;
            Wide pull = pull(piece, theta);
            Wide t = Wide.ZERO;
            Wide fall = Wide.ZERO;
            for (int i = 0; i < p.length; i++) {
                Wide divisor = part.d()[i].times(theta).plus(pull);
                Wide square = part.u()[i].over(divisor).squared();
                t = t.plus(square);
                fall = fall.plus(square.times(p[i]).over(divisor));
            }
            if (!fall.isPositive()) {
                return null;
            }
            Wide next = theta.plus(newtonStep(t, fall));
            if (next.exceeds(limit)) {
                return null;
            }
            if (isLast(next.minus(theta), theta, t)) {
                next = next.atMost(upper).atLeast(Wide.of(piece.from()));
                Wide nextPull = pull(piece, next);
                return new Candidate(next, nextPull.over(next), error(fall.times(next), kappa.times(next), nextPull));
            }
            theta = next;
        }
        converged = false;
        return new Candidate(theta, pull(piece, theta).over(theta), 1);
    }

    /** A bound on the relative error of the solution's weights, from how steeply {@code t} falls and how much of the slope is left. */
    private static double error(Wide fall, Wide bent, Wide pull) {
        double ofTheta = ROUNDING / fall.doubleValue();
        return bent.isPositive() && pull.isPositive()
                ? ofTheta * (1 + bent.over(pull).doubleValue())
                : ofTheta;
    }

    /** Whether a step is only rounding: it moves θ by nothing, or {@code t} is one. */
    private static boolean isLast(Wide step, Wide theta, Wide t) {
        Wide excess = t.minus(Wide.ONE);
        return !step.exceeds(theta.times(LAST_STEP)) || !excess.exceeds(LAST_EXCESS);
    }

    /** Newton's step on {@code t^(−1/2) − 1}, for {@code fall = −t'/2}. */
    private static Wide newtonStep(Wide t, Wide fall) {
        return t.minus(Wide.ONE).over(t.root().plus(Wide.ONE)).times(t.over(fall));
    }

    /**
     * Whether the longer of two candidates has the lower objective: what it pays for its penalty against what it saves. With
     * {@code z_i = u_i/(d_i + ρ)} all terms of either have one sign, and differences cancel in one place only, {@code ρ_b − ρ_a}.
     */
    private boolean isAsGood(Profile profile, Part part, Candidate longer, Candidate shorter) {
        Wide ratio = longer.ratio() == null ? Wide.ZERO : longer.ratio();
        Wide saved = Wide.ZERO;
        for (int i = 0; i < part.u().length; i++) {
            Wide divisor = part.d()[i].plus(ratio);
            Wide left = ratio.over(divisor);
            Wide term;
            if (shorter.ratio() == null) {
                term = Wide.ONE.over(divisor).times(left.plus(Wide.ONE));
            } else {
                Wide other = part.d()[i].plus(shorter.ratio());
                term = shorter.ratio()
                        .minus(ratio)
                        .over(divisor.times(other))
                        .times(left.plus(shorter.ratio().over(other)));
            }
            saved = saved.plus(term.times(part.u()[i]).times(part.u()[i]));
        }
        Wide paid = stepSize.times(rise(profile, shorter.theta(), longer.theta()));
        Wide spared = stepSize.times(rise(profile, Wide.ZERO, longer.theta())).times(TIE);
        return !paid.minus(spared).exceeds(saved.shifted(-1));
    }

    /** Increase of the penalty between two norms. */
    private static Wide rise(Profile profile, Wide from, Wide to) {
        Wide sum = Wide.ZERO;
        for (int k = 0; k < profile.pieces().size() && profile.pieces().get(k).from() < Double.POSITIVE_INFINITY; k++) {
            Piece piece = profile.pieces().get(k);
            Wide start = Wide.of(piece.from()).atLeast(from);
            double end = profile.end(k);
            Wide stop = end == Double.POSITIVE_INFINITY ? to : Wide.of(end).atMost(to);
            if (stop.exceeds(start)) {
                Wide slopes = slope(piece, start).plus(slope(piece, stop));
                sum = sum.plus(stop.minus(start).times(slopes).shifted(-1));
            }
        }
        return sum;
    }

    private static Wide slope(Piece piece, Wide norm) {
        return Wide.of(piece.height()).minus(Wide.of(piece.bend()).times(norm)).atLeast(Wide.ZERO);
    }

    /** An inner group. */
    private record Child(Part part, Wide threshold) {
        boolean isAlive() {
            return part.normOfU().exceeds(threshold);
        }

        Wide excess() {
            return part.normOfU().minus(threshold);
        }
    }

    /** The problem {@code Σ u_i²/(e_i τ + l)² = 1} with {@code e_i = d_i θ + outer}: an inner group's, for a norm of the whole one. */
    private final class Ball {
        final Part part;
        final Wide threshold;
        final Wide outer;
        final Wide normOfU;

        Ball(Part part, Wide threshold, Wide outer) {
            this.part = part;
            this.threshold = threshold;
            this.outer = outer;
            this.normOfU = part.normOfU();
        }

        /** τ, the weights' {@code w_i²} at it and their divisors. */
        Wide tau = Wide.ZERO;

        Wide[] squares = new Wide[0];
        Wide[] divisors = new Wide[0];

        void solve(Wide theta) {
            Wide[] e = new Wide[part.d().length];
            Wide largest = Wide.ZERO;
            for (int i = 0; i < e.length; i++) {
                e[i] = part.d()[i].times(theta).plus(outer);
                largest = largest.atLeast(e[i]);
            }
            Wide lowest = normOfU.minus(threshold).over(largest);
            boolean left = !tau.exceeds(lowest);
            Wide at = left ? lowest : tau;
            squares = new Wide[e.length];
            divisors = new Wide[e.length];
            for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
                Wide t = Wide.ZERO;
                Wide fall = Wide.ZERO;
                for (int i = 0; i < e.length; i++) {
                    divisors[i] = e[i].times(at).plus(threshold);
                    squares[i] = part.u()[i].over(divisors[i]).squared();
                    t = t.plus(squares[i]);
                    fall = fall.plus(squares[i].times(e[i]).over(divisors[i]));
                }
                Wide step = newtonStep(t, fall);
                tau = step.plus(at.shifted(-1)).isPositive()
                        ? at.plus(step).atLeast(lowest)
                        : lowest; // the difference would have no digits
                if (left && isLast(step, at, t)) {
                    error = Math.max(error, ROUNDING / fall.times(tau).doubleValue());
                    return;
                }
                left = true; // the first step from the right lands on the left
                at = tau;
            }
            converged = false;
        }

        /** The inner group by itself. */
        Wide[] solve() {
            Wide[] z = new Wide[part.u().length];
            Arrays.fill(z, Wide.ZERO);
            if (normOfU.exceeds(threshold)) {
                solve(Wide.ONE);
                Arrays.setAll(z, i -> part.u()[i].times(tau).over(divisors[i]));
            }
            return z;
        }
    }

    /** The problem of an outer norm above inner ones that are not zero. */
    private final class Tree {
        private final Part free;
        private final Wide threshold;
        private final List<Ball> balls = new ArrayList<>();
        private final Wide[] excesses;

        Tree(Part free, List<Child> children, Wide threshold) {
            this.free = free;
            this.threshold = threshold;
            children.forEach(child -> balls.add(new Ball(child.part(), child.threshold(), threshold)));
            this.excesses = new Wide[children.size() + 1];
            Arrays.setAll(
                    excesses, i -> i == 0 ? free.normOfU() : children.get(i - 1).excess());
            children.forEach(child -> error = Math.max(error, cancelled(child.threshold(), child.excess())));
        }

        void solve(Wide[] solution) {
            Wide excess = norm(excesses).minus(threshold);
            if (!excess.isPositive()) {
                error = 0;
                return;
            }
            Wide largest = balls.stream().map(ball -> ball.part.largestD()).reduce(free.largestD(), Wide::atLeast);
            Wide theta = excess.over(largest);
            for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
                iterations++;
                Wide t = Wide.ZERO;
                Wide fall = Wide.ZERO; // times θ
                for (int i = 0; i < free.u().length; i++) {
                    Wide grown = free.d()[i].times(theta);
                    Wide divisor = grown.plus(threshold);
                    Wide square = free.u()[i].over(divisor).squared();
                    t = t.plus(square);
                    fall = fall.plus(square.times(grown).over(divisor));
                }
                for (Ball ball : balls) {
                    ball.solve(theta);
                    Wide square = ball.tau.squared();
                    t = t.plus(square);
                    fall = fall.plus(square.times(rate(ball, theta)));
                }
                Wide step = newtonStep(t, fall).times(theta);
                Wide next = theta.plus(step);
                if (isLast(step, theta, t)) {
                    error = Math.max(error, ROUNDING / fall.doubleValue());
                    finish(next, solution);
                    return;
                }
                theta = next;
            }
            converged = false;
            finish(theta, solution);
        }

        /** {@code −d ln τ/d ln θ}. */
        private static Wide rate(Ball ball, Wide theta) {
            Wide above = Wide.ZERO;
            Wide below = Wide.ZERO;
            for (int i = 0; i < ball.squares.length; i++) {
                Wide grown = ball.part.d()[i].times(theta);
                Wide share = ball.squares[i].times(ball.tau).over(ball.divisors[i]);
                above = above.plus(share.times(grown));
                below = below.plus(share.times(grown.plus(ball.outer)));
            }
            return above.over(below);
        }

        private void finish(Wide theta, Wide[] solution) {
            for (int i = 0; i < free.u().length; i++) {
                Wide divisor = free.d()[i].times(theta).plus(threshold);
                solution[free.indices()[i]] = free.u()[i].times(theta).over(divisor);
            }
            for (Ball ball : balls) {
                ball.solve(theta);
                for (int i = 0; i < ball.divisors.length; i++) {
                    solution[ball.part.indices()[i]] =
                            ball.part.u()[i].times(theta.times(ball.tau)).over(ball.divisors[i]);
                }
            }
        }
    }
}
