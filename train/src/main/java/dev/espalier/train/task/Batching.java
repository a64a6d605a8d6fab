package dev.espalier.train.task;

import dev.espalier.data.BatchPlan;

/**
 * How the rows of a data set make batches.
 *
 * @param size rows that are learned from at once
 * @param evaluationSize rows that are looked at at once when a model is judged
 * @param loaders threads that load ahead of training
 */
public record Batching(int size, int evaluationSize, int loaders) {
    /** Batches that each loader may be ahead of training. */
    private static final int AHEAD = 2;

    /**
     * What a model learns from.
     *
     * @param rows how many rows there are
     * @param seed what their order and augmentation depend on
     * @return the plan
     */
    BatchPlan training(int rows, long seed) {
        // A single sample has no statistics that a batch normalisation could use.
        return BatchPlan.training(size, seed)
                .withThreads(loaders, AHEAD * loaders)
                .withDropLast(rows > 1 && rows % size == 1);
    }
}
