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
import java.util.List;
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

    /** A score of one token alone hardly moves, but is made of numbers as large as those of a text. */
    @Test
    void roundingIsRelativeToTheLargestNumberForAnyInput() {
        Equivalence small = scaled(1e-3, 5e-7);
        assertThrows(GraphException.class, () -> small.requireEqual(Equivalence.TOLERANCE));
        Equivalence both = scaled(1, 5e-7).and(small);
        both.requireEqual(Equivalence.TOLERANCE);
        Equivalence wrong = scaled(1, 0).and(scaled(1e-3, 1e-5));
        assertThrows(GraphException.class, () -> wrong.requireEqual(Equivalence.TOLERANCE));
    }

    /** Inputs of some size, for which a model is off. */
    private static Equivalence scaled(double size, double off) {
        Map<String, Tensor> inputs =
                Map.of("x", Tensor.compute(DataType.FLOAT64, new long[] {4}, i -> size * Math.cos(3.0 * i)));
        return Equivalence.measure(line(1, 0), line(1, off), inputs, Evaluator::run);
    }

    @Test
    void anOutputThatDoesNotMoveIsToldApart() {
        Equivalence nothing = between(line(0, 1), line(0, 1));
        nothing.requireEqual(Equivalence.TOLERANCE);
        assertFalse(nothing.moves());
    }

    private static Equivalence.Model model(Graph graph) {
        return inputs -> Evaluator.run(graph, inputs);
    }

    /** A line that a runtime computes in two ways, the second of them off by some rounding. */
    private static Equivalence withSpread(double spread, Graph after) {
        return Equivalence.measure(List.of(model(line(1, 0)), model(line(1, spread))), model(after), INPUTS, "x = 4");
    }

    @Test
    void aRuntimeThatDiffersFromItselfExplainsAsMuch() {
        Equivalence right = withSpread(1e-3, line(1, 2e-3));
        assertEquals(1e-3, right.spread(), 1e-12);
        right.requireEqual(Equivalence.TOLERANCE);
        Equivalence wrong = withSpread(1e-3, line(1, 1e-2));
        GraphException refused = assertThrows(GraphException.class, () -> wrong.requireEqual(Equivalence.TOLERANCE));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("output sum for x = 4") && message.contains("0.00100 absolute"), message);
    }

    /** The line moves by about 2: another slope is another model, however much the runtime differs from itself. */
    @Test
    void noSpreadExcusesAnotherModel() {
        for (double spread : new double[] {1e-2, 0.5, Double.POSITIVE_INFINITY, Double.NaN}) {
            Equivalence wrong = withSpread(spread, line(1.1, 0));
            assertThrows(GraphException.class, () -> wrong.requireEqual(Equivalence.TOLERANCE), () -> "" + spread);
        }
    }

    /** A probability that is zero all over one picture, up to rounding, and not in another. */
    @Test
    void whatIsLostInRoundingIsHeldAgainstWhatMovesElsewhere() {
        List<Equivalence.Model> ways = List.of(model(line(1e-7, 0)), model(line(1e-7, 1e-7)));
        Equivalence lost = Equivalence.measure(ways, model(line(1e-7, -1e-7)), INPUTS, "");
        // Nothing but noise: no difference, and no proof.
        lost.requireEqual(Equivalence.TOLERANCE);
        assertFalse(lost.moves());
        Equivalence louder = Equivalence.measure(ways, model(line(1e-7, 1e-6)), INPUTS, "");
        assertThrows(GraphException.class, () -> louder.requireEqual(Equivalence.TOLERANCE));
        lost.and(between(line(1, 0), line(1, 0))).requireEqual(Equivalence.TOLERANCE);
        Equivalence wrong = Equivalence.measure(ways, model(line(1e-7, 1e-3)), INPUTS, "");
        assertThrows(
                GraphException.class,
                () -> wrong.and(between(line(1, 0), line(1, 0))).requireEqual(Equivalence.TOLERANCE));
    }

    @Test
    void notANumberIsEqualToNothingElse() {
        Equivalence wrong = between(line(1, 0), line(1, Double.NaN));
        assertThrows(GraphException.class, () -> wrong.requireEqual(Equivalence.TOLERANCE));
        Equivalence nothing = between(line(1, Double.NaN), line(1, Double.NaN));
        nothing.requireEqual(Equivalence.TOLERANCE);
        assertFalse(nothing.moves());
    }

    @Test
    void whatTheWorstInputsShowDecides() {
        Equivalence both = between(line(1, 0), line(1, 0)).and(between(line(1, 0), line(1, 1)));
        assertEquals(1, both.absolute(), 1e-12);
        assertThrows(GraphException.class, () -> both.requireEqual(Equivalence.TOLERANCE));
    }

    @Test
    void ofChoicesTheShareThatDiffersCounts() {
        Map<String, Tensor> before = Map.of("class", Tensor.of(new long[] {7, 8, 9, 10}));
        Map<String, Tensor> after = Map.of("class", Tensor.of(new long[] {7, 8, 9, 900}));
        Equivalence found = Equivalence.measure(List.of(_ -> before), _ -> after, INPUTS, "");
        assertEquals(0.25, found.absolute());
        assertThrows(GraphException.class, () -> found.requireEqual(Equivalence.TOLERANCE));
        Map<String, Tensor> other = Map.of("class", Tensor.of(new float[] {7, 8, 9, 10}));
        assertThrows(GraphException.class, () -> Equivalence.measure(List.of(_ -> before), _ -> other, INPUTS, ""));
    }

    /** BERT's scores of a single token: one number, of which the runtime computes the same bits in all ways. */
    @Test
    void whatLastDigitsMoveForOtherInputsIsRoundingForTheseToo() {
        Equivalence.Output others = new Equivalence.Output("y", "tokens = 16", 2e-7, 0, 0.05, 0.16, true);
        Equivalence found = new Equivalence(
                List.of(others, new Equivalence.Output("y", "tokens = 1", 3.7e-7, 0, 0.0013, 0.13, true)));
        assertTrue(found.problem(Equivalence.TOLERANCE).orElseThrow().contains("tokens = 1 is off"));
        Equivalence digits =
                new Equivalence(List.of(new Equivalence.Output("y", "tokens = 16", 0, 2.6e-7, 0.05, 0.16, true)));
        assertEquals(2.6e-7, found.withSpreadOf(digits).spread(), 1e-12);
        found.withSpreadOf(digits).requireEqual(Equivalence.TOLERANCE);
        Equivalence wrong = new Equivalence(
                List.of(others, new Equivalence.Output("y", "tokens = 1", 2e-5, 0, 0.0013, 0.13, true)));
        assertTrue(wrong.withSpreadOf(digits).problem(Equivalence.TOLERANCE).isPresent());
        // Of an output that is all but zero for some inputs, nothing follows for others.
        Equivalence vanishing = new Equivalence(List.of(
                new Equivalence.Output("y", "tokens = 1", 0, 1e-7, 1e-6, 3e-6, true),
                new Equivalence.Output("y", "tokens = 16", 0, 1e-7, 0.05, 0.16, true)));
        Equivalence off =
                new Equivalence(List.of(new Equivalence.Output("y", "tokens = 16", 2.5e-4, 0, 0.05, 0.16, true)));
        assertTrue(off.withSpreadOf(vanishing).problem(Equivalence.TOLERANCE).isPresent());
    }
}
