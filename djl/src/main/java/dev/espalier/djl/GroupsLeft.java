package dev.espalier.djl;

import dev.espalier.core.check.Check;

/**
 * How many groups of weights are left.
 *
 * @param groups number of groups
 * @param nonZero how many of them have a weight that is not zero
 */
public record GroupsLeft(int groups, int nonZero) {

    /** Of no group yet. */
    static final GroupsLeft EMPTY = new GroupsLeft(0, 0);

    /** Checks the numbers. */
    public GroupsLeft {
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
     * The share of groups that are not zero. The paper calls it group sparsity.
     *
     * @return from 0 to 1; 1 if there are no groups
     */
    public double share() {
        return groups == 0 ? 1 : (double) nonZero / groups;
    }

    GroupsLeft plus(GroupsLeft other) {
        return new GroupsLeft(groups + other.groups, nonZero + other.nonZero);
    }
}
