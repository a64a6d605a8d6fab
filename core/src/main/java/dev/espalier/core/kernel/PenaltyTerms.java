package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;

/**
 * A penalty of a group at a step size, in the numbers of the fast path: at a norm θ the pull {@code αh'(θ) = l − κθ}, whose
 * {@code l = α·height} and {@code κ = α·bend} are those of the piece that θ lies on, and the knee beyond which the penalty is constant.
 *
 * <p>The pull is concave up to the knee, so what {@link GroupSolver} knows of one piece it knows of all of them: see
 * docs/math/group-scad.md.
 *
 * @param profile the penalty at the group's strength
 * @param stepSize α
 * @param threshold l of the first piece
 * @param kappa κ of the first piece
 * @param knee where the penalty becomes constant; infinity if it never does
 * @param singleThreshold α times the strength on every single weight
 * @param fast whether the fast path can serve: the slope is concave, then at most a flat piece
 */
public record PenaltyTerms(
        Profile profile,
        double stepSize,
        double threshold,
        double kappa,
        double knee,
        double singleThreshold,
        boolean fast) {

    /**
     * Whether the penalty does nothing at all.
     *
     * @return true if λ or α is zero
     */
    public boolean idle() {
        return stepSize == 0
                || (singleThreshold == 0
                        && profile.pieces().size() == 1
                        && profile.pieces().getFirst().flat());
    }

    /**
     * Whether the penalty becomes constant somewhere.
     *
     * @return true if it has a knee
     */
    public boolean kneed() {
        return knee < Double.POSITIVE_INFINITY;
    }

    /**
     * What the penalty adds to the denominators of a solution of some norm, {@code αh'(θ) = l − κθ}: in double, since near the
     * knee it is many digits smaller than either.
     *
     * @param norm θ
     * @return the pull, never negative; zero from the knee on
     */
    public double pull(double norm) {
        if (norm >= knee) {
            return 0;
        }
        Piece piece = profile.pieces().get(piece(norm));
        if (piece.bend() == 0) {
            return stepSize * piece.height(); // at a norm that is no number, too: it may stand for all groups
        }
        return Math.max(0, stepSize * piece.height() - stepSize * piece.bend() * norm);
    }

    /**
     * What the pull falls by as the norm grows.
     *
     * @param norm θ; up to the knee
     * @return κ of the piece that ends there, or on which θ lies
     */
    public double kappa(double norm) {
        return stepSize * profile.pieces().get(piece(norm)).bend();
    }

    /**
     * What the penalty rises by from a norm to its knee, times α.
     *
     * @param norm θ; up to the knee
     * @return half the product of pull and distance where the pull is one line from there on; more where it is not
     */
    public double rise(double norm) {
        double sum = 0;
        double from = norm;
        for (int index = piece(norm); from < knee; index++) {
            double to = Math.min(profile.end(index), knee);
            Piece piece = profile.pieces().get(index);
            sum += stepSize * (piece.height() - piece.bend() * (from + to) / 2) * (to - from);
            from = to;
        }
        return sum;
    }

    /**
     * Whether the pull is one line between two norms.
     *
     * @param one a norm
     * @param other another
     * @return true if no break of the slope is between them
     */
    boolean samePiece(double one, double other) {
        return piece(one) == piece(other);
    }

    /** The piece that a norm up to the knee lies on; the one that ends there at a break. */
    private int piece(double norm) {
        int index = 0;
        while (norm > profile.end(index) && profile.end(index) < knee) {
            index++;
        }
        return index;
    }

    /**
     * {@return a penalty of groups at a step size}
     *
     * @param penalty the penalty
     * @param size weights of a group
     * @param stepSize α
     */
    public static PenaltyTerms of(Penalty penalty, int size, double stepSize) {
        return of(penalty, size, 1, stepSize);
    }

    /**
     * {@return a penalty of a group at a step size}
     *
     * @param penalty the penalty
     * @param size weights of a group
     * @param factor what the group's λ_g is multiplied by
     * @param stepSize α
     */
    static PenaltyTerms of(Penalty penalty, int size, double factor, double stepSize) {
        Profile profile = penalty.profileOfSize(size, factor);
        Piece first = profile.pieces().getFirst();
        Piece last = profile.pieces().getLast();
        double steepest =
                profile.pieces().stream().mapToDouble(Piece::bend).max().orElseThrow();
        boolean fast = profile.fallsToZero()
                && (float) (stepSize * first.height()) > 0
                && (float) profile.end(0) > 0
                && (float) (stepSize * steepest) < Float.POSITIVE_INFINITY;
        return new PenaltyTerms(
                profile,
                stepSize,
                stepSize * first.height(),
                stepSize * first.bend(),
                last.flat() && last.from() > 0 ? last.from() : Double.POSITIVE_INFINITY,
                stepSize * penalty.singleStrength(),
                fast);
    }
}
