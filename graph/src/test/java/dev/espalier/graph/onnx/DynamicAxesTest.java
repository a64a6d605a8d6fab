package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Attention as Hugging Face exports it with dynamic axes: heads are split off and joined by shapes that are computed, so
 * the shape of a tensor with heads is read beside its contents. Judged by ONNX Runtime, the original against the pruned.
 */
class DynamicAxesTest {
    private static final int WIDTH = 6;
    private static final int HEADS = 3;
    private static final int SIZE = 4;

    private final SplittableRandom random = new SplittableRandom(3);
    private final OnnxBuilder builder = new OnnxBuilder(14);

    private Tensor weights(int rows, int columns, Set<Integer> deadRows, Set<Integer> deadColumns) {
        return Tensor.compute(DataType.FLOAT32, new long[] {rows, columns}, i -> {
            boolean dead = deadRows.contains((int) (i / columns)) || deadColumns.contains((int) (i % columns));
            double value = random.nextDouble() - 0.5;
            return dead ? 0 : value;
        });
    }

    /** One length of a tensor, as a list. */
    private String length(String tensor, String axis) {
        String name = tensor + "." + axis;
        builder.node("Shape", tensor, name + ".shape")
                .node("Gather", name + ".shape " + axis, name + ".scalar", whole("axis", 0))
                .node("Unsqueeze", name + ".scalar front", name);
        return name;
    }

    private void heads(String name, Long... order) {
        builder.node("MatMul", "x " + name + ".weight", name + ".product")
                .node("Add", name + ".product " + name + ".bias", name);
        String lengths = length(name, "first") + " " + length(name, "second");
        builder.node("Concat", lengths + " heads size", name + ".to", whole("axis", 0))
                .node("Reshape", name + " " + name + ".to", name + ".heads")
                .node("Transpose", name + ".heads", name + ".turned", longs("perm", order));
    }

    @Test
    void attentionIsCutAlthoughShapesOfItAreRead() throws Exception {
        builder.input("x", "N", "S", WIDTH)
                .initializer("query.weight", weights(WIDTH, HEADS * SIZE, Set.of(2), Set.of(0, 5, 10)))
                .initializer("key.weight", weights(WIDTH, HEADS * SIZE, Set.of(2), Set.of(0, 6, 10)))
                .initializer("value.weight", weights(WIDTH, HEADS * SIZE, Set.of(), Set.of()))
                .initializer("out.weight", weights(HEADS * SIZE, WIDTH, Set.of(0, 4, 5, 6, 7, 9), Set.of()))
                .initializer(
                        "query.bias", Tensor.compute(DataType.FLOAT32, new long[] {HEADS * SIZE}, i -> i % 5 * 0.1))
                .initializer("key.bias", Tensor.compute(DataType.FLOAT32, new long[] {HEADS * SIZE}, i -> i % 5 * 0.1))
                .initializer(
                        "value.bias", Tensor.compute(DataType.FLOAT32, new long[] {HEADS * SIZE}, i -> i % 3 * 0.1))
                .initializer("first", Tensor.of(new long[] {0}).reshape())
                .initializer("second", Tensor.of(new long[] {1}).reshape())
                .list("front", 0)
                .list("heads", HEADS)
                .list("size", SIZE)
                .list("width", HEADS * SIZE);
        heads("query", 0L, 2L, 1L, 3L);
        heads("key", 0L, 2L, 3L, 1L);
        heads("value", 0L, 2L, 1L, 3L);
        builder.node("MatMul", "query.turned key.turned", "scores")
                .node("Softmax", "scores", "attention", whole("axis", 3))
                .node("MatMul", "attention value.turned", "context")
                .node("Transpose", "context", "back", longs("perm", 0L, 2L, 1L, 3L));
        String lengths = length("back", "first") + " " + length("back", "second");
        builder.node("Concat", lengths + " width", "joined", whole("axis", 0))
                .node("Reshape", "back joined", "merged")
                .node("MatMul", "merged out.weight", "y")
                .output("y");
        Graph model = OnnxReader.read(builder.bytes()).graph();
        Graph pruned = Pruner.plan(model, PruneOptions.DEFAULT).apply();
        // One of the three heads is not read; of the others three and two dimensions are.
        assertArrayEquals(
                new long[] {2 * 3, WIDTH}, Checks.contents(pruned, "out.weight").shape());
        byte[] smaller = OnnxWriter.toBytes(pruned, OnnxWriter.Options.DEFAULT);
        for (long length : new long[] {1, 2, 9}) {
            Tensor x = Tensor.compute(DataType.FLOAT32, new long[] {2, length, WIDTH}, i -> random.nextDouble() - 0.5);
            List<Tensor> expected = OnnxRuntime.run(builder.bytes(), Map.of("x", x));
            OnnxRuntime.assertClose("length " + length, expected, OnnxRuntime.run(smaller, Map.of("x", x)), 1e-5);
        }
    }
}
