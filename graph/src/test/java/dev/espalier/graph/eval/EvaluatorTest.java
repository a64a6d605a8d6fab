package dev.espalier.graph.eval;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EvaluatorTest {
    private static Tensor one(Operator operator, @Nullable Tensor... inputs) {
        List<Tensor> results = Evaluator.evaluate(operator, Arrays.asList(inputs));
        return Objects.requireNonNull(results).getFirst();
    }

    private static Tensor floats(double... values) {
        return Tensor.compute(DataType.FLOAT32, new long[] {values.length}, i -> values[(int) i]);
    }

    private static Tensor longs(long... values) {
        return Tensor.of(values);
    }

    private static void assertFloats(Tensor result, double... expected) {
        float[] numbers = result.toFloats();
        assertEquals(expected.length, numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            assertEquals(expected[i], numbers[i], 1e-6, "element " + i);
        }
    }

    private static void assertLongs(Tensor result, long... expected) {
        assertArrayEquals(expected, result.toLongs());
    }

    private static String failure(Operator operator, @Nullable Tensor... inputs) {
        return Objects.requireNonNull(assertThrows(IllegalArgumentException.class, () -> one(operator, inputs))
                .getMessage());
    }

    @Test
    void wholeNumbersStayExactBeyondWhatADoubleHolds() {
        long large = (1L << 60) + 1;
        assertLongs(one(new Binary(Binary.Function.ADD), longs(large), longs(1)), large + 1);
        assertLongs(one(new Unary(Unary.Function.NEGATIVE), longs(large)), -large);
        assertLongs(one(new Variadic(Variadic.Function.MAXIMUM), longs(large), longs(large - 1)), large);
        assertLongs(one(new Reduce(Reduce.Function.SUM, List.of(), false), longs(large, -1)), large - 1);
        assertLongs(one(new CumSum(0, false, false), longs(large, 1)), large, large + 1);
        assertLongs(one(new MatMul(), longs(large, 1), longs(1, 1)), large + 1);
        assertLongs(one(new Elementwise.Clip(0, Double.POSITIVE_INFINITY), longs(large, -1)), large, 0);
    }

    @Test
    void wholeNumbersWrapAround() {
        assertLongs(one(new Binary(Binary.Function.ADD), longs(Long.MAX_VALUE), longs(1)), Long.MIN_VALUE);
        Tensor bytes = longs(200, 100).cast(DataType.UINT8);
        assertLongs(one(new Binary(Binary.Function.ADD), bytes, bytes), 144, 200);
        assertLongs(one(new Reduce(Reduce.Function.PRODUCT, List.of(0L), false), longs(1L << 40, 1L << 40)), 0);
    }

    @Test
    void divisionCutsOffAndTheRestHasTheDivisorsSign() {
        assertLongs(one(new Binary(Binary.Function.DIVIDE), longs(7, -7), longs(-2)), -3, 3);
        assertLongs(one(new Binary(Binary.Function.MODULO), longs(7, -7), longs(-2)), -1, -1);
        assertEquals("a whole number is divided by 0", failure(new Binary(Binary.Function.DIVIDE), longs(1), longs(0)));
        assertEquals("a whole number is divided by 0", failure(new Binary(Binary.Function.MODULO), longs(1), longs(0)));
        assertFloats(one(new Binary(Binary.Function.DIVIDE), floats(1), floats(0)), Double.POSITIVE_INFINITY);
    }

    @Test
    void castsCutOffTowardsZeroAndTruthIsNotZero() {
        assertLongs(one(new Elementwise.Cast(DataType.INT64), floats(-1.9, 1.9)), -1, 1);
        assertLongs(one(new Elementwise.Cast(DataType.BOOL), floats(-0.5, 0, 3)), 1, 0, 1);
        assertLongs(one(new Elementwise.Cast(DataType.INT8), longs(300)), 44);
        Tensor unsigned = longs(-1).cast(DataType.UINT64);
        assertEquals(
                0x1p64, one(new Elementwise.Cast(DataType.FLOAT64), unsigned).getDouble(0));
    }

    @Test
    void anIndexFromTheEndCountsBackAndOneBeyondIsNamed() {
        Tensor table = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2);
        assertFloats(one(new Gather(0), table, longs(-1, 0)), 5, 6, 1, 2);
        assertEquals("index 3 is out of range for a length of 3", failure(new Gather(0), table, longs(3)));
        Tensor many = Tensor.computeLongs(DataType.INT64, new long[] {100}, i -> i == 99 ? -4 : 0);
        assertEquals("index -4 is out of range: it must be in [-3, 3)", failure(new Gather(0), table, many));
        assertFloats(one(new GatherElements(1), table, Tensor.of(new long[] {1, -1}, 2, 1)), 2, 4);
        assertTrue(failure(new GatherElements(0), table, Tensor.of(new long[3], 1, 3))
                .contains("reach beyond"));
    }

    @Test
    void aSliceMayGoBackwardsAndIsClipped() {
        Tensor digits = longs(0, 1, 2, 3, 4, 5);
        assertLongs(one(new Slice(), digits, longs(-1), longs(Long.MIN_VALUE), longs(0), longs(-2)), 5, 3, 1);
        assertLongs(one(new Slice(), digits, longs(4), longs(Long.MAX_VALUE)), 4, 5);
        assertLongs(one(new Slice(), digits, longs(4), longs(2)));
        assertEquals("a step of 0", failure(new Slice(), digits, longs(0), longs(1), longs(0), longs(0)));
    }

    @Test
    void padsAreAddedOrCutOff() {
        Tensor x = floats(1, 2, 3);
        assertFloats(one(new Pad(Pad.Mode.CONSTANT, List.of(1L, -1L), 9), x), 9, 1, 2);
        assertFloats(one(new Pad(Pad.Mode.REFLECT, List.of(2L, 2L), 0), x), 3, 2, 1, 2, 3, 2, 1);
        assertFloats(one(new Pad(Pad.Mode.EDGE, List.of(1L, 2L), 0), x), 1, 1, 2, 3, 3, 3);
        assertFloats(one(new Pad(Pad.Mode.WRAP, List.of(1L, 1L), 0), x), 3, 1, 2, 3, 1);
        assertFloats(one(new Pad(Pad.Mode.WRAP, List.of(2L, -1L), 0), x), 1, 2, 1, 2);
        assertFloats(one(new Pad(Pad.Mode.WRAP, List.of(-1L, 2L), 0), x), 2, 3, 2, 3);
        assertFloats(one(new Pad(Pad.Mode.CONSTANT, List.of(-4L, 2L), 9), x), 9);
        assertTrue(failure(new Pad(Pad.Mode.EDGE, List.of(1L, 0L), 0), floats()).contains("no element to pad with"));
        assertTrue(failure(new Pad(Pad.Mode.WRAP, List.of(-3L, 1L), 0), x).contains("no element to pad with"));
    }

    @Test
    void aConvolutionIsASumOverItsWindow() {
        Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 1, 1, 4);
        Tensor w = Tensor.of(new float[] {1, 10}, 1, 1, 2);
        Windows windows = new Windows(List.of(1L), List.of(1L, 0L), List.of(2L));
        assertFloats(one(new Conv(windows, 1), x, w, floats(100)), 120, 131, 142);
        Tensor two = Tensor.of(new float[] {1, 2, 3, 4}, 1, 2, 2);
        Tensor separate = Tensor.of(new float[] {10, 100}, 2, 1, 1);
        Windows plain = new Windows(List.of(1L), List.of(0L, 0L), List.of(1L));
        assertFloats(one(new Conv(plain, 2), two, separate, null), 10, 20, 300, 400);
    }

    @Test
    void meansCountPaddingOnlyIfTold() {
        Tensor x = Tensor.of(new float[] {2, 4, 6}, 1, 1, 3);
        Windows windows = new Windows(List.of(2L), List.of(1L, 1L), List.of(1L));
        assertFloats(one(new Pool(Pool.Function.AVERAGE, List.of(2L), windows, false, true), x), 1, 5);
        assertFloats(one(new Pool(Pool.Function.AVERAGE, List.of(2L), windows, false, false), x), 2, 5);
        Tensor negative = Tensor.of(new float[] {-2, -4, -6}, 1, 1, 3);
        assertFloats(one(new Pool(Pool.Function.MAX, List.of(2L), windows, false, false), negative), -2, -4);
    }

    @Test
    void productsOfMatricesByHand() {
        Tensor a = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        Tensor b = Tensor.of(new float[] {5, 6, 7, 8}, 2, 2);
        assertFloats(one(new MatMul(), a, b), 19, 22, 43, 50);
        assertFloats(one(Gemm.LINEAR, a, b, floats(100, 200)), 117, 223, 139, 253);
        assertFloats(one(new Gemm(2, 0.5, true, false), a, b, floats(2, 4)), 53, 62, 77, 90);
        assertFloats(one(new MatMul(), floats(1, 2), a), 7, 10);
        assertFloats(one(new MatMul(), a, floats(1, 2)), 5, 11);
        assertFloats(one(new MatMul(), floats(1, 2), floats(3, 4)), 11);
    }

    @Test
    void anEmptyProductIsZero() {
        Tensor left = Tensor.of(new float[0], 2, 0);
        Tensor right = Tensor.of(new float[0], 0, 3);
        assertFloats(one(new MatMul(), left, right), 0, 0, 0, 0, 0, 0);
        assertFloats(one(new MatMul(), right, Tensor.of(new float[3], 3, 1)));
    }

    @Test
    void normsByHand() {
        Tensor x = Tensor.of(new float[] {1, 3, 5, 9}, 1, 2, 2);
        assertFloats(one(new BatchNorm(1, 0.9), x, floats(1, 2), floats(0, 1), floats(1, 5), floats(3, 0)), 0, 1, 1, 9);
        assertFloats(one(new LayerNorm(-1, 0), x, floats(1, 2), floats(0, 10)), -1, 12, -1, 12);
        assertFloats(
                one(new LayerNorm(1, 0), x, floats(1, 1), null).reshape(4),
                -1.1832160,
                -0.5070926,
                0.1690309,
                1.5212777);
    }

    @Test
    void softmaxOfLargeNumbersDoesNotOverflow() {
        Tensor x = floats(1000, 1000 + Math.log(3));
        assertEquals(0.25, one(new Softmax(0, false), x).getDouble(0), 1e-5);
        assertEquals(Math.log(0.25), one(new Softmax(0, true), x).getDouble(0), 1e-4);
        assertEquals(
                1000 + Math.log(4),
                one(new Reduce(Reduce.Function.LOG_SUM_EXP, List.of(), false), x)
                        .getDouble(0),
                1e-4);
    }

    @Test
    void theFirstOfEqualElementsIsFound() {
        Tensor x = Tensor.of(new float[] {3, 1, 3, 1, 1, 3}, 2, 3);
        assertLongs(one(new ArgReduce(true, 1, false), x), 0, 2);
        assertLongs(one(new ArgReduce(false, -1, true), x), 1, 0);
        assertLongs(one(new ArgReduce(true, 0, false), x), 0, 0, 0);
        assertTrue(failure(new ArgReduce(true, 0, false), floats()).contains("no element to choose"));
    }

    @Test
    void reductionsOfNothing() {
        Tensor nothing = Tensor.of(new float[0], 0, 2);
        assertFloats(one(new Reduce(Reduce.Function.SUM, List.of(0L), false), nothing), 0, 0);
        assertFloats(one(new Reduce(Reduce.Function.PRODUCT, List.of(0L), false), nothing), 1, 1);
    }

    @Test
    void piecesOfASplitAndTheirConcatenation() {
        Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        List<Tensor> pieces =
                Objects.requireNonNull(Evaluator.evaluate(new Split(1, List.of(1L, 2L)), Arrays.asList(x)));
        assertFloats(pieces.get(0), 1, 4);
        assertFloats(pieces.get(1), 2, 3, 5, 6);
        assertTrue(one(new Concat(1), pieces.get(0), pieces.get(1)).sameAs(x));
    }

    @Test
    void trianglesTilesAndRunningSums() {
        Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        assertFloats(one(new Trilu(true, 0), x), 1, 2, 0, 4);
        assertFloats(one(new Trilu(false, -1), x), 0, 0, 3, 0);
        assertFloats(one(new Tile(), x, longs(1, 2)), 1, 2, 1, 2, 3, 4, 3, 4);
        assertFloats(one(new CumSum(1, true, true), x), 2, 0, 4, 0);
        assertFloats(one(new Transpose(List.of(1L, 0L)), x), 1, 3, 2, 4);
    }

    @Test
    void rangesOfWholeNumbersAndFractions() {
        assertLongs(
                one(
                        new Range(),
                        longs(5).reshape(),
                        longs(-1).reshape(),
                        longs(-2).reshape()),
                5,
                3,
                1);
        assertFloats(
                one(
                        new Range(),
                        Tensor.scalar(DataType.FLOAT32, 0),
                        Tensor.scalar(DataType.FLOAT32, 1),
                        Tensor.scalar(DataType.FLOAT32, 0.5)),
                0,
                0.5);
        assertEquals("a step of 0", failure(new Range(), longs(0).reshape(), longs(1).reshape(), longs(0).reshape()));
    }

    @Test
    void whatOnlyChangesTheShapeSharesItsMemory() {
        Tensor x = Tensor.of(new float[6], 2, 3);
        assertSame(x, one(new Unary(Unary.Function.IDENTITY), x));
        assertSame(x, one(new Elementwise.Dropout(0.5), x));
        assertEquals(
                x.data().address(), one(Reshape.DEFAULT, x, longs(3, -1)).data().address());
        assertEquals(x.data().address(), one(new Flatten(0), x).data().address());
        assertEquals(
                x.data().address(),
                one(new Transpose(List.of(0L, 2L, 1L)), x.reshape(2, 1, 3))
                        .data()
                        .address());
    }

    @Test
    void aConstantMayNotGrowMuchWhenFolded() {
        ConstantOfShape zeros = new ConstantOfShape(Tensor.scalar(DataType.FLOAT32, 0));
        assertNull(Evaluator.fold(zeros, Arrays.asList(longs(1 << 23))));
        assertEquals(
                1 << 20,
                Objects.requireNonNull(Evaluator.fold(zeros, Arrays.asList(longs(1 << 20))))
                        .getFirst()
                        .size());
        assertNull(Evaluator.evaluate(zeros, Arrays.asList(longs(1L << 40))));
        assertNull(Evaluator.evaluate(new Expand(), Arrays.asList(floats(1), longs(1L << 20, 1L << 20))));
        assertTrue(failure(zeros, longs(1L << 40, 1L << 40)).contains("beyond what memory can hold"));
        assertTrue(failure(zeros, longs(-1)).contains("negative"));
    }

    /** As ONNX Runtime: in integers only the exponentials of the largest are not 0. */
    @Test
    void logarithmOfASumOfExponentialsOfIntegersIsCutOff() {
        Tensor x = Tensor.of(new long[] {-2, -2, -5, -2, -3, -5, 8, 7, 7}, 3, 3).cast(DataType.INT32);
        Reduce reduce = new Reduce(Reduce.Function.LOG_SUM_EXP, List.of(1L), false);
        assertArrayEquals(new long[] {-1, -2, 8}, one(reduce, x).toLongs());
    }

    @Test
    void typesThatOnnxDoesNotAdmitAreRefused() {
        Tensor integers = Tensor.of(new long[] {1, 2, 3, 4}, 1, 1, 2, 2).cast(DataType.INT32);
        Tensor truths = integers.cast(DataType.BOOL);
        for (Operator operator : List.of(
                new Softmax(-1, false),
                new GlobalPool(Pool.Function.AVERAGE),
                new Pool(Pool.Function.MAX, List.of(2L, 2L), Windows.square(1, 0), false, false),
                new Unary(Unary.Function.SQRT),
                new Unary(Unary.Function.NOT),
                new Variadic(Variadic.Function.MEAN))) {
            assertTrue(failure(operator, integers).contains("input 0 is of type INT32"), operator::toString);
        }
        for (Operator operator : List.of(
                new Unary(Unary.Function.ABS),
                new Clip(0, 1),
                new Reduce(Reduce.Function.MAX, List.of(), false),
                new ArgReduce(true, 0, false))) {
            assertTrue(failure(operator, truths).contains("input 0 is of type BOOL"), operator::toString);
        }
    }

    @Test
    void theNumberOfInputsIsChecked() {
        assertEquals("1 inputs, but it takes 2 to 2", failure(new Binary(Binary.Function.ADD), floats(1)));
        assertEquals("input 1 is missing", failure(new Where(), floats(1), null, floats(1)));
    }

    @Test
    void aStrideOverManyElementsIsCopiedWhole() {
        Tensor x = Tensor.computeLongs(DataType.INT16, new long[] {30, 40, 50}, i -> i);
        Tensor turned = one(new Transpose(List.of(2L, 0L, 1L)), x);
        long[] expected = LongStream.range(0, 60000)
                .map(i -> (i / 40 % 30) * 2000 + i % 40 * 50 + i / 1200)
                .map(i -> (short) i)
                .toArray();
        assertLongs(turned, expected);
        assertTrue(one(new Transpose(List.of(1L, 2L, 0L)), turned).sameAs(x));
    }

    private static Graph network() {
        GraphBuilder graph = new GraphBuilder("network");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value y = graph.input("y", DataType.FLOAT32, "batch", 2);
        Value weight = graph.parameter("weight", Tensor.of(new float[] {1, -1, -1, 1}, 2, 2));
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), x, y);
        Value hidden = graph.add("hidden", Gemm.LINEAR, sum, weight);
        Value relu = graph.add("relu", new Unary(Unary.Function.RELU), hidden);
        Value doubled = graph.add("doubled", new Binary(Binary.Function.ADD), relu, relu);
        return graph.outputs(doubled, relu, x);
    }

    @Test
    void aGraphRunsFromItsInputsToItsOutputsInOrder() {
        Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        Tensor y = Tensor.of(new float[] {4, 0, 0, 0}, 2, 2);
        var outputs = Evaluator.run(network(), Map.of("x", x, "y", y));
        assertEquals(List.of("doubled", "relu", "x"), List.copyOf(outputs.keySet()));
        assertFloats(Objects.requireNonNull(outputs.get("doubled")), 6, 0, 0, 2);
        assertFloats(Objects.requireNonNull(outputs.get("relu")), 3, 0, 0, 1);
        assertSame(x, outputs.get("x"));
    }

    @Test
    void inputsThatDoNotFitAreNamed() {
        Tensor two = Tensor.of(new float[4], 2, 2);
        Tensor three = Tensor.of(new float[6], 3, 2);
        assertEquals(
                "input y of type float32[batch × 2] is missing",
                assertThrows(GraphException.class, () -> Evaluator.run(network(), Map.of("x", two)))
                        .getMessage());
        assertEquals(
                "input y must be float32[batch × 2] but is float32[3 × 2], where {batch=2}",
                assertThrows(GraphException.class, () -> Evaluator.run(network(), Map.of("x", two, "y", three)))
                        .getMessage());
        assertEquals(
                "input x must be float32[batch × 2] but is float64[2 × 2]",
                assertThrows(
                                GraphException.class,
                                () -> Evaluator.run(network(), Map.of("x", two.cast(DataType.FLOAT64), "y", two)))
                        .getMessage());
    }

    @Test
    void aNodeThatFailsIsNamed() {
        GraphBuilder graph = new GraphBuilder("division");
        Value x = graph.input("x", DataType.INT64, "n");
        Value quotient = graph.add("quotient", new Binary(Binary.Function.DIVIDE), x, x);
        Graph model = graph.outputs(quotient);
        assertEquals(
                "node quotient (Div): a whole number is divided by 0",
                assertThrows(GraphException.class, () -> Evaluator.run(model, Map.of("x", longs(1, 0))))
                        .getMessage());
    }
}
