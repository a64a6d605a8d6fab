package dev.espalier.core.prox;

import dev.espalier.core.check.Check;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.tensor.TensorView;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The projection of half-space steps, for comparison: a group whose step leads out of the half-space on its own side of zero
 * becomes exactly zero, and a group that is zero stays zero.
 *
 * <pre>{@code
 * x = 0  or  ⟨y, x⟩ < ε ‖x‖²   ⇒   0
 * otherwise                      ⇒   y
 * }</pre>
 *
 * <p>Symbols: x the group's weights before a step, y those after it, the trial point.
 *
 * <p>Groups within groups are asked the same. It knows nothing of penalties: the trial point has the penalty's subgradient in it.
 *
 * @param epsilon ε in {@code [0, 1)}: how much of itself a group must keep, at least; 0 for not turning around
 * @see <a href="https://arxiv.org/abs/2107.07467">Only Train Once</a>
 */
public record HalfSpace(double epsilon) {

    /** Checks the range. */
    public HalfSpace {
        Check.fraction("epsilon", epsilon);
    }

    /**
     * {@return whether a group takes its trial point; otherwise it becomes zero}
     *
     * @param before the group's weights before the step
     * @param trial the same after it
     */
    public boolean keeps(double[] before, double[] trial) {
        Check.sameSize("trial point", trial.length, "the group", before.length);
        double product = 0;
        double square = 0;
        for (int i = 0; i < before.length; i++) {
            product += trial[i] * before[i];
            square += before[i] * before[i];
        }
        return square > 0 && product >= epsilon * square;
    }

    /**
     * Projects every group, in place.
     *
     * @param groups the groups
     * @param before the tensors that they lie in, before the step
     * @param trial the same after it; groups that are not kept become zero
     * @return how many are zero now, and how many were left untouched
     */
    public Summary project(Groups groups, List<TensorView> before, List<TensorView> trial) {
        groups.requireFit("before", before);
        groups.requireFit("trial", trial);
        Summary summary = Summary.EMPTY;
        for (int group = 0; group < groups.count(); group++) {
            double[] x = groups.gather(group, before);
            double[] y = groups.gather(group, trial);
            if (!keeps(x, y)) {
                Arrays.fill(y, 0);
            }
            int within = groups instanceof NestedGroups nested ? clearWithin(nested.owners(group), x, y) : 0;
            boolean zero = isZero(y);
            if (zero || within > 0) {
                groups.scatter(group, y, trial);
            }
            summary = summary.plus(new Summary(zero ? 1 : 0, 0, zero ? 0 : 1, 0, 0, 0, within));
        }
        return summary;
    }

    /** Clears the inner groups that are not kept, and counts those that are zero now. */
    private int clearWithin(int[] owners, double[] x, double[] y) {
        int cleared = 0;
        for (int inner = 0; inner <= Arrays.stream(owners).max().orElse(-1); inner++) {
            int here = inner;
            int[] members = IntStream.range(0, owners.length)
                    .filter(i -> owners[i] == here)
                    .toArray();
            double[] part = part(members, y);
            if (isZero(part) || !keeps(part(members, x), part)) {
                Arrays.stream(members).forEach(i -> y[i] = 0);
                cleared++;
            }
        }
        return cleared;
    }

    private static boolean isZero(double[] x) {
        return Arrays.stream(x).allMatch(value -> value == 0);
    }

    private static double[] part(int[] members, double[] of) {
        return Arrays.stream(members).mapToDouble(i -> of[i]).toArray();
    }
}
