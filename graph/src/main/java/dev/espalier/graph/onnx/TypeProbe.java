package dev.espalier.graph.onnx;

import dev.espalier.graph.Graph;
import dev.espalier.graph.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells the types of tensors behind operators that are not known here: of a file that does not say them itself. Whoever knows all
 * operators can, by running the model.
 */
@FunctionalInterface
public interface TypeProbe {

    /**
     * Tells the types of a model's outputs.
     *
     * @param model the bytes of an ONNX model; its outputs are the tensors in question
     * @param folder where its external data is; empty if it has none
     * @param inputs what it is fed with
     * @return the types by name; a length that is free is a symbol, the input's where it is known to be the same
     * @throws IllegalStateException if the model cannot be run, with the reason
     */
    Map<String, TensorType> types(byte[] model, Optional<Path> folder, List<Graph.Input> inputs);
}
