package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import java.util.Map;

/**
 * Some samples to learn from, as tensors.
 *
 * @param inputs what the model is fed with, by name
 * @param targets what the objective compares it with, by name
 * @param size number of samples
 * @param raw the same inputs as a model's file takes them, see {@link RawInputs}; equal to the inputs unless a model was asked for
 *     that {@link Task.Model#takesRaw takes them}
 */
public record Example(Map<String, Tensor> inputs, Map<String, Tensor> targets, int size, Map<String, Tensor> raw) {
    /**
     * Samples for a model in training.
     *
     * @param inputs what the model is fed with, by name
     * @param targets what the objective compares it with, by name
     * @param size number of samples
     */
    public Example(Map<String, Tensor> inputs, Map<String, Tensor> targets, int size) {
        this(inputs, targets, size, inputs);
    }
}
