package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.op.Sampling.Coordinates;
import dev.espalier.graph.op.Sampling.Rounding;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The nearest element is the same one as ONNX Runtime's, also where last digits tell which one is nearer. */
final class ResizeTest {
    private static final int LONGEST = 24;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 7, 9, 14, 18, 20, 23})
    void theNearestElementIsTheSame(int length) {
        GraphBuilder builder = new GraphBuilder("resized");
        Value x = builder.input("x", DataType.FLOAT32, 1, 1, length, 1);
        List<Value> outputs = new ArrayList<>();
        for (Coordinates coordinates : Coordinates.values()) {
            for (Rounding rounding : Rounding.values()) {
                Sampling sampling = new Sampling(Sampling.Mode.NEAREST, coordinates, rounding, -0.75, false);
                for (int to = 1; to <= LONGEST; to++) {
                    String name = "%d %s %s".formatted(to, coordinates, rounding);
                    Value lengths = builder.constant(name + " lengths", Tensor.of(new long[] {to, 1}, 2));
                    outputs.add(builder.add(name, new Resize(sampling, List.of(2L, 3L), List.of()), x, lengths));
                }
            }
        }
        Graph graph = builder.outputs(outputs.toArray(Value[]::new));
        Map<String, Tensor> positions =
                Map.of("x", Tensor.compute(DataType.FLOAT32, new long[] {1, 1, length, 1}, i -> i));
        Map<String, Tensor> ours = Evaluator.run(graph, positions);
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, 1)) {
            model.run(positions)
                    .forEach((name, theirs) -> assertArrayEquals(
                            theirs.toFloats(),
                            Objects.requireNonNull(ours.get(name)).toFloats(),
                            name));
        }
    }
}
