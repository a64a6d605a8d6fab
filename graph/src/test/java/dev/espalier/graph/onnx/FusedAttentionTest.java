package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Attention whose query, key and value come out of one matrix, in the forms in which exporters write it: grouped and cut by heads
 * and by the dimensions of heads. Judged by ONNX Runtime, the original against the pruned, in several lengths.
 */
class FusedAttentionTest {
    private static final int WIDTH = 6;
    private static final int HEADS = 3;
    private static final int SIZE = 4;
    private static final int ALL = HEADS * SIZE;

    private final SplittableRandom random = new SplittableRandom(3);
    private final OnnxBuilder builder = new OnnxBuilder(17);

    /** Who writes it how. */
    private enum Form {
        /** timm's vision transformers: a part is picked by its index. */
        TIMM {
            @Override
            void parts(FusedAttentionTest test) {
                test.fiveAxes();
                for (String part : PARTS) {
                    test.builder.node("Gather", "turned " + part + ".index", part, whole("axis", 0));
                }
                test.turnKey();
            }
        },
        /** The same with unbind. */
        UNBIND {
            @Override
            void parts(FusedAttentionTest test) {
                test.fiveAxes();
                test.builder.node("Split", "turned ones", "query.one key.one value.one", whole("axis", 0));
                PARTS.forEach(part -> test.builder.node("Squeeze", part + ".one front", part));
                test.turnKey();
            }
        },
        /** Paddle's text recognisers. */
        SLICES {
            @Override
            void parts(FusedAttentionTest test) {
                test.fiveAxes();
                for (int i = 0; i < 3; i++) {
                    String part = PARTS.get(i);
                    test.builder
                            .list(part + ".start", i)
                            .list(part + ".end", i + 1)
                            .node("Slice", "turned %s.start %s.end front".formatted(part, part), part + ".one")
                            .node("Squeeze", part + ".one front", part);
                }
                test.turnKey();
            }
        },
        /** DINOv2: parts are told apart before anything is turned. */
        BEFORE_TURNING {
            @Override
            void parts(FusedAttentionTest test) {
                test.builder.list("to", 0, 0, 3, HEADS, SIZE).node("Reshape", "all to", "cut");
                for (String part : PARTS) {
                    test.builder
                            .node("Gather", "cut " + part + ".index", part + ".flat", whole("axis", 2))
                            .node("Transpose", part + ".flat", part, longs("perm", 0L, 2L, 1L, 3L));
                }
                test.turnKey();
            }
        },
        /** GPT-2: a matrix product of all tokens of all texts, and a Split; later ones are not seen. */
        GPT2 {
            @Override
            void product(FusedAttentionTest test) {
                test.builder
                        .list("rows", -1, WIDTH)
                        .list("back.to", -1, 5, 3 * ALL)
                        .node("Shape", "x", "x.shape")
                        .list("most", 2)
                        .node("Slice", "x.shape front most", "x.lengths")
                        .list("outs", 3 * ALL)
                        .node("Concat", "x.lengths outs", "x.to", whole("axis", 0))
                        .node("Reshape", "x rows", "x.rows")
                        .node("Gemm", "x.rows all.weight all.bias", "all.rows", number("alpha", 1))
                        .node("Reshape", "all.rows x.to", "all");
            }

            @Override
            void parts(FusedAttentionTest test) {
                test.split();
            }
        },
        /** nanoGPT, exported with computed shapes. */
        NANO_GPT {
            @Override
            void parts(FusedAttentionTest test) {
                test.split();
            }
        },
        /** torchvision's, with the batch folded into the heads and unfolded again. */
        PACKED {
            @Override
            void parts(FusedAttentionTest test) {
                test.builder
                        .list("to", 0, 0, 3, ALL)
                        .list("third", 3)
                        .list("folded", 0, -1, SIZE)
                        .node("Transpose", "all", "tokens.first", longs("perm", 1L, 0L, 2L))
                        .node("Reshape", "tokens.first to", "cut")
                        .node("Unsqueeze", "cut front", "cut.more")
                        .node("Transpose", "cut.more", "cut.turned", longs("perm", 3L, 1L, 2L, 0L, 4L))
                        .node("Squeeze", "cut.turned third", "turned");
                test.builder
                        .node("Shape", "x", "x.shape")
                        .node("Slice", "x.shape front one", "batch")
                        .node("Slice", "x.shape one two", "length")
                        .list("one", 1)
                        .list("two", 2)
                        .list("heads", HEADS)
                        .list("size", SIZE)
                        .node("Concat", "batch heads length size", "unfolded", whole("axis", 0));
                for (String part : PARTS) {
                    test.builder
                            .node("Gather", "turned " + part + ".index", part + ".all", whole("axis", 0))
                            .node("Reshape", part + ".all folded", part + ".folded")
                            .node("Transpose", part + ".folded", part + ".turned", longs("perm", 1L, 0L, 2L))
                            .node("Reshape", part + ".turned unfolded", part);
                }
                test.builder
                        .list("folded.again", -1, 0, SIZE)
                        .node("Concat", "minus length size", "key.to", whole("axis", 0))
                        .list("minus", -1)
                        .node("Concat", "batch heads size length", "key.back", whole("axis", 0))
                        .node("Reshape", "key key.to", "key.again")
                        .node("Transpose", "key.again", "key.again.turned", longs("perm", 0L, 2L, 1L))
                        .node("Reshape", "key.again.turned key.back", "keyTurned");
            }
        };

        static final List<String> PARTS = List.of("query", "key", "value");

        void product(FusedAttentionTest test) {
            test.builder.node("MatMul", "x all.weight", "all.product").node("Add", "all.product all.bias", "all");
        }

        abstract void parts(FusedAttentionTest test);
    }

    private void fiveAxes() {
        builder.list("to", 0, 0, 3, HEADS, SIZE)
                .node("Reshape", "all to", "cut")
                .node("Transpose", "cut", "turned", longs("perm", 2L, 0L, 3L, 1L, 4L));
    }

    private void turnKey() {
        builder.node("Transpose", "key", "keyTurned", longs("perm", 0L, 1L, 3L, 2L));
    }

    private void split() {
        builder.list("thirds", ALL, ALL, ALL)
                .list("to", 0, 0, HEADS, SIZE)
                .node("Split", "all thirds", "query.all key.all value.all", whole("axis", 2));
        for (String part : Form.PARTS) {
            builder.node("Reshape", part + ".all to", part + ".heads");
        }
        builder.node("Transpose", "query.heads", "query", longs("perm", 0L, 2L, 1L, 3L))
                .node("Transpose", "key.heads", "keyTurned", longs("perm", 0L, 2L, 3L, 1L))
                .node("Transpose", "value.heads", "value", longs("perm", 0L, 2L, 1L, 3L));
    }

    private Graph model(Form form) throws Exception {
        builder.input("x", "N", "S", WIDTH)
                .initializer("all.weight", weights(WIDTH, 3 * ALL))
                .initializer("all.bias", weights(3 * ALL))
                .initializer("out.weight", weights(ALL, WIDTH))
                .initializer("out.bias", weights(WIDTH))
                .list("front", 0)
                .list("ones", 1, 1, 1)
                .list("joined", 0, 0, ALL)
                .scalar("scale", 0.5);
        for (int i = 0; i < 3; i++) {
            builder.initializer(Form.PARTS.get(i) + ".index", Tensor.scalar(DataType.INT64, i));
        }
        form.product(this);
        form.parts(this);
        builder.node("Mul", "query scale", "query.scaled")
                .node("MatMul", "query.scaled keyTurned", "scores")
                .node("Softmax", "scores", "attention", whole("axis", -1))
                .node("MatMul", "attention value", "context")
                .node("Transpose", "context", "back", longs("perm", 0L, 2L, 1L, 3L))
                .node("Reshape", "back joined", "merged")
                .node("MatMul", "merged out.weight", "projected")
                .node("Add", "projected out.bias", "attended")
                .node("Add", "x attended", "y")
                .output("y");
        return OnnxReader.read(builder.bytes()).graph();
    }

    private Tensor weights(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextDouble() - 0.5);
    }

    private static Graph without(Graph graph, LayerGroups layer, IntPredicate dead) {
        Map<String, Tensor> changed = new HashMap<>();
        for (int i = 0; i < layer.parameters().size(); i++) {
            int part = i;
            String name = layer.parameters().get(i);
            Tensor tensor = Checks.contents(graph, name);
            float[] values = tensor.toFloats();
            for (int group = 0; group < layer.groups().count(); group++) {
                if (dead.test(group)) {
                    layer.groups().forEach(group, (own, index) -> {
                        if (own == part) {
                            values[(int) index] = 0;
                        }
                    });
                }
            }
            changed.put(name, Tensor.compute(DataType.FLOAT32, tensor.shape(), at -> values[(int) at]));
        }
        return graph.withTensors(changed);
    }

    private void requireSameWhenPruned(Graph sparse, int outputsLeft, int inputsLeft) throws Exception {
        Graph pruned = Pruner.plan(sparse, PruneOptions.DEFAULT).apply();
        assertEquals(outputsLeft, Checks.contents(pruned, "all.weight").shape()[1]);
        assertEquals(inputsLeft, Checks.contents(pruned, "out.weight").shape()[0]);
        assertFalse(Pruner.plan(pruned, PruneOptions.DEFAULT).changes(), "it can be pruned again");
        byte[] before = OnnxWriter.toBytes(sparse, OnnxWriter.Options.DEFAULT);
        byte[] after = OnnxWriter.toBytes(pruned, OnnxWriter.Options.DEFAULT);
        for (long length : new long[] {1, 2, 9}) {
            Tensor x = Tensor.compute(DataType.FLOAT32, new long[] {2, length, WIDTH}, i -> random.nextDouble() - 0.5);
            List<Tensor> expected = OnnxRuntime.run(before, Map.of("x", x));
            OnnxRuntime.assertClose("length " + length, expected, OnnxRuntime.run(after, Map.of("x", x)), 1e-5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isReadAsItIs(Form form) throws Exception {
        Graph graph = model(form);
        byte[] written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds), OnnxRuntime.run(written, builder.feeds), 1e-6);
    }

    @ParameterizedTest
    @EnumSource
    void aHeadThatIsZeroIsCutOutWhole(Form form) throws Exception {
        Graph graph = model(form);
        LayerGroups heads =
                GroupRules.everything().groupHeads().derive(graph).layers().getFirst();
        assertEquals(List.of("all.weight", "out.weight"), heads.parameters());
        assertEquals(HEADS, heads.groups().count());
        assertEquals((3 + 1) * SIZE * WIDTH, heads.groups().size(0));
        requireSameWhenPruned(without(graph, heads, head -> head == 1), 3 * 2 * SIZE, 2 * SIZE);
    }

    @ParameterizedTest
    @EnumSource
    void aDimensionOfEveryHeadIsCutOut(Form form) throws Exception {
        Graph graph = model(form);
        LayerGroups dimensions = GroupRules.everything()
                .groupHeadDimensions()
                .derive(graph)
                .layers()
                .getFirst();
        assertEquals(ALL, dimensions.groups().count());
        assertEquals((3 + 1) * WIDTH, dimensions.groups().size(0));
        Graph sparse = without(graph, dimensions, List.of(1, SIZE + 3, 2 * SIZE)::contains);
        // The key adds its bias to every score of a row alike, but only a zero of query or key lets a dimension go.
        float[] bias = Checks.contents(sparse, "all.bias").toFloats();
        for (int dimension : List.of(1, SIZE + 3, 2 * SIZE)) {
            bias[dimension] = 0;
        }
        Tensor zeroed = Tensor.compute(DataType.FLOAT32, new long[] {bias.length}, i -> bias[(int) i]);
        requireSameWhenPruned(sparse.withTensors(Map.of("all.bias", zeroed)), 3 * HEADS * 3, HEADS * 3);
    }

    /** Dimensions of the value alone, which differ from head to head, and of one head more than of the others. */
    @ParameterizedTest
    @EnumSource
    void inputsOfTheOutputMatrixAreCutOut(Form form) throws Exception {
        Graph graph = model(form);
        LayerGroups out = GroupRules.everything().derive(graph).layers().getLast();
        assertEquals(List.of("out.weight"), out.parameters());
        int[] dead = {0, 1, SIZE + 2, SIZE + 3, 2 * SIZE, 2 * SIZE + 1, 2 * SIZE + 3};
        requireSameWhenPruned(
                without(graph, out, group -> Arrays.stream(dead).anyMatch(one -> one == group)),
                (SIZE + SIZE + 2) * HEADS,
                2 * HEADS);
    }
}
