package dev.espalier.torch;

/** Is told how far something long is, by any thread. */
@FunctionalInterface
public interface Progress {
    /**
     * So far.
     *
     * @param bytes how many are done
     * @param of of how many; 0 if nobody knows
     */
    void at(long bytes, long of);
}
