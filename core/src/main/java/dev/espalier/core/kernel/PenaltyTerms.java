package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;

/**
 * A penalty of a group at a step size, in the numbers of the fast path: {@code l = αh'(0)}, {@code κ = α·bend}, and the
 * knee beyond which the penalty is constant.
 *
 * @param profile the penalty at the group's strength
 * @param stepSize α
 * @param threshold l
 * @param kappa κ
 * @param knee where the penalty becomes constant; infinity if it never does
 * @param singleThreshold α times the strength on every single weight
 * @param fast whether the fast path can serve: one sloping piece, then at most a flat one
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
        return norm >= knee ? 0 : Math.max(0, threshold - kappa * norm);
    }

    /**
     * {@return a penalty of groups at a step size}
     *
     * @param penalty the penalty
     * @param size weights of a group
     * @param stepSize α
     */
    public static PenaltyTerms of(Penalty penalty, int size, double stepSize) {
        Profile profile = penalty.profileOfSize(size);
        Piece first = profile.pieces().getFirst();
        boolean kneed =
                profile.pieces().size() == 2 && profile.pieces().getLast().flat();
        boolean fast = (kneed || (profile.pieces().size() == 1 && first.bend() == 0))
                && (float) (stepSize * first.height()) > 0
                && (float) profile.end(0) > 0
                && (float) (stepSize * first.bend()) < Float.POSITIVE_INFINITY;
        return new PenaltyTerms(
                profile,
                stepSize,
                stepSize * first.height(),
                stepSize * first.bend(),
                profile.end(0),
                stepSize * penalty.singleStrength(),
                fast);
    }
}
