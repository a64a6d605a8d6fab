package dev.espalier.graph;

import dev.espalier.graph.type.Tensor;

/**
 * A tensor that a model brings along.
 *
 * @param tensor its contents
 * @param kind what training does with it
 */
public record Initializer(Tensor tensor, Kind kind) {

    /** What training does with a tensor. */
    public enum Kind {
        /** Trained by gradients: weights, biases, scales. */
        PARAMETER,
        /** Followed along in training, without a gradient: the statistics of a batch normalisation. */
        BUFFER,
        /** Left as it is. */
        CONSTANT
    }

    /**
     * {@return the same kind of tensor with other contents}
     *
     * @param other the contents
     */
    public Initializer with(Tensor other) {
        return new Initializer(other, kind);
    }
}
