package dev.espalier.data;

import java.util.List;

/**
 * Labelled samples in memory. Safe to read from several threads.
 *
 * <p>The values are what the source holds, before any {@link Preprocessing}; those of images are intensities between 0
 * and 1 (a byte of 255 is 1).
 */
public interface Dataset {
    /**
     * What to call it.
     *
     * @return a short name
     */
    String name();

    /**
     * The shape that all samples have.
     *
     * @return the shape
     */
    SampleShape shape();

    /**
     * The names of the classes; a label is an index into this list.
     *
     * @return the names, or the numbers as text where the source has no names
     */
    List<String> classNames();

    /**
     * The number of samples.
     *
     * @return at least 1
     */
    int size();

    /**
     * The class of a sample.
     *
     * @param sample its index
     * @return an index into {@link #classNames}
     */
    int label(int sample);

    /**
     * Copies the values of a sample.
     *
     * @param sample its index
     * @param target takes {@code shape().size()} values
     * @param offset where the first of them goes
     */
    void copy(int sample, float[] target, int offset);
}
