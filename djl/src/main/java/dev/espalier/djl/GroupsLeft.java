package dev.espalier.djl;

import dev.espalier.check.Check;

/**
 * How many groups of weights are left.
 *
 * @param groups number of groups
 * @param nonZero how many of them have a weight that is not zero
 */
public record GroupSparsity(int groups, int nonZero) {

    /** Of no group yet. */
    static final GroupSparsity EMPTY = new GroupSparsity(0, 0);

    /** Checks the numbers. */
    public GroupSparsity {
        Check.atLeast("groups", groups, 0);
        Check.atLeast("nonZero", nonZero, 0);
        Check.atMost("nonZero", nonZero, groups);
    }

    /**
     * Number of groups that are exactly zero.
     *
     * @return how many
     */
    public int zero() {
        return groups - nonZero;
    }

    /**
     * The share of groups that are not zero: the paper's group sparsity.
     *
     * @return from 0 to 1; 1 if there are no groups
     */
    public double share() {
        return groups == 0 ? 1 : (double) nonZero / groups;
    }

    GroupSparsity plus(GroupSparsity other) {
        return new GroupSparsity(groups + other.groups, nonZero + other.nonZero);
    }
}
