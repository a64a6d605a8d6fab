package dev.espalier.data;

/**
 * Random numbers by SplitMix64 (Steele, Lea and Flood, 2014). Written out here, because a run must replay on any JVM, and
 * the JDK promises that of its old generator only.
 */
public final class Draws {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    /** With less, a number in between is so rare that nobody will ever see one. */
    private static final double SMALLEST_BETA = 1e-100;

    private long state;

    /**
     * Draws that depend on all of these numbers, and on their order.
     *
     * @param keys the numbers, such as a seed, an epoch and a row
     */
    public Draws(long... keys) {
        for (long key : keys) {
            state = mix((state ^ key) + GOLDEN);
        }
    }

    /**
     * A whole number. Off from uniform by less than bound / 2⁶⁴: nobody can tell.
     *
     * @param bound how many there are to draw from
     * @return one of 0 … bound − 1
     */
    public int below(int bound) {
        return (int) Math.unsignedMultiplyHigh(next(), bound);
    }

    /**
     * True or false, equally likely.
     *
     * @return one of the two
     */
    public boolean coin() {
        return next() < 0;
    }

    /** {@return a number of the standard normal distribution, by Box and Muller's method} */
    public double gaussian() {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - fraction()));
        return radius * StrictMath.cos(2 * Math.PI * fraction());
    }

    /**
     * A number of the beta distribution with both parameters equal, by Jöhnk's method, in logarithms: small parameters make numbers
     * too small for a double.
     *
     * @param alpha both parameters, above 0 and at most 1: with little, most numbers are near 0 or 1; with 1 all are equally likely
     * @return a number from 0 to 1
     */
    public double beta(double alpha) {
        if (alpha < SMALLEST_BETA) {
            return coin() ? 1 : 0; // the logarithms below might have no end
        }
        while (true) {
            double one = StrictMath.log(1 - fraction()) / alpha;
            double other = StrictMath.log(1 - fraction()) / alpha;
            double larger = Math.max(one, other);
            double sum = larger + StrictMath.log(StrictMath.exp(one - larger) + StrictMath.exp(other - larger));
            if (sum <= 0) {
                return StrictMath.exp(one - sum);
            }
        }
    }

    /** From 0 to below 1, in steps of 2⁻⁵³. */
    private double fraction() {
        return (next() >>> 11) * 0x1.0p-53;
    }

    /**
     * Puts numbers in random order: all orders are equally likely (Fisher and Yates).
     *
     * @param numbers the numbers, changed in place
     */
    public void shuffle(int[] numbers) {
        for (int left = numbers.length; left > 1; left--) {
            int other = below(left);
            int last = numbers[left - 1];
            numbers[left - 1] = numbers[other];
            numbers[other] = last;
        }
    }

    private long next() {
        state += GOLDEN;
        return mix(state);
    }

    private static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}
