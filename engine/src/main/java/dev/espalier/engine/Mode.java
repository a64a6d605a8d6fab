package dev.espalier.engine;

/** What a network is run for. */
enum Mode {
    /** Gradients can be asked for, elements are dropped out, batches are normalised by their own statistics. */
    TRAINING,
    /** Nothing is remembered for gradients, and all statistics are the stored ones. */
    INFERENCE
}
