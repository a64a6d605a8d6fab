package dev.espalier.core.prox;

/**
 * What the operator did to the groups of a regularizer.
 *
 * @param zeroed groups set to zero
 * @param shrunk groups moved towards zero
 * @param untouched groups left as they were
 * @param iterations evaluations that the solver spent, over all groups
 * @param unconverged groups whose solver reached its iteration limit
 * @param residual the largest residual of a group; of the fused step, the largest relative error that the norm of a group may have,
 *     rounding included
 * @param zeroedWithin groups within groups that are zero now, those of zeroed groups included
 */
public record Summary(
        int zeroed, int shrunk, int untouched, long iterations, int unconverged, double residual, int zeroedWithin) {

    /** Of no group yet. */
    public static final Summary EMPTY = new Summary(0, 0, 0, 0, 0, 0, 0);

    /**
     * One more group.
     *
     * @param outcome what was done to it
     * @return the summary with it
     */
    public Summary plus(Outcome outcome) {
        return new Summary(
                zeroed + (outcome.branch() == Branch.ZEROED ? 1 : 0),
                shrunk + (outcome.branch() == Branch.SHRUNK ? 1 : 0),
                untouched + (outcome.branch() == Branch.UNTOUCHED ? 1 : 0),
                iterations + outcome.iterations(),
                unconverged + (outcome.converged() ? 0 : 1),
                Math.max(residual, outcome.residual()),
                zeroedWithin);
    }

    /**
     * More groups within groups that are zero.
     *
     * @param count how many
     * @return the summary with them
     */
    public Summary plusWithin(int count) {
        return new Summary(zeroed, shrunk, untouched, iterations, unconverged, residual, zeroedWithin + count);
    }

    /**
     * More groups.
     *
     * @param other what was done to them
     * @return the summary of both
     */
    public Summary plus(Summary other) {
        return new Summary(
                zeroed + other.zeroed,
                shrunk + other.shrunk,
                untouched + other.untouched,
                iterations + other.iterations,
                unconverged + other.unconverged,
                Math.max(residual, other.residual),
                zeroedWithin + other.zeroedWithin);
    }

    /**
     * Number of groups.
     *
     * @return how many were counted
     */
    public int groups() {
        return zeroed + shrunk + untouched;
    }
}
