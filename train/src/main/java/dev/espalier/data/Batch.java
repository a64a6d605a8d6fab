package dev.espalier.data;

/**
 * Some samples with their labels, in arrays that are written again: they are good until the next batch is asked for.
 */
public final class Batch {
    private final BatchPosition position;
    private final SampleShape sampleShape;
    private final float[] values;
    private final long[] labels;

    Batch(BatchPosition position, SampleShape sampleShape, float[] values, long[] labels) {
        this.position = position;
        this.sampleShape = sampleShape;
        this.values = values;
        this.labels = labels;
    }

    /**
     * Where this batch stands.
     *
     * @return the epoch and the number in it
     */
    public BatchPosition position() {
        return position;
    }

    /**
     * The number of samples.
     *
     * @return the plan's batch size, or less for the last batch of an epoch
     */
    public int size() {
        return labels.length;
    }

    /**
     * The lengths of the axes of {@link #values}.
     *
     * @return the number of samples, followed by the shape of one
     */
    public long[] shape() {
        return sampleShape.batched(labels.length);
    }

    /**
     * The preprocessed values.
     *
     * @return sample after sample, in an array of exactly that size; not a copy
     */
    public float[] values() {
        return values;
    }

    /**
     * The classes.
     *
     * @return one number for each sample; not a copy
     */
    public long[] labels() {
        return labels;
    }
}
