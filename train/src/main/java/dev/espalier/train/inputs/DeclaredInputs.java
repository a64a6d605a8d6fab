package dev.espalier.train.inputs;

import dev.espalier.data.ModelInput;
import dev.espalier.graph.Graph;
import dev.espalier.graph.pass.SinglePrecision;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import dev.espalier.train.task.RawInputs;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** What a model declares that it takes. */
public final class DeclaredInputs {
    private DeclaredInputs() {}

    /**
     * {@return a model as it is in training: without an encoding in front, and in single precision outside}
     *
     * @param read a model as it was read from its file
     */
    public static Graph inTraining(Graph read) {
        return SinglePrecision.outside(RawInputs.without(read));
    }

    /**
     * {@return the inputs of a model}
     *
     * @param model a model, as it is in training
     */
    public static List<ModelInput> of(Graph model) {
        Map<String, Long> lengths = SampleInputs.DEFAULT.dimensions(model);
        return model.inputs().stream()
                .map(input -> new ModelInput(
                        input.name(),
                        input.type(),
                        sample(input.type().shape(), lengths),
                        places(model, input.name(), input.type())))
                .toList();
    }

    private static List<Integer> sample(Shape shape, Map<String, Long> lengths) {
        return shape.dimensions().stream()
                .skip(1)
                .map(length -> Math.toIntExact(
                        length.isKnown()
                                ? length.value()
                                : lengths.getOrDefault(length.toString(), SampleInputs.DEFAULT.length())))
                .toList();
    }

    private static OptionalLong places(Graph model, String name, TensorType type) {
        return type.data().isFloat() ? OptionalLong.empty() : SampleInputs.places(model, name);
    }
}
