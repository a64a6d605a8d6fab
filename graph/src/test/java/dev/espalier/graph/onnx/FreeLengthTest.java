package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.onnxruntime.OrtException;
import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.pass.Specialization;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * What is folded while a length is free must be right for every length: models with axes of free length, judged by ONNX
 * Runtime on the original at lengths that are shorter and longer than every number in them.
 */
class FreeLengthTest {
    private static final double TOLERANCE = 1e-5;

    private static Tensor feed(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> 1 + Math.sin(3.0 * i + shape.length));
    }

    /** Compares the model of an input {@code x}, as it is read and as it is written again, at one length of its axis S. */
    private static void compare(OnnxBuilder builder, int length, String replay) throws IOException, OrtException {
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        long[] shape = graph.inputs().getFirst().type().shape().dimensions().stream()
                .mapToLong(
                        axis -> axis.isKnown() ? axis.value() : axis.toString().equals("S") ? length : 2)
                .toArray();
        String where = replay + " at length " + length;
        Map<String, Tensor> feeds = Map.of("x", feed(shape));
        List<Tensor> expected = OnnxRuntime.run(builder.bytes(), feeds);
        OnnxRuntime.assertClose(
                where, expected, List.copyOf(Evaluator.run(graph, feeds).values()), TOLERANCE);
        OnnxRuntime.assertClose(
                where,
                expected,
                OnnxRuntime.run(OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT), feeds),
                TOLERANCE);
        Graph special = Specialization.of(graph, Map.of("x", shape));
        OnnxRuntime.assertClose(
                where, expected, List.copyOf(Evaluator.run(special, feeds).values()), TOLERANCE);
        for (int i = 0; i < expected.size(); i++) {
            Shape inferred = graph.shape(graph.outputs().get(i));
            long[] lengths = inferred.dimensions().stream()
                    .mapToLong(axis -> axis.with(Map.of("S", (long) length, "N", 2L))
                            .known()
                            .orElse(-1))
                    .toArray();
            long[] actual = expected.get(i).shape();
            for (int axis = 0; axis < actual.length; axis++) {
                lengths[axis] = lengths[axis] < 0 ? actual[axis] : lengths[axis];
            }
            assertArrayEquals(actual, lengths, () -> where + ": " + inferred);
        }
    }

    /** A sum over the first tokens divided by how many there are, twice: by Size and by a product of lengths. */
    @Test
    void meanOfTheFirstTokensCountsThoseThatAreThere() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", "S", 3)
                .list("start", 0)
                .list("end", 100)
                .list("axis", 0)
                .node("Slice", "x start end axis", "piece")
                .node("ReduceSum", "piece", "sum", whole("keepdims", 0))
                .node("Size", "piece", "count")
                .node("Cast", "count", "number", whole("to", 1))
                .node("Div", "sum number", "mean")
                .node("Shape", "piece", "shape")
                .node("ReduceProd", "shape", "product", whole("keepdims", 0), longs("axes", 0L))
                .node("Cast", "product", "again", whole("to", 1))
                .node("Div", "sum again", "twice")
                .output("mean")
                .output("twice")
                .output("piece");
        for (int length : new int[] {1, 5, 99, 100, 101, 250}) {
            compare(builder, length, "mean");
        }
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        assertEquals("[min(100, S) × 3]", graph.shape("piece").toString());
    }

    @Test
    void slicesOfFreeAxesAreAsLongAsOnnxRuntimeMakesThem() throws Exception {
        long[] extremes = {Integer.MAX_VALUE, Long.MAX_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, 1_000_000_000};
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < 150; i++) {
            boolean forward = random.nextInt(3) > 0;
            long step = (forward ? 1 : -1) * random.nextLong(1, 4);
            long start = random.nextInt(6) == 0 ? extremes[random.nextInt(5)] : random.nextInt(-7, 8);
            long end = random.nextInt(4) == 0 ? extremes[random.nextInt(5)] : random.nextInt(-7, 8);
            OnnxBuilder builder = new OnnxBuilder(17)
                    .input("x", 2, "S")
                    .list("start", start)
                    .list("end", end)
                    .list("axis", 1)
                    .list("step", step)
                    .node("Slice", "x start end axis step", "piece")
                    .node("Shape", "piece", "shape")
                    .output("piece")
                    .output("shape");
            for (int length = 1; length < 10; length++) {
                compare(builder, length, "slice [%d:%d:%d]".formatted(start, end, step));
            }
        }
    }

    /** Lengths that are computed: with signs that change, rounded, compared, and numbers in steps. */
    @Test
    void arithmeticWithFreeLengthsHoldsForShortOnesToo() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", "S", 2)
                .list("zero", 0)
                .list("axis", 0)
                .list("all", Long.MAX_VALUE)
                .initializer("none", Tensor.of(new long[] {0}).reshape())
                .initializer("one", Tensor.of(new long[] {1}).reshape())
                .initializer("two", Tensor.of(new long[] {2}).reshape())
                .initializer("four", Tensor.of(new long[] {4}).reshape())
                .initializer("minusThree", Tensor.of(new long[] {-3}).reshape())
                .node("Shape", "x", "shape")
                .node("Gather", "shape none", "length")
                .node("Sub", "length four", "less")
                .node("Div", "less two", "half")
                .node("Less", "length four", "short")
                .node("Equal", "less minusThree", "single")
                .node("Range", "none less one", "up")
                .node("Range", "length none minusThree", "down")
                .node("Range", "none less minusThree", "below")
                .node("Unsqueeze", "less zero", "end")
                .node("Slice", "x zero end axis", "front")
                .node("Slice", "x end all axis", "back")
                .node("Cast", "length", "narrow", whole("to", 3))
                .node("Cast", "narrow", "wide", whole("to", 7))
                .output("half", "short", "single", "up", "down", "below", "front", "back", "wide");
        for (int length = 1; length < 10; length++) {
            compare(builder, length, "arithmetic");
        }
        compare(builder, 200, "arithmetic");
    }

    @Test
    void piecesOfAFreeAxisAreItAgainWhenJoined() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", "N", "S", 2)
                .list("zero", 0)
                .list("cut", 4)
                .list("all", Long.MAX_VALUE)
                .list("axis", 1)
                .node("Slice", "x zero cut axis", "front")
                .node("Slice", "x cut all axis", "back")
                .node("Concat", "back front", "turned", whole("axis", 1))
                .node("Add", "turned x", "sum")
                .output("sum", "front", "back");
        for (int length = 1; length < 10; length++) {
            compare(builder, length, "pieces");
        }
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        assertEquals(Shape.of("N", "S", 2), graph.shape("turned"));
        assertEquals("[N × min(4, S) × 2]", graph.shape("front").toString());
        assertEquals("[N × S - min(4, S) × 2]", graph.shape("back").toString());
    }

    /** As BERT does it: a table of positions is cut to the tokens, and must not shorten what it is added to. */
    @Test
    void tableCutToATextIsAsLongAsTheText() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", "N", "S", 2)
                .weight("table", 1, 6, 2)
                .list("zero", 0)
                .list("axis", 1)
                .list("two", 2)
                .node("Shape", "x", "shape")
                .node("Slice", "shape axis two zero", "tokens")
                .node("Slice", "table zero tokens axis", "positions")
                .node("Add", "x positions", "sum")
                .node("Add", "tokens two", "later")
                .node("Slice", "table two later axis", "shifted")
                .output("sum", "positions", "shifted");
        for (int length = 1; length <= 6; length++) {
            compare(builder, length, "positions");
        }
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        assertEquals(Shape.of("N", "S", 2), graph.shape("sum"));
        assertEquals("[1 × min(6, S) × 2]", graph.shape("positions").toString());
        assertEquals("[1 × min(4, S) × 2]", graph.shape("shifted").toString());
    }

    @Test
    void windowsOfFreeAxesAreAsManyAsOnnxRuntimeMakes() throws Exception {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 60; i++) {
            long kernel = random.nextLong(1, 5);
            long stride = random.nextLong(1, 5);
            long before = random.nextLong(kernel);
            long after = random.nextLong(kernel);
            OnnxBuilder builder = new OnnxBuilder(19)
                    .input("x", 1, 2, "S")
                    .node(
                            "MaxPool",
                            "x",
                            "y",
                            longs("kernel_shape", kernel),
                            longs("strides", stride),
                            longs("pads", before, after),
                            whole("ceil_mode", random.nextInt(2)))
                    .output("y");
            for (int length = 4; length < 12; length++) {
                compare(builder, length, "kernel %d stride %d pads %d %d".formatted(kernel, stride, before, after));
            }
        }
    }
}
