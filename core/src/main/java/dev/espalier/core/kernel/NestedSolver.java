package dev.espalier.core.kernel;

import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.WeightedProx;
import java.util.Arrays;

/**
 * Finds the norms of joint groups whose parts are groups too: the root finding of docs/math/nested.md, with the sums over
 * parts left to others. A cell is a part of a group, its inner group.
 *
 * <p>Symbols: {@code l} the outer threshold, {@code l_c} an inner one, {@code L = l + l_c}; {@code μ = l/‖z‖}. A part's solution
 * is {@code z_i = θu_i/(d_i θ + L)} with one number θ, as if it were a group by itself with the threshold L. With
 * {@code F(θ) = t(θ)^(−1/2)} of its plain equation, θ and μ belong together by {@code (μ/L)θ + (l_c/L)F(θ) = 1}, and the part's
 * norm is {@code θ/F(θ)}. F is increasing and concave.
 *
 * <p>One evaluation of a part yields F and two derivatives, and with them {@code F(b + δ) ≈ f₀ + f₁δ/(1 + aδ)}, Halley's model.
 * On the models of its parts a group is solved without touching memory: a quadratic equation for the θ of a part given μ, and
 * one monotone equation for μ. Where no θ has moved far from where it was evaluated, that is the solution; otherwise those that
 * have are evaluated again. A group that leaves the common paths asks for {@link WeightedProx} itself, in double.
 */
final class NestedSolver extends CellSolver {
    /** Passes after which a group goes to the exact operator. */
    private static final int PATIENCE = 12;

    /** Iterations for μ, which cost no pass; and the relative error that ends them, below what the models are good for. */
    private static final int MODEL_PATIENCE = 100;

    private static final double MODEL_ERROR = 1e-12;

    /** How far below its place the model may send a θ that the tangent would send below zero. */
    private static final double SHORTEST = 0.1;

    private final NestedGroups nested;
    private final int groups;
    private final int parts;
    private final int size;
    private final int[] sizes;
    private final float[] norms;

    private NestedLasso penalty;

    /** l; and for every part l_c and L. */
    private double outer;

    private final double[] inner;
    private final double[] scale;

    private final Need[] needs;
    private final double[] theta;
    private final double[] norm;

    /** What is known of a cell: ‖u‖ or NaN, and its model, or NaN for b. */
    private final double[] normOfU;

    private final double[] base;
    private final double[] value;
    private final double[] slope;
    private final double[] bend;

    private final double[] previous;
    private final int[] passes;
    private final double[] errors;
    private final Branch[] branches;

    /**
     * Of the group that is being solved: a θ for every part; the squared norm, and the logarithmic derivatives of the norm: with
     * respect to μ, and, as a magnitude, to F.
     */
    private final double[] points;

    private double squares;
    private double rate;
    private double spread;

    /**
     * A solver.
     *
     * @param joint the joint groups, whose parts are the inner ones
     * @param penalty the penalty of both
     * @param norms the norm of every part of every group, kept from step to step, part by part
     */
    NestedSolver(JointGroups joint, NestedLasso penalty, float[] norms) {
        this.penalty = penalty;
        this.nested = NestedGroups.ofParts(joint);
        this.norms = norms;
        groups = joint.count();
        parts = joint.parts().size();
        size = joint.size(0);
        sizes = joint.parts().stream().mapToInt(part -> part.size(0)).toArray();
        inner = new double[parts];
        scale = new double[parts];
        points = new double[parts];
        int cells = groups * parts;
        needs = new Need[cells];
        theta = new double[cells];
        norm = new double[cells];
        normOfU = new double[cells];
        base = new double[cells];
        value = new double[cells];
        slope = new double[cells];
        bend = new double[cells];
        previous = new double[groups];
        passes = new int[groups];
        errors = new double[groups];
        branches = new Branch[groups];
        Arrays.fill(needs, Need.NOTHING);
        Arrays.fill(branches, Branch.UNTOUCHED);
    }

    @Override
    int cells() {
        return needs.length;
    }

    @Override
    int cell(int tensor, int group) {
        return tensor * groups + group;
    }

    @Override
    Need need(int cell) {
        return needs[cell];
    }

    @Override
    double theta(int cell) {
        return theta[cell];
    }

    @Override
    double pull(int cell) {
        return scale[cell / groups];
    }

    @Override
    double kappa(int cell) {
        return 0;
    }

    @Override
    boolean flat() {
        return true;
    }

    @Override
    boolean kneed() {
        return false;
    }

    @Override
    void changePenalty(Penalty other) {
        penalty = (NestedLasso) other; // a regularizer takes no other for groups that nest
    }

    @Override
    double singleStrength() {
        return 0;
    }

    @Override
    double singleThreshold() {
        return 0;
    }

    @Override
    boolean asIs(int cell) {
        return exact.get(cell % groups) || branches[cell % groups] == Branch.UNTOUCHED;
    }

    @Override
    boolean busy(int group) {
        for (int part = 0; part < parts; part++) {
            if (needs[cell(part, group)] != Need.NOTHING) {
                return true;
            }
        }
        return false;
    }

    @Override
    void startGroups() {
        outer = stepSize() * penalty.outerStrength(size);
        boolean fast = true;
        for (int part = 0; part < parts; part++) {
            inner[part] = stepSize() * penalty.innerStrength(sizes[part]);
            scale[part] = outer + inner[part];
            fast &= (float) scale[part] > 0;
        }
        boolean idle = stepSize() == 0 || penalty.lambda() == 0;
        for (int group = 0; group < groups; group++) {
            start(group, idle, fast);
        }
    }

    private void start(int group, boolean idle, boolean fast) {
        passes[group] = 0;
        errors[group] = 0;
        branches[group] = Branch.UNTOUCHED;
        double sum = 0;
        for (int part = 0; part < parts; part++) {
            sum += (double) norms[cell(part, group)] * norms[cell(part, group)];
        }
        previous[group] = Math.sqrt(sum);
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            double last = norms[cell];
            normOfU[cell] = Double.NaN;
            base[cell] = Double.NaN;
            norm[cell] = last;
            if (idle) {
                needs[cell] = Need.NOTHING;
            } else if (fast) {
                double threshold = inner[part] + outer * (last / previous[group]);
                evaluateAt(cell, last == 0 ? 0 : last * (scale[part] / threshold));
            } else {
                needs[cell] = Need.EXACT;
            }
        }
    }

    private void evaluateAt(int cell, double at) {
        needs[cell] = Need.EVALUATION;
        theta[cell] = (float) at;
    }

    @Override
    boolean advance(int group, GroupSums sums) {
        if (!busy(group)) {
            return false;
        }
        boolean counted = false;
        boolean sound = true;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            Need need = needs[cell];
            needs[cell] = Need.NOTHING;
            switch (need) {
                case EVALUATION -> {
                    counted |= theta[cell] > 0;
                    sound &= read(cell, part, sums);
                }
                case SURVEY -> sound &= readSurvey(cell, part, sums);
                case EXACT, WEIGHING -> sound = false; // nothing of this kind is weighed
                case NOTHING -> {}
            }
        }
        passes[group] += counted ? 1 : 0;
        if (sound && passes[group] <= PATIENCE) {
            decide(group);
        } else {
            needs[cell(0, group)] = Need.EXACT;
        }
        return needs[cell(0, group)] == Need.EXACT;
    }

    /** The sums of an evaluation. False if they are of no use. */
    private boolean read(int cell, int part, GroupSums sums) {
        double t = sums.get(0, cell);
        double s = sums.get(1, cell);
        double r = sums.get(2, cell);
        if (!Double.isFinite(t + s + r) || Double.isNaN(theta[cell])) {
            return false;
        }
        if (theta[cell] == 0) {
            // Asked for again, it is where the solution is in float, which then says no more of it.
            boolean told = !Double.isNaN(normOfU[cell]);
            normOfU[cell] = scale[part] * Math.sqrt(t);
            return !told;
        }
        double root = 1 / Math.sqrt(t);
        base[cell] = theta[cell];
        value[cell] = root;
        slope[cell] = root * (s / t) / theta[cell];
        bend[cell] = Math.max(0, 1.5 * (r / s - s / t)) / theta[cell];
        return s > 0; // far above the solution, squares vanish in float: that says nothing of u
    }

    /** The sums of a survey: F is at most linear from its value at zero, with either of two slopes. */
    private boolean readSurvey(int cell, int part, GroupSums sums) {
        double sumOfU = sums.get(0, cell);
        double sumOfSquares = sums.get(2, cell);
        double most = -sums.get(Sums.EXTREME, cell);
        base[cell] = 0;
        value[cell] = scale[part] / normOfU[cell];
        slope[cell] = Math.min(most / normOfU[cell], Math.sqrt(sumOfSquares) / sumOfU);
        bend[cell] = 0;
        return Double.isFinite(value[cell]) && slope[cell] > 0 && slope[cell] < Double.POSITIVE_INFINITY;
    }

    /** ‖u‖, or what it is at least: the tangent of F, which is concave, lies above it at zero. */
    private double leastNormOfU(int cell, int part) {
        return Double.isNaN(normOfU[cell])
                ? scale[part] / Math.max(0, value[cell] - slope[cell] * base[cell])
                : normOfU[cell];
    }

    private void decide(int group) {
        double sum = 0;
        boolean known = true;
        for (int part = 0; part < parts; part++) {
            double excess = Math.max(0, leastNormOfU(cell(part, group), part) - inner[part]);
            sum += excess * excess;
            known &= !Double.isNaN(normOfU[cell(part, group)]);
        }
        if (known && sum <= outer * outer) {
            branches[group] = Branch.ZEROED;
            for (int part = 0; part < parts; part++) {
                theta[cell(part, group)] = 0;
                norm[cell(part, group)] = 0;
            }
            return;
        }
        boolean asked = false;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            boolean unsure = sum <= outer * outer || leastNormOfU(cell, part) <= inner[part];
            if (Double.isNaN(normOfU[cell]) && unsure) {
                evaluateAt(cell, 0);
                asked = true;
            } else if (Double.isNaN(base[cell]) && sum > outer * outer && lives(cell, part)) {
                needs[cell] = Need.SURVEY;
                asked = true;
            }
        }
        if (!asked) {
            solveModels(group, Math.sqrt(sum));
        }
    }

    private boolean lives(int cell, int part) {
        return Double.isNaN(normOfU[cell]) || normOfU[cell] > inner[part];
    }

    /** Solves a group on the models of its parts, and has evaluated again what moved too far. */
    private void solveModels(int group, double excess) {
        double mu = outer == 0 ? 0 : solveForMu(group, excess);
        if (Double.isNaN(mu)) {
            needs[cell(0, group)] = Need.EXACT;
            return;
        }
        measure(group, mu);
        double largest = 0;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            if (lives(cell, part)) {
                double step = Math.abs(points[part] - base[cell]) / base[cell];
                largest = Math.max(largest, step);
                if (!(step <= smallStep())) {
                    evaluateAt(cell, points[part]);
                }
            }
        }
        if (!(largest <= smallStep())) {
            return;
        }
        errors[group] = largest * largest * largest + rounding() / 2 * spread / (1 + rate);
        branches[group] = Branch.SHRUNK;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            theta[cell] = lives(cell, part) ? points[part] : 0;
            norm[cell] = lives(cell, part) ? points[part] / modelled(cell, points[part] - base[cell]) : 0;
        }
    }

    /** The root of {@code ln(μ‖z(μ)‖/l)}, which increases in μ; NaN if it cannot be found. */
    private double solveForMu(int group, double excess) {
        double mu = previous[group] > 0 ? outer / previous[group] : outer * steepest(group) / (excess - outer);
        double low = 0;
        double high = Double.POSITIVE_INFINITY;
        for (int iteration = 0; iteration < MODEL_PATIENCE; iteration++) {
            measure(group, mu);
            double error = Math.log(mu * Math.sqrt(squares) / outer);
            if (Math.abs(error) <= MODEL_ERROR) {
                return mu;
            }
            if (error > 0) {
                high = mu;
            } else {
                low = mu;
            }
            double next = mu * Math.exp(-error / (1 + rate));
            if (!(next > low && next < high)) {
                next = high == Double.POSITIVE_INFINITY ? 4 * low : low == 0 ? high / 4 : Math.sqrt(low * high);
            }
            mu = next;
        }
        return Double.NaN;
    }

    /** About the largest d that counts. */
    private double steepest(int group) {
        double most = Float.MIN_NORMAL;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            if (lives(cell, part)) {
                most = Math.max(most, scale[part] * slope[cell] / value[cell]);
            }
        }
        return most;
    }

    /** The θ of all parts for a μ; the squared norm of them together, and its logarithm's half derivative. */
    private void measure(int group, double mu) {
        squares = 0;
        rate = 0;
        spread = 0;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            points[part] = 0;
            if (lives(cell, part)) {
                double m = mu / scale[part];
                double k = inner[part] / scale[part];
                double at = place(cell, m, k);
                double f = modelled(cell, at - base[cell]);
                double stretch = 1 + bend[cell] * (at - base[cell]);
                double derivative = slope[cell] / (stretch * stretch);
                double square = (at / f) * (at / f);
                points[part] = at;
                squares += square;
                double curvature = 1 - at * derivative / f;
                rate -= square * (m / (m + k * derivative)) * curvature;
                spread += square * (1 + k * f / at / (m + k * derivative) * curvature);
            }
        }
        rate /= squares;
        spread /= squares;
    }

    /** F of a cell's model, δ away from where it was evaluated. */
    private double modelled(int cell, double delta) {
        return value[cell] + slope[cell] * delta / (1 + bend[cell] * delta);
    }

    /**
     * The root of {@code m(b + δ) + k(f₀ + f₁δ/(1 + aδ)) = 1}, a quadratic equation for δ. The tangent's root is never beyond
     * it, since F is concave.
     */
    private double place(int cell, double m, double k) {
        double excess = m * base[cell] + k * value[cell] - 1;
        double tangent = -excess / (m + k * slope[cell]);
        double linear = m + bend[cell] * excess + k * slope[cell];
        double divisor = linear + Math.sqrt(Math.max(0, linear * linear - 4 * bend[cell] * m * excess));
        boolean curved = divisor > 0 && k > 0; // without F, the tangent is the equation
        double delta = curved ? Math.max(tangent, -2 * excess / divisor) : tangent;
        return Math.max(base[cell] + delta, SHORTEST * base[cell]);
    }

    @Override
    void giveUp(int group) {
        branches[group] = Branch.UNTOUCHED;
        for (int part = 0; part < parts; part++) {
            needs[cell(part, group)] = Need.NOTHING;
            norm[cell(part, group)] = Double.NaN;
        }
    }

    @Override
    void solveExactly(int group, double[] x, double[] d) {
        var whole = penalty.over(nested.owners(group));
        Outcome outcome = WeightedProx.EXACT.apply(whole, x, d, stepSize(), previous[group], x);
        if (!outcome.converged()) {
            tally.countUnconverged();
        }
        passes[group] += outcome.iterations();
        errors[group] = outcome.residual();
        branches[group] = outcome.branch();
        double[] innerNorms = whole.innerNorms(x);
        for (int part = 0; part < parts; part++) {
            needs[cell(part, group)] = Need.NOTHING;
            norm[cell(part, group)] = innerNorms[part];
        }
    }

    @Override
    void stay(int cell, double length) {
        norm[cell] = length;
    }

    @Override
    void finish(int group) {
        double sum = 0;
        double penalties = 0;
        int zeroed = 0;
        for (int part = 0; part < parts; part++) {
            int cell = cell(part, group);
            norms[cell] = (float) norm[cell];
            sum += norm[cell] * norm[cell];
            penalties += penalty.innerStrength(sizes[part]) * norm[cell];
            zeroed += norm[cell] == 0 ? 1 : 0;
        }
        penalties += penalty.outerStrength(size) * Math.sqrt(sum);
        tally.count(branches[group], passes[group], errors[group], penalties);
        tally.countZeroedWithin(zeroed);
    }
}
