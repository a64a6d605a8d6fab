package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.Selector;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Residual streams of which dimensions are not in use become narrower, embeddings and norms included. Judged by ONNX Runtime, the
 * original against the pruned.
 */
class NarrowStreamTest {
    private static final int WIDTH = 8;
    private static final int HIDDEN = 10;
    private static final Set<Integer> DEAD = Set.of(1, 4, 6);

    private final SplittableRandom random = new SplittableRandom(3);
    private final OnnxBuilder builder = new OnnxBuilder(17);

    /** Random numbers, zero where a place along an axis is dead. */
    private Tensor weights(Set<Integer> dead, int axis, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> {
            long inner = 1;
            for (int later = axis + 1; later < shape.length; later++) {
                inner *= shape[later];
            }
            double value = random.nextDouble() - 0.4;
            return dead.contains((int) (i / inner % shape[axis])) ? 0 : value;
        });
    }

    private void writer(String name, long... shape) {
        builder.initializer(name, weights(DEAD, shape.length - 1, shape));
    }

    private void reader(String name, Set<Integer> dead, long... shape) {
        builder.initializer(name, weights(dead, 0, shape));
    }

    private void plain(String name, long... shape) {
        builder.initializer(name, weights(Set.of(), 0, shape));
    }

    private String layerNorm(String x, String name) {
        plain(name + ".scale", WIDTH);
        plain(name + ".shift", WIDTH);
        builder.node(
                "LayerNormalization",
                "%s %s.scale %s.shift".formatted(x, name, name),
                name,
                whole("axis", -1),
                number("epsilon", 1e-3f));
        return name;
    }

    /** As exporters write it out. */
    private String rootMeanSquare(String x, String name) {
        plain(name + ".scale", WIDTH);
        builder.node("Pow", x + " two", name + ".squares")
                .node("ReduceMean", name + ".squares", name + ".mean", longs("axes", -1L))
                .node("Add", name + ".mean epsilon", name + ".sum")
                .node("Sqrt", name + ".sum", name + ".root")
                .node("Reciprocal", name + ".root", name + ".inverse")
                .node("Mul", "%s %s.inverse".formatted(x, name), name + ".normal")
                .node("Mul", "%s.normal %s.scale".formatted(name, name), name);
        return name;
    }

    private String feedForward(String x, String normal, String name, Set<Integer> unread) {
        reader(name + ".up", unread, WIDTH, HIDDEN);
        plain(name + ".up.bias", HIDDEN);
        writer(name + ".down", HIDDEN, WIDTH);
        writer(name + ".down.bias", WIDTH);
        builder.node("MatMul", normal + " " + name + ".up", name + ".a")
                .node("Add", "%s.a %s.up.bias".formatted(name, name), name + ".b")
                .node("Relu", name + ".b", name + ".c")
                .node("MatMul", "%s.c %s.down".formatted(name, name), name + ".d")
                .node("Add", "%s.d %s.down.bias".formatted(name, name), name + ".e")
                .node("Add", "%s %s.e".formatted(x, name), name);
        return name;
    }

    private void embeddings() {
        builder.typed("ids", DataType.INT64, 11, "N", "S").scalar("two", 2).scalar("epsilon", 1e-3);
        writer("table", 11, WIDTH);
        writer("positions", 1, 1, WIDTH);
        builder.node("Gather", "table ids", "embedded").node("Add", "embedded positions", "x0");
    }

    private Graph requireSameWhenPruned(int left) throws Exception {
        Graph model = OnnxReader.read(builder.bytes()).graph();
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        Graph pruned = plan.apply();
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds),
                OnnxRuntime.run(OnnxWriter.toBytes(pruned, OnnxWriter.Options.DEFAULT), builder.feeds),
                1e-5);
        assertEquals(left, Checks.contents(pruned, "f1.down").shape()[1]);
        assertEquals(left, Checks.contents(pruned, "f2.down.bias").shape()[0]);
        assertFalse(Pruner.plan(pruned, PruneOptions.DEFAULT).changes(), "it can be pruned again");
        // A factor between mean and root would hide the normalisation from runtimes.
        pruned.nodes().stream()
                .filter(node -> node.operator() instanceof Reduce)
                .flatMap(mean -> pruned.uses(mean.output()).stream())
                .forEach(use ->
                        assertEquals(new Binary(Binary.Function.ADD), use.node().operator()));
        return pruned;
    }

    @Test
    void streamBehindLayerNormsKeepsWhatIsInUseAndTheMean() throws Exception {
        embeddings();
        String x = feedForward("x0", layerNorm("x0", "n1"), "f1", DEAD);
        x = feedForward(x, layerNorm(x, "n2"), "f2", DEAD);
        reader("head", DEAD, WIDTH, 5);
        builder.node("MatMul", layerNorm(x, "n3") + " head", "y").output("y");
        Graph pruned = requireSameWhenPruned(WIDTH - DEAD.size() + 1);
        assertEquals(WIDTH - DEAD.size() + 1, Checks.contents(pruned, "table").shape()[1]);
        assertEquals(
                WIDTH - DEAD.size() + 1, Checks.contents(pruned, "positions").shape()[2]);
        // The mean is read by nobody, but selecting the others would cost more than its weights, which are zero.
        assertEquals(WIDTH - DEAD.size() + 1, Checks.contents(pruned, "f1.up").shape()[0]);
        assertEquals(
                1,
                pruned.nodes().stream()
                        .filter(node -> node.operator() instanceof Gather)
                        .count());
    }

    @Test
    void dimensionsThatAreReadStayInAStreamBehindLayerNorms() throws Exception {
        embeddings();
        String x = feedForward("x0", layerNorm("x0", "n1"), "f1", DEAD);
        x = feedForward(x, layerNorm(x, "n2"), "f2", Set.of(1, 4));
        reader("head", DEAD, WIDTH, 5);
        builder.node("MatMul", layerNorm(x, "n3") + " head", "y").output("y");
        requireSameWhenPruned(WIDTH - 2 + 1);
    }

    @Test
    void streamBehindRootMeanSquaresNeedsOnlyWhatIsWritten() throws Exception {
        embeddings();
        String x = feedForward("x0", rootMeanSquare("x0", "n1"), "f1", Set.of());
        x = feedForward(x, rootMeanSquare(x, "n2"), "f2", Set.of());
        plain("head", WIDTH, 5);
        builder.node("MatMul", rootMeanSquare(x, "n3") + " head", "y").output("y");
        Graph pruned = requireSameWhenPruned(WIDTH - DEAD.size());
        assertEquals(WIDTH - DEAD.size(), Checks.contents(pruned, "table").shape()[1]);
        assertEquals(WIDTH - DEAD.size(), Checks.contents(pruned, "head").shape()[0]);
    }

    /** Patches of an image, a first token, learned positions, and only the first token is read in the end. */
    @Test
    void visionTransformersBecomeNarrower() throws Exception {
        builder.input("image", "N", 3, 4, 4)
                .list("flat", 0, WIDTH, -1)
                .list("front", 0)
                .list("one", 1)
                .list("rest", 1, WIDTH);
        builder.initializer("patches", weights(DEAD, 0, WIDTH, 3, 2, 2))
                .initializer("patches.bias", weights(DEAD, 0, WIDTH))
                .initializer("first", Tensor.scalar(DataType.INT64, 0));
        writer("token", 1, 1, WIDTH);
        writer("positions", 1, 5, WIDTH);
        builder.node("Conv", "image patches patches.bias", "windows", longs("strides", 2L, 2L))
                .node("Reshape", "windows flat", "places")
                .node("Transpose", "places", "tokens", longs("perm", 0L, 2L, 1L))
                .node("Shape", "image", "image.shape")
                .node("Slice", "image.shape front one", "batch")
                .node("Concat", "batch rest", "token.shape", whole("axis", 0))
                .node("Expand", "token token.shape", "token.each")
                .node("Concat", "token.each tokens", "sequence", whole("axis", 1))
                .node("Add", "sequence positions", "x0");
        String x = feedForward("x0", layerNorm("x0", "n1"), "f1", DEAD);
        x = feedForward(x, layerNorm(x, "n2"), "f2", DEAD);
        reader("head", DEAD, WIDTH, 5);
        builder.node("Gather", layerNorm(x, "n3") + " first", "picked", whole("axis", 1))
                .node("Gemm", "picked head", "y")
                .output("y");
        Graph pruned = requireSameWhenPruned(WIDTH - DEAD.size() + 1);
        assertEquals(WIDTH - DEAD.size() + 1, Checks.contents(pruned, "patches").shape()[0]);
        assertEquals(WIDTH - DEAD.size() + 1, Checks.contents(pruned, "token").shape()[2]);
    }

    /** So can training make a stream narrower. */
    @Test
    void aGroupIsAllThatWritesAndReadsADimension() throws Exception {
        builder.typed("ids", DataType.INT64, 11, "N", "S");
        plain("table", 11, WIDTH);
        builder.node("Gather", "table ids", "x0");
        for (String name : List.of("f1", "f2")) {
            plain(name + ".up", WIDTH, HIDDEN);
            plain(name + ".down", HIDDEN, WIDTH);
            plain(name + ".down.bias", WIDTH);
        }
        String x = "x0";
        for (int i = 1; i <= 2; i++) {
            builder.node("MatMul", layerNorm(x, "n" + i) + " f%d.up".formatted(i), "a" + i)
                    .node("Relu", "a" + i, "b" + i)
                    .node("MatMul", "b%d f%d.down".formatted(i, i), "c" + i)
                    .node("Add", "c%d f%d.down.bias".formatted(i, i), "d" + i)
                    .node("Add", "%s d%d".formatted(x, i), "x" + i);
            x = "x" + i;
        }
        plain("head", WIDTH, 5);
        builder.node("MatMul", layerNorm(x, "n3") + " head", "y").output("y");
        Graph dense = OnnxReader.read(builder.bytes()).graph();
        GroupRules rules = GroupRules.everything().groupStreams();
        List<LayerGroups> layers = rules.derive(dense).layers();
        assertEquals(1, layers.size(), layers::toString);
        LayerGroups stream = layers.getFirst();
        assertEquals(
                Set.of("table", "f1.up", "f1.down", "f1.down.bias", "f2.up", "f2.down", "f2.down.bias", "head"),
                Set.copyOf(stream.parameters()));
        assertEquals(WIDTH, stream.groups().count());
        assertEquals(11 + 4 * HIDDEN + 2 + 5, stream.groups().size(0));
        assertEquals(layers, ModelGroups.of(rules.note(dense)).layers(), "a note tells it");
        assertEquals(
                5,
                GroupRules.everything()
                        .exclude(Selector.parameters("table"))
                        .groupStreams()
                        .derive(dense)
                        .layers()
                        .size(),
                "a stream that is grouped in part keeps the groups of its layers");

        Map<String, Tensor> changed = new HashMap<>();
        for (int i = 0; i < stream.parameters().size(); i++) {
            int part = i;
            Tensor tensor = Checks.contents(dense, stream.parameters().get(i));
            float[] values = tensor.toFloats();
            DEAD.forEach(group -> stream.groups().forEach(group, (own, index) -> {
                if (own == part) {
                    values[(int) index] = 0;
                }
            }));
            changed.put(
                    stream.parameters().get(i),
                    Tensor.compute(DataType.FLOAT32, tensor.shape(), at -> values[(int) at]));
        }
        Graph sparse = rules.note(dense).withTensors(changed);
        Graph pruned = Pruner.plan(sparse, PruneOptions.DEFAULT).apply();
        int left = WIDTH - DEAD.size() + 1;
        assertEquals(left, Checks.contents(pruned, "table").shape()[1]);
        OnnxRuntime.assertClose(
                OnnxRuntime.run(OnnxWriter.toBytes(sparse, OnnxWriter.Options.DEFAULT), builder.feeds),
                OnnxRuntime.run(OnnxWriter.toBytes(pruned, OnnxWriter.Options.DEFAULT), builder.feeds),
                1e-5);
        byte[] again = OnnxWriter.toBytes(pruned, OnnxWriter.Options.DEFAULT);
        List<LayerGroups> found = ModelGroups.of(OnnxReader.read(again).graph()).layers();
        assertTrue(
                found.stream().anyMatch(layer -> layer.parameters().contains("table")),
                () -> "what is left has a stream too: " + found);
    }

    /** What a norm makes is the stream here: nothing can be taken out of the sum beforehand. */
    @Test
    void normsBehindTheSumStayAsTheyAre() throws Exception {
        embeddings();
        String x = layerNorm(feedForward("x0", "x0", "f1", DEAD), "n1");
        x = layerNorm(feedForward(x, x, "f2", DEAD), "n2");
        reader("head", DEAD, WIDTH, 5);
        builder.node("MatMul", x + " head", "y").output("y");
        Graph pruned = requireSameWhenPruned(WIDTH);
        assertTrue(pruned.nodes().stream().map(Node::operator).anyMatch(LayerNorm.class::isInstance));
    }
}
