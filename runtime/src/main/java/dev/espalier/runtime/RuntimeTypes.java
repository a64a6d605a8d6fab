package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.TypeProbe;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/** ONNX Runtime's word on the types of tensors: what it infers, and where that leaves the axes open, what comes out of a run. */
public final class RuntimeTypes implements TypeProbe {

    /** Asks ONNX Runtime. */
    public RuntimeTypes() {}

    @Override
    public Map<String, TensorType> types(byte[] bytes, Optional<Path> folder, List<Graph.Input> inputs) {
        try (OnnxRuntimeModel model = new OnnxRuntimeModel("the model", bytes, folder)) {
            SequencedMap<String, TensorType> types = new LinkedHashMap<>(model.outputTypes());
            if (types.values().stream().anyMatch(type -> type.shape().rank() == 0)) {
                run(model, inputs)
                        .forEach((output, tensor) -> types.computeIfPresent(
                                output,
                                (_, type) -> type.shape().rank() == 0 ? type.with(free(output, tensor)) : type));
            }
            return Collections.unmodifiableMap(types);
        }
    }

    private static Map<String, Tensor> run(OnnxRuntimeModel model, List<Graph.Input> inputs) {
        Graph nothing = new Graph("inputs", inputs, new LinkedHashMap<>(), List.of(), List.of());
        return model.run(
                new TrialSearch(model, nothing, SampleInputs.DEFAULT).one().inputs());
    }

    /** One run tells how many axes there are, but not how long they are in another. */
    private static Shape free(String output, Tensor tensor) {
        return new Shape(IntStream.range(0, tensor.rank())
                .mapToObj(axis -> Dimension.symbol(output + ".length" + axis))
                .toList());
    }
}
