package dev.espalier.torture.graph;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Elu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torture.graph.Contest.Party;
import dev.espalier.torture.graph.Contest.Refused;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is no disagreement, because last digits decide. */
final class ContestTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private void assertUndecided(Graph graph) throws IOException {
        try (Contest contest = new Contest(graph, folder.resolve("model.onnx"))) {
            assertTrue(contest.problem(Party.EVALUATOR).isPresent(), "the evaluator is more exact");
            assertTrue(contest.isOnCliff());
        }
    }

    /** States that an update gate lets nothing into: zeros in single precision, numbers of 1e-9 to the evaluator. */
    private static Value closed(GraphBuilder graph) {
        Value x = graph.input("x", DataType.FLOAT32, 1, "batch", 1);
        Value weight = graph.parameter("weight", Tensor.of(new float[] {0, 0, 0, 0, 1, 2}, 1, 6, 1));
        Value recurrence = graph.parameter("recurrence", Tensor.of(new float[12], 1, 6, 2));
        Value bias = graph.parameter("bias", Tensor.of(new float[] {20, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 12));
        Recurrent gru = new Recurrent(Recurrent.Cell.GRU, Recurrent.Direction.FORWARD, 2);
        List<String> inputs = List.of(x.name(), weight.name(), recurrence.name(), bias.name());
        return graph.addAll(new Node("gru", gru, inputs, List.of("states", "last")))
                .getFirst();
    }

    @Test
    void whetherAStateIsZeroBehindAClosedGateIsUndecided() throws IOException {
        GraphBuilder graph = new GraphBuilder("closed gate");
        Value told = graph.add("told", new Cast(DataType.BOOL), closed(graph));
        assertUndecided(graph.outputs(graph.add("y", new Cast(DataType.FLOAT32), told)));
    }

    @Test
    void whichStateIsLargestBehindClosedGatesIsUndecided() throws IOException {
        GraphBuilder graph = new GraphBuilder("closed gates");
        assertUndecided(graph.outputs(graph.add("y", new ArgReduce(true, 3, false), closed(graph))));
    }

    /** ONNX Runtime computes an Elu as exp(x) − 1, and so cannot tell small numbers apart that are. */
    @Test
    void theLargestOfSmallElusIsUndecided() throws IOException {
        GraphBuilder graph = new GraphBuilder("small");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 4);
        Value size = graph.add("size", new Unary(Unary.Function.ABS), x);
        Value little = graph.constant("little", Tensor.scalar(DataType.FLOAT32, -3e-3));
        Value small = graph.add("negative", new Binary(Binary.Function.MULTIPLY), size, little);
        Value larger = graph.add("larger", new Unary(Unary.Function.TANH), small);
        Value both = graph.add("both", new Concat(1), small, larger);
        Value elu = graph.add("elu", new Elu(1), both);
        assertUndecided(graph.outputs(graph.add("y", new ArgReduce(true, 1, false), elu)));
    }

    /** Shares of numbers that are all but alike are the same in single precision. */
    @Test
    void theLargestOfLikeSharesIsUndecided() throws IOException {
        for (boolean logarithm : new boolean[] {false, true}) {
            GraphBuilder graph = new GraphBuilder("alike");
            Value x = graph.input("x", DataType.FLOAT32, "batch", 4);
            Value little = graph.constant("little", Tensor.scalar(DataType.FLOAT32, 1e-7));
            Value small = graph.add("small", new Binary(Binary.Function.MULTIPLY), x, little);
            Value shares = graph.add("shares", new Softmax(1, logarithm), small);
            Graph model = graph.outputs(graph.add("y", new ArgReduce(true, 1, false), shares));
            try (Contest contest = new Contest(model, folder.resolve("model.onnx"))) {
                assertTrue(contest.isOnCliff(), "logarithm: " + logarithm);
            }
        }
    }

    /** Both are rounded to the same here, and need not be where they are added up in another order. */
    @Test
    void theLargestOfNumbersThatAreTheSameIsUndecided() throws IOException {
        GraphBuilder graph = new GraphBuilder("same");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 1);
        Value three = graph.constant("three", Tensor.scalar(DataType.FLOAT32, 3));
        Value times = graph.add("times", new Binary(Binary.Function.MULTIPLY), x, three);
        Value twice = graph.add("twice", new Binary(Binary.Function.ADD), x, x);
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), twice, x);
        Value both = graph.add("both", new Concat(1), times, sum);
        Graph model = graph.outputs(graph.add("y", new ArgReduce(true, 1, false), both));
        try (Contest contest = new Contest(model, folder.resolve("model.onnx"))) {
            assertTrue(contest.isOnCliff());
        }
    }

    /** A small number is its own hyperbolic tangent but for a last digit. */
    @Test
    void whetherADifferenceOfNumbersThatAreAlikeIsZeroIsUndecided() throws IOException {
        GraphBuilder graph = new GraphBuilder("alike");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 4);
        Value little = graph.constant("little", Tensor.scalar(DataType.FLOAT32, 3e-3));
        Value small = graph.add("small", new Binary(Binary.Function.MULTIPLY), x, little);
        Value tangent = graph.add("tangent", new Unary(Unary.Function.TANH), small);
        Value difference = graph.add("difference", new Binary(Binary.Function.SUBTRACT), small, tangent);
        Value both = graph.add("both", new Concat(1), difference, small);
        Value told = graph.add("told", new Cast(DataType.BOOL), both);
        Graph model = graph.outputs(graph.add("y", new Cast(DataType.FLOAT32), told));
        try (Contest contest = new Contest(model, folder.resolve("model.onnx"))) {
            assertTrue(contest.isOnCliff());
        }
    }

    /** A pad that two read before, and a pool alone now: ONNX Runtime makes a pool of both that it does not take. */
    @Test
    void aPoolThatOnnxRuntimeCannotOptimizeIsNotHeldAgainstThePruner() throws IOException {
        GraphBuilder graph = new GraphBuilder("padded");
        Value x = graph.input("x", DataType.FLOAT32, 1, 1, 4);
        Value pad = graph.add("pad", new Pad(Pad.Mode.CONSTANT, List.of(0L, 0L, 1L, 0L, 0L, 1L), 0), x);
        Windows windows = new Windows(List.of(1L), List.of(1L, 0L), List.of(1L));
        Value pool = graph.add("pool", new Pool(Pool.Function.MAX, List.of(2L), windows, false, false), pad);
        graph.add("unread", new Unary(Unary.Function.RELU), pad);
        Graph model = graph.outputs(graph.add("y", new Unary(Unary.Function.TANH), pool));
        try (Contest contest = new Contest(model, folder.resolve("model.onnx"))) {
            assertTrue(contest.problem(Party.EVALUATOR).isEmpty());
            assertThrows(Refused.class, () -> contest.problem(Party.PRUNER));
        }
    }

    @Test
    void lossesBelowTheSmallestNormalNumberHaveFewerDigits() {
        assertFalse(Contest.differ(5.57e-44, 5.47e-44));
        assertTrue(Contest.differ(5.57e-4, 5.47e-4));
    }
}
