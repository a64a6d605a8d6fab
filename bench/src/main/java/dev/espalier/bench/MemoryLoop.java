package dev.espalier.bench;

import java.util.Locale;

/**
 * A loop that does nothing but move memory, over as many floats as a model has weights. None is the fastest on every machine: a copy
 * may first have to fetch what it is about to overwrite, a read needs no way back, an update in place, which is what an optimizer
 * does, touches each line once.
 */
public enum MemoryLoop {
    /** {@code b = a}. */
    COPY(8),
    /** The sum of {@code a}, {@code b} and {@code c}. */
    READ(12),
    /** {@code a = a + 1}. */
    UPDATE(8),
    /** {@code c = a + s·b}. */
    TRIAD(12);

    private final int bytes;

    MemoryLoop(int bytes) {
        this.bytes = bytes;
    }

    /**
     * What is moved for each weight.
     *
     * @return bytes read and bytes written
     */
    public int bytes() {
        return bytes;
    }

    /**
     * Its name for people.
     *
     * @return one word
     */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
