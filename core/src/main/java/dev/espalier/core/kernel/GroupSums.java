package dev.espalier.core.kernel;

import java.util.Arrays;

/**
 * {@link Sums} over groups, in double. Those of one kind lie side by side, so that the processor adds many at once. What a survey finds as
 * the most d is kept with a minus: so the extreme is a least number after anything.
 */
final class GroupSums {
    private final int groups;
    private final double[] values;

    /** Sums of so many groups. */
    GroupSums(int groups) {
        this.groups = groups;
        values = new double[Sums.COUNT * groups];
    }

    double get(int quantity, int group) {
        return values[quantity * groups + group];
    }

    void set(int quantity, int group, double value) {
        values[quantity * groups + group] = value;
    }

    /** Begins all sums. */
    void clear() {
        Arrays.fill(values, 0, Sums.EXTREME * groups, 0);
        Arrays.fill(values, Sums.EXTREME * groups, values.length, Double.POSITIVE_INFINITY);
    }

    /** Takes the sums of as many columns as there are groups, all of an evaluation: every column is a group. */
    void take(long columns) {
        for (int i = 0; i < values.length; i++) {
            values[i] = Memory.get(columns + (long) i * Float.BYTES);
        }
    }

    /** Adds sums over some more rows, of some groups in a row. */
    void add(GroupSums part, int first) {
        for (int quantity = 0; quantity < Sums.COUNT; quantity++) {
            int to = quantity * groups + first;
            int from = quantity * part.groups;
            if (quantity == Sums.EXTREME) {
                for (int i = 0; i < part.groups; i++) {
                    values[to + i] = Math.min(values[to + i], part.values[from + i]);
                }
            } else {
                for (int i = 0; i < part.groups; i++) {
                    values[to + i] += part.values[from + i];
                }
            }
        }
    }
}
