package dev.espalier.train.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Chooses exactly which groups go, so that as much of a model is left as was requested: the shortest beginning of a list without which the
 * model, as pruning would leave it, is no larger than that. A group that was last to be chosen may take more along than was to go, as one that
 * others wait for; then those before it that are worth most come back as far as they fit.
 */
final class ExactSize {
    /** A share that is this much below the target at most has met it. */
    static final double NEAR = 0.0025;

    /** Groups that are tried again: each takes a plan of the pruner. */
    private static final int MAX_TRIES = 24;

    /** What is left of the model without some groups, as a share. */
    private final ToDoubleFunction<List<GroupSlice>> left;

    private final double target;

    /**
     * A choice.
     *
     * @param left the share of the model that is left without some groups; it falls as more of them go
     * @param target the share that is requested
     */
    ExactSize(ToDoubleFunction<List<GroupSlice>> left, double target) {
        this.left = left;
        this.target = target;
    }

    /**
     * What came of it.
     *
     * @param gone the groups that go
     * @param left the share that is left without them
     */
    record Chosen(List<GroupSlice> gone, double left) {}

    /**
     * Chooses.
     *
     * @param order groups that may go, the least important first
     * @return as few of them as it takes; all, if that is not enough
     */
    Chosen choose(List<GroupSlice> order) {
        int few = 0;
        int enough = order.size();
        while (few < enough) {
            int middle = (few + enough) >>> 1;
            if (left.applyAsDouble(order.subList(0, middle)) <= target) {
                enough = middle;
            } else {
                few = middle + 1;
            }
        }
        List<GroupSlice> gone = new ArrayList<>(order.subList(0, enough));
        double reached = left.applyAsDouble(gone);
        // The last one made the model small enough: all others are candidates to come back.
        int tries = 0;
        for (int i = gone.size() - 2; i >= 0 && tries < MAX_TRIES && reached < target - NEAR; i--, tries++) {
            GroupSlice back = gone.remove(i);
            double without = left.applyAsDouble(gone);
            if (without <= target) {
                reached = without;
            } else {
                gone.add(i, back);
            }
        }
        return new Chosen(List.copyOf(gone), reached);
    }
}
