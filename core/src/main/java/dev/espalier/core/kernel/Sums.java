package dev.espalier.core.kernel;

/**
 * Four sums down the columns of a matrix, in float32, and how they are added up to groups.
 *
 * <p>After an evaluation: {@code t, s, r} and the least d. After a survey: {@code Σ|u|, Σd, Σd²} and the most d. After a weighing:
 * {@code Σw²/d}.
 */
final class Sums {
    static final int COUNT = 4;
    static final int EXTREME = 3;

    private Sums() {}

    /** Begins the sums of {@code count} columns. */
    static void clear(long sums, int count, boolean survey) {
        long bytes = (long) count * Float.BYTES;
        Memory.ALL.asSlice(sums, COUNT * bytes).fill((byte) 0);
        if (!survey) {
            for (long at = EXTREME * bytes; at < COUNT * bytes; at += Float.BYTES) {
                Memory.set(sums + at, Float.POSITIVE_INFINITY);
            }
        }
    }

    /**
     * Adds columns up to groups, those whose cell has a need. One loop over all columns, and all four sums at once: loops of a few each
     * cost more than what they do.
     *
     * @param sums the sums of the columns {@code from} to {@code to} of a matrix
     * @param inner columns of a group; what is not a whole group is left out
     * @param solver knows the cells' needs
     * @param cell the cell of the matrix' first group
     * @param need which need
     * @param groups the sums of all groups of the matrix
     */
    static void add(
            long sums,
            int from,
            int to,
            int inner,
            CellSolver solver,
            int cell,
            CellSolver.Need need,
            GroupSums groups) {
        long row = (long) (to - from) * Float.BYTES;
        boolean survey = need == CellSolver.Need.SURVEY;
        int group = Math.ceilDiv(from, inner);
        int end = to / inner;
        int left = inner;
        double a = 0;
        double b = 0;
        double c = 0;
        float extreme = Float.POSITIVE_INFINITY;
        for (long at = sums + ((long) group * inner - from) * Float.BYTES; group < end; at += Float.BYTES) {
            a += Memory.get(at);
            b += Memory.get(at + row);
            c += Memory.get(at + 2 * row);
            float value = Memory.get(at + EXTREME * row);
            extreme = Math.min(extreme, survey ? -value : value);
            left--;
            if (left == 0) {
                if (solver.need(cell + group) == need) {
                    groups.set(0, group, a);
                    groups.set(1, group, b);
                    groups.set(2, group, c);
                    groups.set(EXTREME, group, extreme);
                }
                a = 0;
                b = 0;
                c = 0;
                extreme = Float.POSITIVE_INFINITY;
                left = inner;
                group++;
            }
        }
    }

    /** The first of the sums, added up over {@code count} columns. */
    static double total(long sums, int count) {
        double total = 0;
        for (long at = sums; at < sums + (long) count * Float.BYTES; at += Float.BYTES) {
            total += Memory.get(at);
        }
        return total;
    }
}
