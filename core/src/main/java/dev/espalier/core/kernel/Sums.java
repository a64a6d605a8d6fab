package dev.espalier.core.kernel;

/**
 * Four sums down the columns of a matrix, in float32, and over groups, in double.
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

    /** Begins the sums of a group. */
    static void clear(double[] groups, int group, boolean survey) {
        for (int quantity = 0; quantity < COUNT; quantity++) {
            groups[group * COUNT + quantity] = quantity < EXTREME || survey ? 0 : Double.POSITIVE_INFINITY;
        }
    }

    /** Adds the columns {@code from} to {@code to} of {@code count} to the sums of a group. */
    static void add(long sums, int count, int from, int to, boolean survey, double[] groups, int group) {
        for (int quantity = 0; quantity < COUNT; quantity++) {
            long start = sums + ((long) quantity * count + from) * Float.BYTES;
            long end = start + (long) (to - from) * Float.BYTES;
            double sum = groups[group * COUNT + quantity];
            if (quantity < EXTREME) {
                for (long at = start; at < end; at += Float.BYTES) {
                    sum += Memory.get(at);
                }
            } else {
                for (long at = start; at < end; at += Float.BYTES) {
                    sum = extreme(sum, Memory.get(at), survey);
                }
            }
            groups[group * COUNT + quantity] = sum;
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

    /** Adds the sums of a group over some rows to those over all rows. */
    static void add(double[] part, int from, boolean survey, double[] groups, int group) {
        for (int quantity = 0; quantity < COUNT; quantity++) {
            int at = group * COUNT + quantity;
            double value = part[from * COUNT + quantity];
            groups[at] = quantity < EXTREME ? groups[at] + value : extreme(groups[at], value, survey);
        }
    }

    private static double extreme(double one, double other, boolean survey) {
        return survey ? Math.max(one, other) : Math.min(one, other);
    }
}
