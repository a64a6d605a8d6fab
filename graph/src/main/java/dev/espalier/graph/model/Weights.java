package dev.espalier.graph.model;

import dev.espalier.graph.type.Tensor;

/** Where the contents of a model's tensors come from: a seed, or a checkpoint. */
@FunctionalInterface
public interface Weights {

    /**
     * The contents of a tensor.
     *
     * @param name its name in the model
     * @param initialization what it starts from if it has not been trained before
     * @param shape its lengths
     * @return single precision numbers of that shape
     */
    Tensor tensor(String name, Initialization initialization, long... shape);

    /**
     * The contents of a matrix that multiplies from the right, which checkpoints may hold as {@code [outputs, inputs]}.
     *
     * @param name its name in the model
     * @param initialization what it starts from if it has not been trained before
     * @param inputs number of rows
     * @param outputs number of columns
     * @return single precision numbers of shape {@code [inputs, outputs]}
     */
    default Tensor matrix(String name, Initialization initialization, long inputs, long outputs) {
        return tensor(name, initialization, inputs, outputs);
    }

    /**
     * Random contents. What a tensor starts from depends on the seed and its own name only: it is the same on every
     * machine, and whatever else is in the model.
     *
     * @param seed any number
     * @return the weights
     */
    static Weights seeded(long seed) {
        return new SeededWeights(seed);
    }
}
