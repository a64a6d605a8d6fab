package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import java.io.IOException;

/** Makes the model that a task asks for. */
@FunctionalInterface
public interface ModelSource {
    /**
     * The model.
     *
     * @param wanted what it is given and what it has to say
     * @param weights what tensors hold that have not been trained before
     * @return the model, under names of its own
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if there is no such model; the message says what to change
     */
    Graph build(Signature wanted, Weights weights) throws IOException;
}
