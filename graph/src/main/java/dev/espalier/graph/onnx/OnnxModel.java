package dev.espalier.graph.onnx;

import dev.espalier.graph.Graph;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an ONNX file holds.
 *
 * @param graph the model
 * @param opset the version of the operators that the file was written for
 * @param producer the program that wrote the file; empty if it does not say
 * @param metadata the file's own notes, in their order
 */
public record OnnxModel(Graph graph, int opset, String producer, Map<String, String> metadata) {

    /** Takes a copy. */
    public OnnxModel {
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
    }
}
