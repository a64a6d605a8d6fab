package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxException;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models that are not what they should be, and what ONNX Runtime has to say about them. */
final class JudgeTest {
    private static final OnnxWriter.Options AS_USUAL = OnnxWriter.Options.DEFAULT;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Path write(Graph graph) throws IOException {
        Path file = folder.resolve("original.onnx");
        OnnxWriter.write(graph, file);
        return file;
    }

    /** What the judge says when the file of one graph was read as another one. */
    private String misread(Graph original, Graph read) throws IOException {
        Path file = write(original);
        try (Judge judge = Judge.of(file, read, SampleInputs.DEFAULT, 1)) {
            GraphException refused = assertThrows(GraphException.class, () -> judge.requireRead(read, AS_USUAL));
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.startsWith(file + " was misread: "), message);
            return message;
        }
    }

    private static Graph twoLayers(float weight) {
        GraphBuilder graph = new GraphBuilder("two layers");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value first = graph.parameter("first", Tensor.of(new float[] {1, -2, 3, 4, -5, weight}, 2, 3));
        Value hidden = graph.add("relu", new Unary(Unary.Function.RELU), graph.add("hidden", new MatMul(), x, first));
        Value second = graph.parameter("second", Tensor.of(new float[] {1, 2, 0, 0, 3, 4}, 3, 2));
        return graph.outputs(graph.add("y", new MatMul(), hidden, second));
    }

    @Test
    void aModelThatWasReadAsItIsIsFoundEqualForSeveralLengths() throws IOException {
        Graph graph = twoLayers(6);
        try (Judge judge = Judge.of(write(graph), graph, SampleInputs.DEFAULT, 1)) {
            Equivalence found = judge.requireRead(graph, AS_USUAL);
            assertTrue(found.absolute() <= 1e-5, found.toString());
            String verdict = judge.verdict(found);
            assertTrue(verdict.contains("equal to") && verdict.contains("batch = 2; batch = 3"), verdict);
            assertEquals(Map.of("batch", 2L), judge.lengths());
        }
    }

    /** Half precision rounds more, and is no reason to refuse. */
    @Test
    void aModelOfHalfPrecisionIsPruned() throws IOException {
        GraphBuilder graph = new GraphBuilder("half");
        Value x = graph.input("x", DataType.FLOAT16, "batch", 64);
        Random random = new Random(3);
        Tensor first = Tensor.compute(DataType.FLOAT16, new long[] {64, 96}, i -> random.nextGaussian());
        Tensor second =
                Tensor.compute(DataType.FLOAT16, new long[] {96, 8}, i -> i / 8 % 3 == 1 ? 0 : random.nextGaussian());
        Value hidden = graph.add("hidden", new MatMul(), x, graph.parameter("first", first));
        Value y = graph.add("y", new MatMul(), hidden, graph.parameter("second", second));
        Path file = write(graph.outputs(y));
        Graph read = OnnxReader.read(file).graph();
        var plan = Pruner.plan(read, PruneOptions.DEFAULT);
        try (Judge judge = Judge.of(file, read, SampleInputs.DEFAULT, 1)) {
            Graph smaller = PruneTrial.of(judge, read, plan, judge.lengths()).smaller();
            assertEquals("float16[64 × 64]", smaller.fact("first").type().toString());
        }
    }

    /** As policies of games draw their actions, and say beside what they would do without chance. */
    @Test
    void whatChanceHasAPartInIsNotCompared() throws IOException {
        Graph drawn = withNoise(6, true);
        try (Judge judge = Judge.of(write(drawn), drawn, SampleInputs.DEFAULT, 1)) {
            String verdict = judge.verdict(judge.requireRead(drawn, AS_USUAL));
            assertTrue(verdict.endsWith("; chance has a part in drawn: not compared"), verdict);
            Graph other = withNoise(6.01f, true);
            assertThrows(GraphException.class, () -> judge.requireRead(other, AS_USUAL));
        }
        Graph only = withNoise(6, false);
        Path file = write(only);
        IllegalStateException nothing =
                assertThrows(IllegalStateException.class, () -> Judge.of(file, only, SampleInputs.DEFAULT, 1));
        assertTrue(String.valueOf(nothing.getMessage()).startsWith("chance has a part in all outputs"));
    }

    /** A pool that rounds up, plus as many zeros as are left of the last axis, of which the last window would lie behind the end. */
    private static Graph roundedUp(int length, long kernel) {
        GraphBuilder graph = new GraphBuilder("rounded up");
        Value x = graph.input("x", DataType.FLOAT32, 1, 1, length, 2);
        Pool second = new Pool(Pool.Function.MAX, List.of(kernel, 1L), Windows.square(2, 0), true, false);
        Value pool = graph.add("pool", second, x);
        Value zeros = graph.add(
                "zeros", new ConstantOfShape(Tensor.of(new float[] {0})), graph.add("shape", new ShapeOf(3, 4), pool));
        return graph.outputs(graph.add("y", new Binary(Binary.Function.ADD), pool, zeros));
    }

    /** It infers an element of a pool that it does not compute. */
    @Test
    void whatOnnxRuntimeContradictsItselfInIsNoOriginal() throws IOException {
        Graph sum = roundedUp(3, 2);
        Path file = write(sum);
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> Judge.of(file, sum, SampleInputs.DEFAULT, 1));
        assertTrue(
                String.valueOf(refused.getMessage()).startsWith("ONNX Runtime contradicts itself: output y"),
                refused.getMessage());
    }

    /** Not so where no axis is rounded up, for then nobody is told to. */
    @Test
    void aPoolThatRoundsNothingUpIsWrittenWithout() throws IOException {
        Graph sum = roundedUp(2, 2);
        try (Judge judge = Judge.of(write(sum), sum, SampleInputs.DEFAULT, 1)) {
            assertEquals(0, judge.requireRead(sum, AS_USUAL).absolute());
        }
    }

    /** Softmax is another operator since opset 13, and older ones are not written. */
    @Test
    void whatCannotBeWrittenWasNotMisread() throws IOException {
        GraphBuilder graph = new GraphBuilder("old");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Graph old = graph.outputs(graph.add("y", kept("Softmax", 12), x));
        try (Judge judge = Judge.of(write(twoLayers(6)), old, SampleInputs.DEFAULT, 1)) {
            GraphException refused = assertThrows(GraphException.class, () -> judge.requireRead(old, AS_USUAL));
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.contains("cannot be written") && !message.contains("misread"), message);
        }
    }

    /** An operator that makes of a batch of two numbers another one. */
    private static Foreign kept(String name, int opset) {
        Optional<TensorType> type = Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", 2)));
        return new Foreign(
                "",
                name,
                new TreeMap<>(Map.of("", opset)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(type),
                List.of(type));
    }

    private static Graph withNoise(float weight, boolean andWithout) {
        GraphBuilder graph = new GraphBuilder("policy");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value sure = graph.add(
                "sure", new MatMul(), x, graph.parameter("w", Tensor.of(new float[] {1, -2, 3, weight}, 2, 2)));
        Foreign noise = kept("RandomNormalLike", 13);
        Value drawn = graph.add("drawn", new Binary(Binary.Function.ADD), sure, graph.add("noise", noise, sure));
        return andWithout ? graph.outputs(sure, drawn) : graph.outputs(drawn);
    }

    @Test
    void anotherWeightIsSeen() throws IOException {
        String message = misread(twoLayers(6), twoLayers(6.01f));
        assertTrue(message.contains("output y for batch = ") && message.contains("other inputs move it"), message);
    }

    /** Pruned rightly from what was read wrongly: no comparison of the two would find that. */
    @Test
    void aMistakeOfTheReaderIsSeenInWhatIsPruned() throws IOException {
        Graph read = twoLayers(7);
        Path file = write(twoLayers(6));
        for (double threshold : new double[] {0, 1e-3}) {
            var plan = Pruner.plan(read, PruneOptions.DEFAULT.withThreshold(threshold));
            assertTrue(plan.changes());
            try (Judge judge = Judge.of(file, read, SampleInputs.DEFAULT, 1)) {
                GraphException refused =
                        assertThrows(GraphException.class, () -> PruneTrial.of(judge, read, plan, judge.lengths()));
                assertTrue(String.valueOf(refused.getMessage()).contains(" was misread: "), refused.getMessage());
            }
        }
    }

    /** The mean of at most so many numbers; a reader that takes a slice for full divides by the wrong number. */
    private static Graph meanOfSlice(int most, boolean full) {
        GraphBuilder graph = new GraphBuilder("mean of a slice");
        Value x = graph.input("x", DataType.FLOAT32, 1, "length");
        Value slice = graph.add(
                "slice",
                new Slice(),
                x,
                graph.constant("from", Tensor.of(new long[] {0})),
                graph.constant("to", Tensor.of(new long[] {most})),
                graph.constant("axes", Tensor.of(new long[] {1})));
        Value sum = graph.add("sum", new Reduce(Reduce.Function.SUM, List.of(1L), true), slice);
        Value size = full
                ? graph.constant("size", Tensor.scalar(DataType.INT64, most))
                : graph.add("size", new Size(), slice);
        Value count = graph.add("count", new Cast(DataType.FLOAT32), size);
        return graph.outputs(graph.add("mean", new Binary(Binary.Function.DIVIDE), sum, count));
    }

    @Test
    void aSliceThatIsTakenForFullIsSeen() throws IOException {
        for (int most : new int[] {4, 20, 100}) {
            String message = misread(meanOfSlice(most, false), meanOfSlice(most, true));
            assertTrue(message.contains("output mean for length = "), message);
        }
    }

    /** Words by their places in a table, weighted by a mask. */
    private static Graph words(float lastRow, boolean masked) {
        GraphBuilder graph = new GraphBuilder("words");
        Value ids = graph.input("ids", DataType.INT64, "batch", "words");
        Value mask = graph.input("mask", DataType.INT64, "batch", "words");
        Value table = graph.parameter(
                "table",
                Tensor.compute(
                        DataType.FLOAT32, new long[] {12, 2}, i -> (i < 22 ? 1 : lastRow) * Math.sin((double) i)));
        Value found = graph.add("found", new Gather(0), table, ids);
        Value shares =
                graph.add("shares", new Unsqueeze(List.of(2L)), graph.add("float", new Cast(DataType.FLOAT32), mask));
        Value weighted = masked ? graph.add("weighted", new Binary(Binary.Function.MULTIPLY), found, shares) : found;
        return graph.outputs(graph.add("sum", new Reduce(Reduce.Function.SUM, List.of(1L), false), weighted));
    }

    @Test
    void everyRowOfATableAndBothValuesOfAMaskAreTried() throws IOException {
        misread(words(1, true), words(2, true));
        misread(words(1, true), words(1, false));
    }

    @Test
    void anAxisThatWasReadAsANumberIsSeen() throws IOException {
        Graph original = meanOfSlice(20, false);
        Graph fixed = original.withDimensions(Map.of("length", 16L));
        Path file = write(original);
        GraphException refused = assertThrows(
                GraphException.class,
                () -> Judge.of(file, fixed, SampleInputs.DEFAULT, 1).close());
        assertTrue(String.valueOf(refused.getMessage()).contains("axis 1 of input x is free"), refused.getMessage());
    }

    /** Both axes are free, but together they must hold a multiple of 48 numbers. */
    @Test
    void lengthsThatTheOriginalDoesNotTakeAreLeftOut() throws IOException {
        GraphBuilder builder = new GraphBuilder("rows");
        Value x = builder.input("x", DataType.FLOAT32, "batch", "length");
        Value rows =
                builder.add("rows", new Reshape(false), x, builder.constant("shape", Tensor.of(new long[] {-1, 48})));
        Graph graph = builder.outputs(builder.add(
                "y",
                new MatMul(),
                rows,
                builder.parameter("w", Tensor.compute(DataType.FLOAT32, new long[] {48, 3}, Math::sin))));
        try (Judge judge = Judge.of(write(graph), graph, new SampleInputs(1, 16, 1), 1)) {
            assertEquals(Map.of("batch", 1L, "length", 48L), judge.lengths());
            String verdict = judge.verdict(judge.requireRead(graph, AS_USUAL));
            assertTrue(verdict.contains("batch = 1, length = 48; batch = "), verdict);
        }
    }

    @Test
    void whatOnnxRuntimeDoesNotRunIsTold() throws IOException {
        GraphBuilder builder = new GraphBuilder("brain floats");
        Value x = builder.input("x", DataType.BFLOAT16, 4);
        Graph graph = builder.outputs(builder.add("y", new Unary(Unary.Function.SIN), x));
        Path file = write(graph);
        IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> Judge.of(file, graph, SampleInputs.DEFAULT, 1).close());
        assertTrue(
                String.valueOf(refused.getMessage()).startsWith("ONNX Runtime does not run " + file),
                refused::toString);
    }

    @Test
    void realModelsThatCanBeReadAreReadAsTheyAre() throws IOException {
        String models = System.getenv("ESPALIER_MODELS");
        assumeTrue(models != null, "ESPALIER_MODELS names no folder with ONNX files");
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(models))) {
            files = all.filter(file -> file.toString().endsWith(".onnx"))
                    .sorted()
                    .toList();
        }
        assertFalse(files.isEmpty(), models);
        for (Path file : files) {
            Graph graph;
            try {
                graph = OnnxReader.read(file).graph();
            } catch (OnnxException | GraphException _) {
                continue; // told, and not written
            }
            try (Judge judge = Judge.of(file, graph, SampleInputs.DEFAULT, 1)) {
                judge.requireRead(graph, AS_USUAL);
            }
        }
    }

    /** A thousand times a number less nearly as much of it. */
    private static Graph difference(double most) {
        GraphBuilder graph = new GraphBuilder("difference");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 8);
        Value more = graph.parameter("more", Tensor.scalar(DataType.FLOAT32, most));
        Value less = graph.parameter("less", Tensor.scalar(DataType.FLOAT32, 999.9));
        Binary times = new Binary(Binary.Function.MULTIPLY);
        Value minuend = graph.add("minuend", times, x, more);
        Value subtrahend = graph.add("subtrahend", times, x, less);
        return graph.outputs(graph.add("y", new Binary(Binary.Function.SUBTRACT), minuend, subtrahend));
    }

    @Test
    void aModelIsNotHeldToDigitsThatItDoesNotHave() throws IOException {
        Graph graph = difference(1000);
        try (Judge judge = Judge.of(write(graph), graph, SampleInputs.DEFAULT, 1)) {
            Graph lastDigit = difference(Math.nextUp(1000f));
            double tolerance = Equivalence.tolerance(graph);
            assertTrue(judge.compare(lastDigit, AS_USUAL).problem(tolerance).isPresent());
            judge.requireRead(lastDigit, AS_USUAL);
            assertThrows(GraphException.class, () -> judge.requireRead(difference(1000.01), AS_USUAL));
        }
    }
}
