package dev.espalier.data;

import dev.espalier.graph.type.Tensor;
import java.util.SequencedMap;

/**
 * Some rows as tensors: numbers {@code float32 [rows, …]}, categories {@code int64 [rows]}, sequences {@code int64 [rows, longest]},
 * filled up. Their memory is written again: they are good until the next batch is asked for, or, after the batches were closed,
 * for ever.
 *
 * @param position where this batch stands
 * @param size the number of rows: the plan's batch size, or less for the last batch of an epoch
 * @param inputs what a model is given, by name
 * @param targets what it is to say, by name
 */
public record Batch(
        BatchPosition position, int size, SequencedMap<String, Tensor> inputs, SequencedMap<String, Tensor> targets) {}
