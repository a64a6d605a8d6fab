package dev.espalier.torch;

/** The GPUs that libtorch can compute on. */
public sealed interface Gpus {

    /**
     * There are some.
     *
     * @param count how many, at least 1
     */
    record Found(int count) implements Gpus {}

    /**
     * There are none.
     *
     * @param reason why, and what to do
     */
    record None(String reason) implements Gpus {}
}
