package dev.espalier.torture.file;

/** How often each turn was taken; every {@link CountingLoader} has one of its own. Public, as the counted classes are everywhere. */
public final class Hits {
    /** The number of counters, a power of two: turns that share one are told apart by nothing. */
    public static final int SIZE = 1 << 18;

    /** The counters, which wrap around. */
    @SuppressWarnings("MutablePublicArray") // counted classes add to it without a call
    public static final byte[] COUNTS = new byte[SIZE];

    private Hits() {}
}
