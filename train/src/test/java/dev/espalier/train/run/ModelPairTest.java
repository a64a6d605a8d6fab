package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.Findings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two files, run and compared. */
final class ModelPairTest {
    private static final ModelPair.Plan PLAN = new ModelPair.Plan(4, 2, Map.of());

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** {@code relu(x · A) · B}, with some hidden units. */
    private Path write(String file, String output, Object batch, int hidden, double noise) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        GraphBuilder graph = new GraphBuilder("model");
        Value x = graph.input("x", DataType.FLOAT32, batch, 6);
        Value first = graph.add("first", new MatMul(), x, graph.parameter("a", normal(random, 6, hidden)));
        Value active = graph.add("relu", new Unary(Unary.Function.RELU), first);
        Tensor second = normal(random, hidden, 5);
        Tensor changed = Tensor.compute(DataType.FLOAT32, second.shape(), i -> second.getDouble(i) * (1 + noise * i));
        Graph model = graph.outputs(graph.add(output, new MatMul(), active, graph.parameter("b", changed)));
        Path path = folder.resolve(file);
        OnnxWriter.write(model, path);
        return path;
    }

    private static Tensor normal(SplittableRandom random, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    private static Comparison compare(ModelPair pair, int rows) throws IOException {
        return pair.compare(ModelInputs.random(pair.original(), rows, 3, 1), PLAN, Context.QUIET.progress());
    }

    @Test
    void aModelIsFaithfulToItself() throws IOException {
        Path model = write("a.onnx", "logits", "batch", 8, 0);
        Comparison found = compare(ModelPair.read(model, model), 10);
        Findings.Likeness only = found.likenesses().getFirst();
        assertEquals("logits", only.meaning());
        assertEquals(10, only.samples());
        assertEquals(1, only.agreement());
        assertEquals(0, only.largestDifference());
        assertEquals(List.of(), only.worst());
        assertEquals(Files.size(model), found.before().bytes());
        assertEquals(6 * 8 + 8 * 5, found.before().parameters());
        assertEquals(found.before().flops(), found.after().flops());
        assertTrue(found.before().flops() >= 2 * (6 * 8 + 8 * 5), () -> "" + found.before());
        assertTrue(found.after().milliseconds() > 0 && found.after().threadedMilliseconds() > 0);
        assertEquals(List.of(), found.notes());
        assertTrue(found.toJson().contains("\"agreement\" : 1.0"), found.toJson());
    }

    @Test
    void whatIsSmallerCostsLess() throws IOException {
        Comparison found =
                compare(ModelPair.read(write("a.onnx", "y", "batch", 8, 0), write("b.onnx", "y", "batch", 4, 0.01)), 9);
        assertEquals(0.5, (double) found.after().parameters() / found.before().parameters());
        assertTrue(found.after().flops() < found.before().flops());
        assertTrue(found.likenesses().getFirst().largestDifference() > 0);
        assertEquals(9, found.likenesses().getFirst().worst().size());
    }

    @Test
    void outputsWithOtherNamesAreComparedInTheirOrder() throws IOException {
        Comparison found =
                compare(ModelPair.read(write("a.onnx", "y", "batch", 8, 0), write("b.onnx", "z", "batch", 8, 0)), 3);
        assertEquals(0, found.likenesses().getFirst().largestDifference());
        assertTrue(found.notes().getFirst().contains("y with z"), () -> "" + found.notes());
    }

    /** Many exporters write the batch that they were shown. */
    @Test
    void aFixedBatchIsKept() throws IOException {
        Path fixed = write("fixed.onnx", "y", 3, 8, 0);
        Comparison found = compare(ModelPair.read(fixed, fixed), 8);
        assertEquals(6, found.likenesses().getFirst().samples());
        assertTrue(found.notes().getFirst().contains("6 of 8"), () -> "" + found.notes());
        Comparison mixed = compare(ModelPair.read(write("free.onnx", "y", "batch", 8, 0), fixed), 6);
        assertEquals(6, mixed.likenesses().getFirst().samples(), "as many as either takes");
    }

    @Test
    void modelsThatTakeOrSaySomethingElseAreRefused() throws IOException {
        Path model = write("a.onnx", "y", "batch", 8, 0);
        GraphBuilder other = new GraphBuilder("other");
        Value z = other.input("z", DataType.FLOAT32, "batch", 6);
        Path strange = folder.resolve("strange.onnx");
        OnnxWriter.write(other.outputs(other.add("y", new Unary(Unary.Function.RELU), z)), strange);
        String inputs =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> ModelPair.read(model, strange))
                        .getMessage());
        assertTrue(inputs.contains("x float32[batch × 6]") && inputs.contains("z float32"), inputs);
        GraphBuilder longer = new GraphBuilder("longer");
        Value seven = longer.input("x", DataType.FLOAT32, "batch", 7);
        Path taking = folder.resolve("longer.onnx");
        OnnxWriter.write(longer.outputs(longer.add("y", new Unary(Unary.Function.RELU), seven)), taking);
        assertThrows(IllegalArgumentException.class, () -> ModelPair.read(model, taking));
        GraphBuilder wide = new GraphBuilder("wide");
        Value x = wide.input("x", DataType.FLOAT32, "batch", 6);
        Path wider = folder.resolve("wide.onnx");
        OnnxWriter.write(wide.outputs(wide.add("y", new Unary(Unary.Function.RELU), x)), wider);
        String outputs = String.valueOf(assertThrows(IllegalArgumentException.class, () -> ModelPair.read(model, wider))
                .getMessage());
        assertTrue(outputs.contains("y float32[batch × 5]") && outputs.contains("y float32[batch × 6]"), outputs);
    }
}
