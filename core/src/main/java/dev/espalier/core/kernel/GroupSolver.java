package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.root.SecularEquation;
import java.util.Arrays;

/**
 * Finds θ for all groups of a block: the root finding of {@link WeightedProx}, with the sums over groups left to others.
 *
 * <p>A group begins with an evaluation at its start: θ of the step before, zero for a group that was zero, the knee for
 * one that lay beyond it. Mostly that evaluation is all it takes. A group that needs more asks for more; one that leaves
 * the common paths (two minima that are nearly as good as each other, numbers out of float's range) asks for {@link WeightedProx}
 * itself, in double.
 */
final class GroupSolver extends CellSolver {
    /** Evaluations after which a group goes to the exact operator. */
    private static final int PATIENCE = 12;

    /** Share of its denominator, at most, by which the last step may change that of a weight. */
    private static final double MOST_CHANGE = 0.5;

    /** Errors of sums, at most, that a solution found on them may have. */
    private static final double MOST_CONDITIONING = 16;

    /** Errors of sums within which nothing is decided by comparing. */
    private static final double DOUBT = 8;

    private final int size;
    private final float[] thetas;
    private final Need[] needs;
    private final double[] theta;
    private final double[] low;
    private final double[] high;
    private final double[] normOfU;
    private final double[] candidate;
    private final boolean[] belowKnee;

    /** The norm of x of a group of which t is above one at the knee, and rises there; 0 while that is not known. */
    private final double[] beyond;

    /** t where the bracket begins, and its slope there; of use once that is above zero. */
    private final double[] lowT;

    private final double[] lowSlope;

    /** Whether no norm before the one that is evaluated is a root. */
    private final boolean[] surveyed;

    /** Whether there is no root before the knee. */
    private final boolean[] rootless;

    private final int[] evaluations;
    private final Branch[] branches;
    private final double[] errors;

    private Regularizer regularizer;

    /** Of each group, or one for all where none has a factor of its own. */
    private final PenaltyTerms[] terms;

    private boolean kneed;

    GroupSolver(Regularizer regularizer, float[] thetas) {
        this.regularizer = regularizer;
        this.thetas = thetas;
        int groups = regularizer.groups().count();
        size = regularizer.groups().size(0);
        terms = new PenaltyTerms[regularizer.factors().isEmpty() ? 1 : groups];
        setTerms(0);
        needs = new Need[groups];
        theta = new double[groups];
        low = new double[groups];
        high = new double[groups];
        normOfU = new double[groups];
        candidate = new double[groups];
        belowKnee = new boolean[groups];
        beyond = new double[groups];
        lowT = new double[groups];
        lowSlope = new double[groups];
        surveyed = new boolean[groups];
        rootless = new boolean[groups];
        evaluations = new int[groups];
        branches = new Branch[groups];
        errors = new double[groups];
        Arrays.fill(needs, Need.NOTHING);
        Arrays.fill(branches, Branch.UNTOUCHED);
    }

    private void setTerms(double alpha) {
        kneed = false;
        for (int group = 0; group < terms.length; group++) {
            terms[group] = PenaltyTerms.of(regularizer.penalty(), size, regularizer.factor(group), alpha);
            kneed |= terms[group].kneed();
        }
    }

    private PenaltyTerms terms(int group) {
        return terms[terms.length == 1 ? 0 : group];
    }

    @Override
    int cells() {
        return needs.length;
    }

    @Override
    int cell(int tensor, int group) {
        return group;
    }

    @Override
    Need need(int group) {
        return needs[group];
    }

    @Override
    double theta(int group) {
        return theta[group];
    }

    @Override
    double pull(int group) {
        return terms(group).pull(theta[group]);
    }

    @Override
    double kappa(int group) {
        return terms(group).kappa(theta[group]);
    }

    @Override
    boolean flat() {
        return terms.length == 1 && terms[0].profile().pieces().size() == 1;
    }

    @Override
    boolean kneed() {
        return kneed;
    }

    @Override
    void changePenalty(Penalty other) {
        regularizer = regularizer.withPenalty(other);
    }

    @Override
    double singleStrength() {
        return regularizer.penalty().singleStrength();
    }

    @Override
    double singleThreshold() {
        return terms[0].singleThreshold(); // no group has a factor where this is not 0
    }

    @Override
    boolean asIs(int group) {
        return exact.get(group) || branches[group] == Branch.UNTOUCHED;
    }

    @Override
    boolean busy(int group) {
        return needs[group] != Need.NOTHING;
    }

    @Override
    void startGroups() {
        setTerms(stepSize());
        for (int group = 0; group < needs.length; group++) {
            start(group, thetas[group]);
        }
    }

    private void start(int group, float previous) {
        low[group] = 0;
        high[group] = Double.POSITIVE_INFINITY;
        candidate[group] = Double.NaN;
        belowKnee[group] = !terms(group).kneed();
        beyond[group] = 0;
        surveyed[group] = false;
        rootless[group] = false;
        evaluations[group] = 0;
        errors[group] = 0;
        if (terms(group).idle()) {
            finish(group, Branch.UNTOUCHED, previous);
        } else if (terms(group).fast()) {
            evaluateAt(group, Math.min(previous, terms(group).knee()));
        } else {
            needs[group] = Need.EXACT;
        }
    }

    /** Sums are made with θ in float; but l − κθ, which may be small, tells more of it. */
    private void evaluateAt(int group, double at) {
        needs[group] = Need.EVALUATION;
        theta[group] = terms(group).kneed() && (float) at > 0 ? at : (float) at;
    }

    private void finish(int group, Branch branch, double norm) {
        needs[group] = Need.NOTHING;
        branches[group] = branch;
        theta[group] = norm;
    }

    @Override
    void stay(int group, double norm) {
        finish(group, Branch.UNTOUCHED, norm);
    }

    @Override
    boolean advance(int group, GroupSums sums) {
        if (needs[group].isSum()) {
            goOn(group, sums);
        }
        return needs[group] == Need.EXACT;
    }

    private void goOn(int group, GroupSums sums) {
        if (needs[group] == Need.SURVEY) {
            surveyed[group] = true;
            double knee = terms(group).knee();
            double bound = Math.max(bound(group, sums), Float.MIN_NORMAL);
            if (bound < knee) {
                evaluateAt(group, bound);
            } else {
                leave(group);
            }
            return;
        }
        if (needs[group] == Need.WEIGHING) {
            weighed(group, sums.get(0, group));
            return;
        }
        double t = sums.get(0, group);
        double s = sums.get(1, group);
        double r = sums.get(2, group);
        double least = sums.get(Sums.EXTREME, group);
        if (theta[group] > 0) {
            evaluations[group]++;
        }
        if (!Double.isFinite(t + s + r) || evaluations[group] > PATIENCE) {
            needs[group] = Need.EXACT;
        } else if (theta[group] == 0) {
            atZero(group, t, least);
        } else if (theta[group] == terms(group).knee()) {
            atKnee(group, t, s, r, least);
        } else {
            atPoint(group, t, s, r, least);
        }
    }

    /** At θ = 0, {@code t} is {@code (‖u‖/l)²}. */
    private void atZero(int group, double t, double least) {
        normOfU[group] = terms(group).threshold() * Math.sqrt(t);
        double most = terms(group).threshold() * Math.sqrt(t + size * Float.MIN_VALUE); // squares may have vanished
        if (t > 1) {
            needs[group] = Need.SURVEY;
        } else if (belowKnee[group] || most <= least * terms(group).knee()) {
            finish(group, Branch.ZEROED, 0);
        } else {
            propose(group, 0);
        }
    }

    /** A local minimum is found; beyond the knee there may be another. */
    private void propose(int group, double norm) {
        candidate[group] = norm;
        if (beyond[group] > 0) {
            needs[group] = Need.WEIGHING;
            theta[group] = norm;
        } else {
            evaluateAt(group, terms(group).knee());
        }
    }

    /** There is no minimum before the knee. */
    private void leave(int group) {
        rootless[group] = true;
        if (beyond[group] > 0) {
            finish(group, Branch.UNTOUCHED, beyond[group]);
        } else {
            evaluateAt(group, terms(group).knee());
        }
    }

    /** What the candidate costs, {@code Σd(x − z)²/2}, against what it saves of the penalty. */
    private void weighed(int group, double sum) {
        double pull = terms(group).pull(theta[group]);
        double ratio = pull * pull / 2 * sum / terms(group).rise(theta[group]);
        double doubt = DOUBT * rounding();
        if (!(Math.abs(ratio - 1) > doubt) || ratio == Double.POSITIVE_INFINITY) {
            needs[group] = Need.EXACT;
        } else if (ratio > 1) {
            errors[group] = 0;
            finish(group, Branch.UNTOUCHED, beyond[group]);
        } else {
            finish(group, theta[group] == 0 ? Branch.ZEROED : Branch.SHRUNK, theta[group]);
        }
    }

    /** At the knee, {@code t} is {@code (‖x‖/βλ)²}. */
    private void atKnee(int group, double t, double s, double r, double least) {
        double knee = terms(group).knee();
        if (t > 1 && (s > 0 || rootless[group] || isFar(group, t, s))) {
            finish(
                    group,
                    Branch.UNTOUCHED,
                    knee * Math.sqrt(t)); // where s > 0: t was above one all the way, from zero on
        } else if (t > 1) {
            beyond[group] = knee * Math.sqrt(t); // there may be two local minima
            if (Double.isNaN(candidate[group])) {
                beyondValley(group, t, s);
            } else {
                propose(group, candidate[group]);
            }
        } else if (!Double.isNaN(candidate[group])) {
            finish(group, candidate[group] == 0 ? Branch.ZEROED : Branch.SHRUNK, candidate[group]);
        } else {
            belowKnee[group] = true;
            atPoint(group, t, s, r, least);
        }
    }

    /** Whether x lies so far beyond the knee that no way to it is worth all of the penalty, by the mean of 1/d that t and s tell. */
    private boolean isFar(int group, double t, double s) {
        PenaltyTerms one = terms(group);
        double distance = one.knee() * (Math.sqrt(t) - 1);
        double worth = 2 * one.rise(0) * (1 - s / t);
        return distance * distance * one.kappa(one.knee()) > worth * (1 + DOUBT * rounding());
    }

    /** Where t, which is convex, does not fall: the root, if there is one, is before. */
    private void beyondValley(int group, double t, double s) {
        double at = theta[group];
        if (!terms(group).kneed()) {
            needs[group] = Need.EXACT; // nothing but underflow
        } else if (low[group] == 0 && t > 1 && surveyed[group]) {
            leave(group);
        } else if (low[group] == 0) {
            evaluateAt(group, 0);
        } else if (t > 1) {
            high[group] = at;
            double slope = -2 * s / at;
            double meet = (lowT[group] - t + slope * at - lowSlope[group] * low[group]) / (slope - lowSlope[group]);
            double least = lowT[group] + lowSlope[group] * (meet - low[group]); // where the two tangents meet
            if (least > 1 + DOUBT * rounding() * lowT[group]) {
                leave(group);
            } else {
                goTo(group, meet);
            }
        } else {
            high[group] = at;
            goTo(group, low[group] + (1 - lowT[group]) / lowSlope[group]);
        }
    }

    private void goTo(int group, double next) {
        if (inside(group, next)) {
            evaluateAt(group, next);
        } else {
            needs[group] = Need.EXACT;
        }
    }

    private void atPoint(int group, double t, double s, double r, double least) {
        double knee = terms(group).knee();
        double at = theta[group];
        if (s <= 0) {
            beyondValley(group, t, s);
            return;
        }
        double newton = ReciprocalNewton.newtonStep(t, s);
        if (newton <= -1) {
            evaluateAt(group, 0); // only then can ‖u‖ be at most l: the tangent lies above ψ
            return;
        }
        double step = ReciprocalNewton.halleyStep(t, s, r);
        double next = at * (1 + step);
        double kappa = terms(group).kappa(at);
        double steepest = kappa > least
                ? (kappa - least) * at / (least * at + terms(group).pull(at))
                : 0;
        double error = Math.abs(step * step * step) * growth(s / t, r / t, steepest);
        boolean small = error <= tolerance() && Math.abs(step) * steepest <= MOST_CHANGE;
        if (small && next <= knee && terms(group).samePiece(at, next)) {
            errors[group] = error + rounding() * t / s / 2;
            if (steepest > 0 && conditioning(s / t, r / t) > MOST_CONDITIONING) {
                needs[group] = Need.EXACT; // sums in float do not tell the root
            } else if (belowKnee[group] || next + terms(group).pull(next) / least <= knee) {
                finish(group, Branch.SHRUNK, next);
            } else {
                propose(group, next);
            }
            return;
        }
        if (t > 1) {
            low[group] = at; // t is convex and falls: there is no root before
            lowT[group] = t;
            lowSlope[group] = -2 * s / at;
        } else {
            high[group] = at;
        }
        if (!inside(group, next)) {
            next = at * (1 + newton);
        }
        if (!inside(group, next)) {
            next = (low[group] + Math.min(high[group], 2 * at)) / 2;
        }
        evaluateAt(group, belowKnee[group] ? next : Math.min(next, knee));
    }

    /**
     * How many times the cube of Halley's relative step the solution's relative error is. At most about once where no d is below
     * κ, since all q are from 0 to 1. But where one is, its q falls far below zero as θ nears the knee. With the means
     * {@code m_k} of {@code q^k} under the weights w², the error of θ is
     * {@code |m₁²/4 − (9/4)(m₂/m₁)² + 2m₃/m₁|} times that cube, and the solution moves by {@code √(1 − 2m₁ + m₂)} of what θ does.
     *
     * @param first m₁
     * @param second m₂
     * @param steepest the magnitude of the least q, if that is negative; 0 otherwise. With it, {@code |m₃| ≤ steepest·m₂}
     */
    private static double growth(double first, double second, double steepest) {
        if (steepest == 0) {
            return 1;
        }
        double ratio = second / first;
        double third = first * first / 4 + 2.25 * ratio * ratio + 2 * Math.max(1, steepest) * ratio;
        return Math.max(1, third * Math.sqrt(Math.max(0, 1 - 2 * first + second)));
    }

    /** How many times the relative error of the sums the solution's error is, relative to the candidate x. */
    private static double conditioning(double first, double second) {
        return Math.sqrt(second) / first * Math.sqrt(Math.max(1, 1 - 2 * first + second));
    }

    private boolean inside(int group, double value) {
        return value > low[group] && value < high[group];
    }

    /** A bound by the first piece's line, which the pull is nowhere above. */
    private double bound(int group, GroupSums sums) {
        double kappa = terms(group).kappa();
        double sumOfD = sums.get(1, group);
        double sumOfP = sumOfD - size * kappa;
        double sumOfSquares = Math.max(0, sums.get(2, group) - kappa * (2 * sumOfD - size * kappa));
        return SecularEquation.lowerBound(
                size,
                terms(group).threshold(),
                normOfU[group],
                sums.get(0, group),
                -sums.get(Sums.EXTREME, group) - kappa,
                sumOfP,
                sumOfSquares);
    }

    @Override
    void finish(int group) {
        thetas[group] = (float) theta[group];
        Branch branch = branches[group];
        tally.count(
                branch == Branch.UNTOUCHED && terms(group).singleThreshold() > 0 ? Branch.SHRUNK : branch,
                evaluations[group],
                errors[group],
                terms(group).profile().value(theta[group]));
    }

    @Override
    void giveUp(int group) {
        finish(group, Branch.UNTOUCHED, Double.NaN);
    }

    /** {@inheritDoc} The single weights' part has been taken off u already. */
    @Override
    void solveExactly(int group, double[] x, double[] d) {
        Outcome outcome = WeightedProx.EXACT.apply(
                terms(group).profile(), x, d, terms(group).stepSize(), x);
        if (!outcome.converged()) {
            tally.countUnconverged();
        }
        evaluations[group] += outcome.iterations();
        errors[group] = outcome.residual();
        finish(group, outcome.branch(), outcome.theta());
    }
}
