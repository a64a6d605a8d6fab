package dev.espalier.engine;

/** What a network is run for. */
enum Mode {
    /** Gradients can be asked for, elements are dropped out, batches are normalised by their own statistics. */
    TRAINING,
    /** As {@link #TRAINING}, but that nothing is dropped out: to find out whether a pass can be recorded. */
    REHEARSAL,
    /** Nothing is remembered for gradients, and all statistics are the stored ones. */
    INFERENCE;

    /** Whether gradients can be asked for. */
    boolean trains() {
        return this != INFERENCE;
    }
}
