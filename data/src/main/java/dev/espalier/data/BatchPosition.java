package dev.espalier.data;

import dev.espalier.core.check.Check;

/**
 * A place in the sequence of batches.
 *
 * @param epoch the number of the pass over the data, from 0
 * @param batch the number of the batch in that pass, from 0
 */
public record BatchPosition(long epoch, long batch) {
    /** The first batch of the first epoch. */
    public static final BatchPosition START = new BatchPosition(0, 0);

    /** Checks the numbers. */
    public BatchPosition {
        Check.atLeast("epoch", epoch, 0);
        Check.atLeast("batch", batch, 0);
    }
}
