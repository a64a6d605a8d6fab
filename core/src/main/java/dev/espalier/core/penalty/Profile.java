package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import java.util.List;

/**
 * A penalty of one group as a function {@code h(r)} of the group's norm {@code r}, given by its slope.
 *
 * <p>The slope {@code h'} is continuous, never negative and piecewise linear: {@code h'(r) = height − bend·r} on every
 * piece. That is all the solvers know about a penalty, and enough for all that are in use:
 *
 * <table>
 * <caption>Profiles</caption>
 * <tr><th>penalty</th><th>pieces: from, height, bend</th></tr>
 * <tr><td>ℓ1/ℓ2</td><td>{@code (0, λ, 0)}</td></tr>
 * <tr><td>group MCP</td><td>{@code (0, λ, 1/β), (βλ, 0, 0)}</td></tr>
 * <tr><td>group SCAD</td><td>{@code (0, λ, 0), (φβλ, λ/(1−φ), 1/(β(1−φ))), (βλ, 0, 0)}</td></tr>
 * </table>
 *
 * @param pieces the pieces, from zero upwards; the last one reaches to infinity and does not bend down
 */
public record Profile(List<Piece> pieces) {
    /** The share of its terms that a jump of the slope may have from rounding. */
    private static final double ROUNDING = 1e-11;

    /**
     * One piece of the slope, {@code h'(r) = height − bend·r} from {@code from} to the next piece.
     *
     * @param from where the piece begins
     * @param height the slope, extrapolated to {@code r = 0}
     * @param bend how fast the slope falls
     */
    public record Piece(double from, double height, double bend) {
        /**
         * The slope of the penalty.
         *
         * @param norm the group's norm {@code r}
         * @return {@code h'(r)}, never negative
         */
        public double slope(double norm) {
            return bend == 0 ? height : Math.max(0, height - bend * norm);
        }

        /**
         * Whether the penalty is constant here, so that a group is left untouched.
         *
         * @return true if the slope is zero
         */
        public boolean flat() {
            return height == 0 && bend == 0;
        }

        /** The size of the terms of the slope at a norm. */
        private double scale(double norm) {
            return height + Math.abs(bend) * norm;
        }

        private double rise(double until) {
            return (until - from) * (slope(from) + slope(until)) / 2;
        }
    }

    /** Checks the pieces. */
    public Profile {
        pieces = List.copyOf(pieces);
        if (pieces.isEmpty() || pieces.getFirst().from() != 0) {
            throw new IllegalArgumentException("pieces = " + pieces + " must begin with one from 0");
        }
        for (int k = 0; k < pieces.size(); k++) {
            Check.notNegative("height of piece " + k, pieces.get(k).height());
            Check.finite("bend of piece " + k, pieces.get(k).bend());
            if (k > 0 && !(pieces.get(k).from() > pieces.get(k - 1).from())) {
                throw new IllegalArgumentException(
                        "pieces = " + pieces + " must be in rising order of where they begin");
            }
        }
        if (pieces.getLast().bend() > 0 && pieces.getLast().from() < Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException("the last of pieces = " + pieces + " must have a bend of at most 0");
        }
        for (int k = 1; k < pieces.size(); k++) {
            requireContinuous(pieces.get(k - 1), pieces.get(k));
        }
    }

    private static void requireContinuous(Piece left, Piece right) {
        double norm = right.from();
        if (norm == Double.POSITIVE_INFINITY) {
            return;
        }
        double before = left.height() - left.bend() * norm;
        double after = right.height() - right.bend() * norm;
        double allowed = ROUNDING * (left.scale(norm) + right.scale(norm))
                + 4 * Math.ulp(norm) * (Math.abs(left.bend()) + Math.abs(right.bend()));
        if (before < -allowed) {
            throw new IllegalArgumentException(
                    "the slope of %s falls below zero, to %s at the norm %s: a slope is never negative; begin a piece (%s, 0, 0) where it is zero"
                            .formatted(left, before, norm, left.height() / left.bend()));
        }
        if (Math.abs(after - before) > allowed && after != Math.max(0, before)) {
            throw new IllegalArgumentException(
                    "the slope jumps %s at the norm %s, from %s to %s: the operator is exact for continuous slopes only; join the two by a steep piece"
                            .formatted(after > before ? "up" : "down", norm, before, after));
        }
    }

    /**
     * {@return a profile of these pieces}
     *
     * @param pieces from zero upwards
     */
    public static Profile of(Piece... pieces) {
        return new Profile(List.of(pieces));
    }

    /**
     * {@return the profile of a norm, {@code h(r) = strength·r}}
     *
     * @param strength λ_g ≥ 0
     */
    public static Profile norm(double strength) {
        return of(new Piece(0, strength, 0));
    }

    /**
     * Whether this is a norm, {@code h(r) = λ_g r}: convex, with one slope.
     *
     * @return true for the profile of ℓ1/ℓ2
     */
    public boolean isNorm() {
        return pieces.size() == 1 && pieces.getFirst().bend() == 0;
    }

    /**
     * Whether the slope, as a function of the norm, is concave until it becomes zero for good: it falls, ever faster, and then the
     * penalty is constant. Norms, group MCP and group SCAD are of this kind.
     *
     * @return false if it rises, falls more slowly from some break on, or ends above zero other than for a norm
     */
    public boolean fallsToZero() {
        int sloping = pieces.size() - 1;
        if (isNorm() || !pieces.get(sloping).flat()) {
            return isNorm();
        }
        double bend = 0;
        for (Piece piece : pieces.subList(0, sloping)) {
            if (piece.bend() < bend) {
                return false;
            }
            bend = piece.bend();
        }
        return true;
    }

    /**
     * The end of a piece.
     *
     * @param index which piece
     * @return where the next one begins; infinity for the last
     */
    public double end(int index) {
        return index + 1 < pieces.size() ? pieces.get(index + 1).from() : Double.POSITIVE_INFINITY;
    }

    /**
     * The penalty's value.
     *
     * @param norm the group's norm {@code r ≥ 0}
     * @return {@code h(r)}, the integral of the slope
     */
    public double value(double norm) {
        double value = 0;
        for (int k = 0; k < pieces.size() && pieces.get(k).from() < norm; k++) {
            value += pieces.get(k).rise(Math.min(norm, end(k)));
        }
        return value;
    }

    /**
     * The penalty's slope.
     *
     * @param norm the group's norm {@code r ≥ 0}
     * @return {@code h'(r)}
     */
    public double slope(double norm) {
        int k = pieces.size() - 1;
        while (pieces.get(k).from() > norm) {
            k--;
        }
        return pieces.get(k).slope(norm);
    }

    /**
     * The proximal operator in a spherical metric {@code D = cI}, in closed form: the norm of
     * {@code argmin_z ½c‖z − x‖² + α h(‖z‖)}. The minimiser itself is {@code x} scaled to that norm.
     *
     * <p>On a piece the minimiser solves {@code cθ + α(height − bend·θ) = c‖x‖}. Where several pieces have one, and zero
     * is one too, the lowest objective wins, and the longer on a tie.
     *
     * @param norm {@code ‖x‖}
     * @param metric {@code c > 0}; one for the unweighted operator
     * @param stepSize {@code α ≥ 0}
     * @return the norm of the minimiser, between zero and {@code ‖x‖}
     */
    public double proximalNorm(double norm, double metric, double stepSize) {
        double best = 0;
        double bestGain = 0;
        boolean longer = metric * norm > stepSize * slope(0);
        boolean zeroIsStationary = !longer;
        for (int k = 0; k < pieces.size(); k++) {
            Piece piece = pieces.get(k);
            double end = end(k);
            boolean longerAtEnd = end <= norm && metric * (norm - end) >= stepSize * slope(end);
            // A root between the ends is known by the signs there, never by its own rounded value.
            double candidate = 0;
            if (norm >= piece.from() && (piece.flat() || stepSize == 0)) {
                candidate = norm;
            } else if (longer && !longerAtEnd) {
                double curvature = metric - stepSize * piece.bend();
                double excess = metric * norm - stepSize * piece.height();
                double most = Math.min(end, norm);
                candidate = curvature > 0 ? Math.clamp(excess / curvature, piece.from(), most) : most;
            }
            if (candidate > 0) {
                double gain = candidate * metric * (norm - candidate / 2) - stepSize * value(candidate);
                if (gain >= bestGain || (best == 0 && !zeroIsStationary)) {
                    best = candidate;
                    bestGain = gain;
                }
            }
            longer = longerAtEnd;
        }
        return best;
    }
}
