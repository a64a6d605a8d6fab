package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Summary;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the θ of all cells of a block, with the sums left to others. A cell is what is evaluated at one θ: the columns of a
 * group in all tensors, or, where groups nest, in one.
 */
abstract sealed class CellSolver permits GroupSolver, NestedSolver {

    /** What a cell needs next. */
    enum Need {
        /** The sums of an evaluation at its θ. */
        EVALUATION,
        /** The sums of a survey, to get a first θ. */
        SURVEY,
        /** What its solution at its θ costs, beside leaving it as it is. */
        WEIGHING,
        /** The exact operator. */
        EXACT,
        /** Nothing: it is done, or waits for others. */
        NOTHING;

        /** Whether sums over its weights are wanted. */
        boolean isSum() {
            return this == EVALUATION || this == SURVEY || this == WEIGHING;
        }
    }

    final Tally tally = new Tally();

    /** Groups that the exact operator has solved. */
    final BitSet exact = new BitSet();

    /** Roundings of a term of t, and of what is written: those of θ, the pull, their sum, a quotient, a product, all twice. */
    private static final int TERM_ROUNDINGS = 12;

    private double stepSize;
    private double smallStep;
    private double rounding;

    CellSolver() {}

    /** Begins a step: sets where every cell shall be evaluated first. */
    final void start(double alpha, double relativeStep) {
        stepSize = alpha;
        smallStep = relativeStep;
        exact.clear();
        tally.clear();
        startGroups();
    }

    abstract void startGroups();

    final double stepSize() {
        return stepSize;
    }

    /** The relative step of θ at which it is found. */
    final double smallStep() {
        return smallStep;
    }

    /** The relative error of θ at which it is found: Halley's step takes the error to its cube. */
    final double tolerance() {
        return smallStep * smallStep * smallStep;
    }

    /** Sums over so many rows are made in float. */
    final void sumInFloat(int rows) {
        rounding = Math.max(rounding, (TERM_ROUNDINGS + rows) * 0x1p-24);
    }

    /** The relative error that t may have for being a sum of floats. */
    final double rounding() {
        return rounding;
    }

    abstract int cells();

    /** The cell of a tensor's share of a group; those of following groups follow. */
    abstract int cell(int tensor, int group);

    abstract Need need(int cell);

    /** Where a cell is to be evaluated; from where it is stored, once it is done. */
    abstract double theta(int cell);

    /** What is added to {@code dθ} in the denominators of a cell at its θ, {@code l − κθ}; never negative. */
    abstract double pull(int cell);

    /** κ of a cell at its θ. */
    abstract double kappa(int cell);

    /** Whether all cells of a tensor have the same pull, wherever they are evaluated: then κ is zero, and no evaluation wants the least d. */
    abstract boolean flat();

    /** Whether evaluations want the least d. */
    abstract boolean kneed();

    /** Lays another penalty on the groups, from the next start on. */
    abstract void changePenalty(Penalty penalty);

    /** The penalty's strength on every single weight. */
    abstract double singleStrength();

    /** What is taken off the magnitude of every u beforehand: α times the strength on single weights. */
    abstract double singleThreshold();

    /** Whether u/d is what is to be stored of a cell. */
    abstract boolean asIs(int cell);

    /**
     * Takes a group as far as the sums that its cells asked for allow.
     *
     * @return true if it asks for the exact operator
     */
    abstract boolean advance(int group, GroupSums sums);

    /** Whether a group is not done yet. */
    abstract boolean busy(int group);

    /**
     * The exact operator in double, for a group that asked for it.
     *
     * @return the minimiser in place of x; null if weights or state were not finite before the step, so that there is
     *     nothing to solve
     */
    final double @Nullable [] solve(int group, double[] x, double[] d) {
        for (int i = 0; i < x.length; i++) {
            if (!Double.isFinite(x[i]) || !(d[i] > 0 && d[i] < Double.POSITIVE_INFINITY)) {
                tally.countUnconverged();
                giveUp(group);
                return null;
            }
        }
        solveExactly(group, x, d);
        exact.set(group);
        return x;
    }

    abstract void giveUp(int group);

    abstract void solveExactly(int group, double[] x, double[] d);

    /** Leaves a cell as it is, at a norm: in a step of no length no sum has told it. */
    abstract void stay(int cell, double norm);

    /** The end of a step, for a group that is done: keeps its norms and counts it. */
    abstract void finish(int group);

    final Summary summary() {
        return tally.summary();
    }

    final double penalty() {
        return tally.penalty();
    }
}
