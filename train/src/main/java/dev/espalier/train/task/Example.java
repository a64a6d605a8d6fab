package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;

/**
 * Some samples to learn from, as tensors.
 *
 * @param inputs what the model is fed with, by name
 * @param labels what the loss compares its outputs with
 * @param size number of samples
 */
public record Example(Map<String, Tensor> inputs, List<Tensor> labels, int size) {}
