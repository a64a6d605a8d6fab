package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class EquivalenceTest {
    private static final Map<String, Tensor> INPUTS =
            Map.of("x", Tensor.compute(DataType.FLOAT64, new long[] {4}, i -> Math.cos(3.0 * i)));

    /** {@code slope · x + shift}. */
    private static Graph line(double slope, double shift) {
        GraphBuilder graph = new GraphBuilder("line");
        Value x = graph.input("x", DataType.FLOAT64, 4);
        Value product = graph.add(
                "product",
                new Binary(Binary.Function.MULTIPLY),
                x,
                graph.parameter("slope", Tensor.scalar(DataType.FLOAT64, slope)));
        return graph.outputs(graph.add(
                "sum",
                new Binary(Binary.Function.ADD),
                product,
                graph.parameter("shift", Tensor.scalar(DataType.FLOAT64, shift))));
    }

    private static Equivalence between(Graph before, Graph after) {
        return Equivalence.measure(before, after, INPUTS, Evaluator::run);
    }

    @Test
    void roundingIsTakenForEqual() {
        Equivalence rounding = between(line(1, 0), line(1, 1e-6));
        assertEquals(1e-6, rounding.absolute(), 1e-12);
        assertTrue(rounding.moves());
        rounding.requireEqual(Equivalence.TOLERANCE);
        assertThrows(
                GraphException.class, () -> between(line(1, 0), line(1, 1e-3)).requireEqual(Equivalence.TOLERANCE));
    }

    /** The difference is 5e-5 of the largest number, but the output moves by no more than twice that. */
    @Test
    void anOutputThatHardlyMovesIsHeldAgainstItsMovement() {
        Equivalence wrong = between(line(1e-4, 1), line(5e-5, 1));
        assertTrue(wrong.absolute() < Equivalence.TOLERANCE);
        assertThrows(GraphException.class, () -> wrong.requireEqual(Equivalence.TOLERANCE));
    }

    @Test
    void anOutputThatDoesNotMoveIsToldApart() {
        Equivalence nothing = between(line(0, 1), line(0, 1));
        nothing.requireEqual(Equivalence.TOLERANCE);
        assertFalse(nothing.moves());
    }
}
