package dev.espalier.core.kernel;

/**
 * The inner loops of a step, over float32 in native memory; addresses and strides are in bytes. Implementations do the
 * same arithmetic in the same order down every column, so their results are equal to the last bit, whatever their width.
 */
interface Lanes {

    /** Rows in a block of rows, at most: few enough to be in the nearest cache still, and for loops over them to be unrolled. */
    int BLOCK_ROWS = 4;

    /** Rows that are loaded and evaluated at once: those of weights, gradients and moments together have few places of the cache. */
    int LOADED_ROWS = 2;

    /** A name for reports. */
    String name();

    /** The largest magnitude of {@code count} floats; NaN or infinity if any is. */
    float largest(long address, long count);

    /** The update rule without a penalty, on {@code count} weights. */
    void update(Update rule, long x, long g, long m, long v, int count);

    /** The update rule with a penalty, on {@code count} weights: updates m and v, and leaves u and d. */
    void load(Update rule, long x, long g, long m, long v, long u, long d, int count);

    /**
     * The same on a block of rows, u in place of the weights, and {@link #evaluate} and {@link #least} of what it leaves: to have
     * arithmetic while memory is waited for.
     *
     * @param stride from one row of weights, gradients and moments to the next
     * @param rows how many rows, at most {@link #LOADED_ROWS}
     * @param flat whether the pull is the same for all columns, κ is zero, and nobody asks for the least d
     */
    void loadAndEvaluate(
            Update rule,
            long x,
            long g,
            long m,
            long v,
            long stride,
            int rows,
            int count,
            long theta,
            long pull,
            long kappa,
            boolean flat,
            long sums);

    /**
     * Whether lanes are so many that a step waits for memory: then it is faster to compute d twice than to keep it, and to evaluate
     * while weights are loaded. Both come to the same bits.
     */
    boolean forgetsMetric();

    /** The metric's entries of {@code count} weights, of moments that are updated already. */
    void metric(Update rule, long v, long d, int count);

    /** Adds the metric's entries of {@code count} weights, as the update rule will make them, to as many sums; changes no moment. */
    void metrics(Update rule, long g, long v, int count, long sums);

    /** Takes a threshold off the magnitude of {@code count} floats, down to zero: {@code u ← sign(u)·max(|u| − l, 0)}. */
    void soften(long u, int count, float threshold);

    /** Adds the magnitudes of {@code count} weights to as many sums. */
    void magnitudes(long x, int count, long sums);

    /**
     * The secular equation at the columns' θ: adds a block of rows to sums down the columns. With {@code n = dθ + pull},
     * {@code w = u/n} and {@code q = (d − κ)θ/n}, they are {@code t = Σw², s = Σw²q, r = Σw²q²}. The pull is {@code l − κθ}: so
     * n is {@code (d − κ)θ + l} as a sum of what is not negative, and as good as its terms, however much larger κ is than d.
     *
     * @param u u of the first row; rows are {@code uStride} apart
     * @param d d of the first row; rows are {@code dStride} apart
     * @param rows how many rows, at most {@link #BLOCK_ROWS}
     * @param count how many columns
     * @param theta a θ for every column
     * @param pull a pull for every column
     * @param kappa a κ for every column
     * @param sums the sums, as of {@link Sums}: four rows of {@code count} floats
     */
    void evaluate(
            long u,
            long uStride,
            long d,
            long dStride,
            int rows,
            int count,
            long theta,
            long pull,
            long kappa,
            long sums);

    /** The least d of a block of rows, added to sums likewise: what an evaluation leaves out, since not all ask for it. */
    void least(long d, long dStride, int rows, int count, long sums);

    /** What bounds θ, added to sums likewise: {@code Σ|u|, Σd, Σd²}, and the most d. */
    void survey(long u, long uStride, long d, long dStride, int rows, int count, long sums);

    /** {@code Σw²/d} at the columns' θ, added to sums likewise: with the pull squared, {@code Σd(x − z)²} of the solution z. */
    void weigh(long u, long uStride, long d, long dStride, int rows, int count, long theta, long pull, long sums);

    /**
     * Writes {@code z = θu / (dθ + pull)} to a block of rows, in place of u, with d of updated moments.
     *
     * @param stride from one row of weights and moments to the next
     * @param rows how many rows, at most {@link #BLOCK_ROWS}
     */
    void restore(Update rule, long v, long x, long stride, int rows, int count, long theta, long pull);

    /** Writes {@code z = θu / (dθ + pull)} to {@code count} weights. */
    void store(long u, long d, int count, long theta, long pull, long x);
}
