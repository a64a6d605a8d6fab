package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import java.util.Map;

/**
 * Some samples to learn from, as tensors.
 *
 * @param inputs what the model is fed with, by name
 * @param targets what the objective compares it with, by name
 * @param size number of samples
 */
public record Example(Map<String, Tensor> inputs, Map<String, Tensor> targets, int size) {}
