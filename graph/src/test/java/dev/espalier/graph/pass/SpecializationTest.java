package dev.espalier.graph.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SpecializationTest {
    private final GraphBuilder graph = new GraphBuilder("shapes");
    private final Value x = graph.input("x", DataType.FLOAT32, "batch", "length", 6);

    private Value scalar(String name, long value) {
        return graph.constant(name, Tensor.of(new long[] {value}).reshape());
    }

    /** As exporters write {@code x.view(batch, length, 2, 3)} and positions. */
    private Graph shapeArithmetic() {
        Value shape = graph.add("shape", ShapeOf.ALL, x);
        Value batch = graph.add("batch", new Gather(0), shape, scalar("zero", 0));
        Value length = graph.add("length", new Gather(0), shape, scalar("one", 1));
        Value target = graph.add(
                "target",
                new Concat(0),
                graph.add("batches", new Unsqueeze(List.of(0L)), batch),
                graph.add("lengths", new Unsqueeze(List.of(0L)), length),
                graph.constant("rest", Tensor.of(new long[] {2, 3})));
        Value heads = graph.add("heads", Reshape.DEFAULT, x, target);
        Value positions = graph.add("positions", new Range(), scalar("start", 0), length, scalar("step", 1));
        Value wide = graph.add(
                "wide",
                new Expand(),
                positions,
                graph.add(
                        "pair",
                        new Concat(0),
                        graph.add("b", new Unsqueeze(List.of(0L)), batch),
                        graph.add("l", new Unsqueeze(List.of(0L)), length)));
        return graph.outputs(heads, wide);
    }

    @Test
    void arithmeticWithShapesIsDone() {
        Graph general = shapeArithmetic();
        assertEquals(Shape.of("batch", "length", 2, 3), general.shape("heads"));
        Graph special = Specialization.of(general, Map.of("x", new long[] {4, 100, 6}));
        assertEquals(List.of("heads"), special.nodes().stream().map(Node::name).toList());
        assertEquals(Shape.ofLengths(4, 100, 2, 3), special.shape("heads"));
        Tensor input = Tensor.compute(DataType.FLOAT32, new long[] {4, 100, 6}, i -> i);
        Map<String, Tensor> expected = Evaluator.run(general, Map.of("x", input));
        Map<String, Tensor> actual = Evaluator.run(special, Map.of("x", input));
        expected.forEach((name, tensor) -> {
            Tensor other = actual.get(name);
            assertTrue(other != null && tensor.sameAs(other), name);
        });
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        Graph general = shapeArithmetic();
        for (long[] wrong : new long[][] {{4, 100}, {4, 100, 5}, {4, 100, 6, 1}}) {
            GraphException refused =
                    assertThrows(GraphException.class, () -> Specialization.of(general, Map.of("x", wrong)));
            assertTrue(String.valueOf(refused.getMessage()).contains("input x"), refused::toString);
        }
        assertThrows(GraphException.class, () -> Specialization.of(general, Map.of()));
    }

    @Test
    void oneSymbolIsOneLength() {
        Value y = graph.input("y", DataType.FLOAT32, "batch", "length", 6);
        Graph general = graph.outputs(graph.add("sum", new Binary(Binary.Function.ADD), x, y));
        Map<String, long[]> shapes = Map.of("x", new long[] {2, 3, 6}, "y", new long[] {2, 4, 6});
        assertThrows(GraphException.class, () -> Specialization.of(general, shapes));
    }

    @Test
    void weightsAreNotFolded() {
        Value weight = graph.parameter("weight", Tensor.of(new float[] {1, 2, 3, 4, 5, 6}));
        Value constant = graph.constant("constant", Tensor.of(new float[] {1, 2, 3, 4, 5, 6}));
        Value negative = graph.add("negative", new Unary(Unary.Function.NEGATIVE), weight);
        Value root = graph.add("root", new Unary(Unary.Function.SQRT), constant);
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), negative, root);
        Graph folded = Folding.fold(graph.outputs(graph.add("all", new Binary(Binary.Function.ADD), x, sum)));
        assertEquals(
                List.of("negative", "sum", "all"),
                folded.nodes().stream().map(Node::name).toList());
        assertEquals(
                List.of("weight", "root"), List.copyOf(folded.initializers().keySet()));
    }
}
