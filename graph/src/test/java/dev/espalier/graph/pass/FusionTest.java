package dev.espalier.graph.pass;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FusionTest {
    private static final Tensor INPUT =
            Tensor.compute(DataType.FLOAT32, new long[] {2, 3, 4}, i -> Math.sin(i * 1.7) * 3);

    private final GraphBuilder graph = new GraphBuilder("pattern");
    private final Value x = graph.input("x", DataType.FLOAT32, "batch", 3, 4);
    private int count;

    private Value node(Operator operator, Value... inputs) {
        return graph.add("node" + count++, operator, inputs);
    }

    private Value binary(Binary.Function function, Value left, Value right) {
        return node(new Binary(function), left, right);
    }

    private Value scalar(double value) {
        return graph.constant("constant" + count++, Tensor.scalar(DataType.FLOAT32, value));
    }

    private Value mean(Value value, long... axes) {
        return node(new Reduce(Reduce.Function.MEAN, Arrays.stream(axes).boxed().toList(), true), value);
    }

    private static void assertFusedTo(Graph before, Operator... operators) {
        Graph after = Fusion.fuse(before);
        assertEquals(
                List.of(operators), after.nodes().stream().map(Node::operator).toList());
        assertEquals(before.outputs(), after.outputs());
        Map<String, Tensor> inputs = Map.of("x", INPUT);
        String output = before.outputs().getFirst();
        assertArrayEquals(
                Evaluator.run(before, inputs).sequencedValues().getFirst().toFloats(),
                Evaluator.run(after, inputs).sequencedValues().getFirst().toFloats(),
                1e-5f,
                output);
    }

    private Value normalised(boolean twice, boolean product, long... axes) {
        Value average = mean(x, axes);
        Value centred = binary(Binary.Function.SUBTRACT, x, average);
        Value square = product
                ? binary(Binary.Function.MULTIPLY, centred, centred)
                : binary(Binary.Function.POWER, centred, scalar(2));
        Value variance = binary(Binary.Function.ADD, mean(square, axes), scalar(1e-5));
        return binary(
                Binary.Function.DIVIDE,
                // Some exporters subtract the mean a second time.
                twice ? binary(Binary.Function.SUBTRACT, x, average) : centred,
                node(new Unary(Unary.Function.SQRT), variance));
    }

    private Value parameter(String name, long... shape) {
        return graph.parameter(name, Tensor.compute(DataType.FLOAT32, shape, i -> 0.5 + i));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLayerNormalisationWrittenOutIsNamed(boolean product) {
        Value scaled = binary(Binary.Function.MULTIPLY, normalised(false, product, -1), parameter("scale", 4));
        Value shifted = binary(Binary.Function.ADD, parameter("shift", 4), scaled);
        assertFusedTo(graph.outputs(shifted), new LayerNorm(-1, (float) 1e-5));
    }

    @Test
    void aLayerNormalisationThatSubtractsTheMeanTwiceIsNamed() {
        Value scaled = binary(Binary.Function.MULTIPLY, normalised(true, false, -1), parameter("scale", 4));
        assertFusedTo(graph.outputs(scaled), new LayerNorm(-1, (float) 1e-5));
    }

    @Test
    void aLayerNormalisationOverSeveralAxesAndWithoutShiftIsNamed() {
        Value scaled = binary(Binary.Function.MULTIPLY, normalised(false, false, 1, 2), parameter("scale", 3, 4));
        assertFusedTo(graph.outputs(scaled), new LayerNorm(-2, (float) 1e-5));
    }

    @Test
    void aNormalisationOverOtherAxesIsLeftAlone() {
        Value scaled = binary(Binary.Function.MULTIPLY, normalised(false, false, 1), parameter("scale", 4));
        Graph before = graph.outputs(scaled);
        assertSame(before, Fusion.fuse(before));
    }

    @Test
    void aQuotientThatIsAlsoAnOutputIsLeftAlone() {
        Value quotient = normalised(false, false, -1);
        Value scaled = binary(Binary.Function.MULTIPLY, quotient, parameter("scale", 4));
        Graph before = graph.outputs(scaled, quotient);
        assertSame(before, Fusion.fuse(before));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aGeluWrittenOutIsNamedWhicheverWayItIsMultiplied(int order) {
        Value scaled = order % 2 == 0
                ? binary(Binary.Function.DIVIDE, x, scalar(Math.sqrt(2)))
                : binary(Binary.Function.MULTIPLY, scalar(Math.sqrt(0.5)), x);
        Value sum = binary(Binary.Function.ADD, node(new Unary(Unary.Function.ERF), scaled), scalar(1));
        Value gelu = switch (order) {
            case 0 -> binary(Binary.Function.MULTIPLY, binary(Binary.Function.MULTIPLY, x, sum), scalar(0.5));
            case 1 -> binary(Binary.Function.MULTIPLY, binary(Binary.Function.MULTIPLY, x, scalar(0.5)), sum);
            case 2 -> binary(Binary.Function.MULTIPLY, x, binary(Binary.Function.MULTIPLY, sum, scalar(0.5)));
            default -> binary(Binary.Function.MULTIPLY, sum, binary(Binary.Function.MULTIPLY, scalar(0.5), x));
        };
        assertFusedTo(graph.outputs(gelu), new Gelu(false));
    }

    @Test
    void somethingLikeAGeluIsLeftAlone() {
        Value erf = node(new Unary(Unary.Function.ERF), binary(Binary.Function.DIVIDE, x, scalar(1.5)));
        Value sum = binary(Binary.Function.ADD, erf, scalar(1));
        Graph before =
                graph.outputs(binary(Binary.Function.MULTIPLY, binary(Binary.Function.MULTIPLY, x, sum), scalar(0.5)));
        assertSame(before, Fusion.fuse(before));
    }
}
