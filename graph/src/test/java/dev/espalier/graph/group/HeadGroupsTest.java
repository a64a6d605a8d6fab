package dev.espalier.graph.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Heads of attentions as groups: found in graphs from here and from elsewhere, and removable. */
class HeadGroupsTest {
    private static final int HIDDEN = 16;
    private static final int HEADS = 4;
    private static final BertConfig CONFIG =
            new BertConfig(40, HIDDEN, 2, HEADS, 32, 12, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU);
    private static final Graph BERT = random(Bert.encoder(CONFIG, Weights.seeded(3)));

    /** The same graph with weights, biases too, that let every channel be seen. */
    private static Graph random(Graph graph) {
        SplittableRandom random = new SplittableRandom(5);
        Map<String, Tensor> changed = new HashMap<>();
        graph.tensors(Initializer.Kind.PARAMETER)
                .forEach((name, tensor) -> changed.put(
                        name,
                        Tensor.compute(
                                DataType.FLOAT32,
                                tensor.shape(),
                                i -> (name.endsWith("LayerNorm.weight") ? 1 : 0) + 0.4 * random.nextGaussian())));
        return graph.withTensors(changed);
    }

    /** Query and key can be left out alone: value and output are still dealt out to heads. */
    @Test
    void aPairOfMatricesMayBeLeftOut() {
        ModelGroups all = GroupRules.everything().groupHeadDimensions().derive(BERT);
        LayerGroups first = all.layers().getFirst();
        assertEquals(HEADS, first.heads());
        assertEquals(1, heads(BERT).layers().getFirst().heads());
        GroupRules without = GroupRules.everything()
                .exclude(new Selector.Parameters(Set.copyOf(first.parameters())))
                .groupHeadDimensions();
        assertEquals(
                all.layers().subList(1, all.layers().size()),
                without.derive(BERT).layers());
        assertEquals(without.derive(BERT), GroupRules.of(without.note(BERT)).derive(without.note(BERT)));
    }

    private static ModelGroups heads(Graph graph) {
        return GroupRules.everything().groupHeads().derive(graph);
    }

    @Test
    void aHeadIsWhatLeadsIntoItAndWhatLeadsOutOfIt() {
        ModelGroups groups = heads(BERT);
        assertEquals(2 * (HEADS + HIDDEN + 32), groups.count());
        LayerGroups first = groups.layers().getFirst();
        String attention = "bert.encoder.layer.0.attention.";
        assertEquals(
                List.of(
                        attention + "self.query.weight",
                        attention + "self.key.weight",
                        attention + "self.value.weight",
                        attention + "output.dense.weight"),
                first.parameters());
        int width = HIDDEN / HEADS;
        AxisGroups columns = new AxisGroups(HIDDEN, HEADS, width); // weights are [in, out] here
        AxisGroups rows = new AxisGroups(1, HEADS, width * HIDDEN);
        assertEquals(new JointGroups(List.of(columns, columns, columns, rows)), first.groups());
        assertEquals(HEADS * first.groups().size(0), 4 * HIDDEN * HIDDEN);
    }

    @Test
    void theOtherLayersAreGroupedAsEver() {
        ModelGroups groups =
                GroupRules.everything().joinConsumers().groupHeads().derive(BERT);
        assertEquals(
                "bert.encoder.layer.0.intermediate.dense.weight",
                groups.layers().get(1).name());
        assertInstanceOf(AxisGroups.class, groups.layers().get(1).groups());
    }

    @Test
    void anAttentionThatIsGroupedInPartKeepsTheGroupsOfItsLayers() {
        ModelGroups groups = GroupRules.everything()
                .exclude(Selector.parameters("bert.encoder.layer.0.attention.self.key.weight"))
                .groupHeads()
                .derive(BERT);
        List<String> names = groups.layers().stream().map(LayerGroups::name).toList();
        assertTrue(names.contains("bert.encoder.layer.0.attention.self.query.weight"), names::toString);
        assertTrue(
                names.stream().anyMatch(name -> name.startsWith("bert.encoder.layer.1.attention.self.query.weight + ")),
                names::toString);
    }

    @Test
    void aHeadThatIsZeroIsCutOutWhole() {
        LayerGroups first = heads(BERT).layers().getFirst();
        Graph sparse = without(BERT, first, List.of(1));
        assertEquals(1, first.zeroGroups(sparse));
        PrunePlan plan = Pruner.plan(sparse, PruneOptions.DEFAULT);
        Graph smaller = plan.apply();
        requireSame(sparse, smaller);
        long[] shape = Objects.requireNonNull(smaller.tensor(first.parameters().getFirst()))
                .shape();
        assertEquals(HIDDEN * (HIDDEN - HIDDEN / HEADS), shape[0] * shape[1], "the query of three heads");
        assertFalse(Pruner.plan(smaller, PruneOptions.DEFAULT).changes(), "it can be pruned again");
        assertEquals(
                HEADS - 1,
                heads(smaller).layers().getFirst().groups().count(),
                "what is left is an attention of fewer heads");
    }

    @Test
    void askingForShapesAndSizesChangesNoGroups() {
        List<Node> nodes = new ArrayList<>();
        for (Node node : BERT.nodes()) {
            nodes.add(node);
            for (String output : node.outputs()) {
                nodes.add(new Node(output + "/shape", ShapeOf.ALL, List.of(output), List.of(output + "/shape")));
                nodes.add(new Node(output + "/size", new Size(), List.of(output), List.of(output + "/size")));
            }
        }
        Graph asking = BERT.with(BERT.initializers(), nodes);
        assertEquals(heads(BERT).layers(), heads(asking).layers());
    }

    /** Queries without a key are set to zero between the product with the values and the output matrix. */
    @Test
    void headsAreFoundBeforeRowsThatMayBeSetToZero() {
        GraphBuilder graph = new GraphBuilder("masked");
        Value x = graph.input("x", DataType.FLOAT32, 1, 3, 8);
        Value some = graph.input("some", DataType.BOOL, 1, 1, 3, 1);
        Value query = heads(graph, x, "query", 0, 2, 1, 3);
        Value key = heads(graph, x, "key", 0, 2, 3, 1);
        Value value = heads(graph, x, "value", 0, 2, 1, 3);
        Value scores = graph.add("scores", new MatMul(), query, key);
        Value shares = graph.add("shares", new Softmax(-1, false), scores);
        Value context = graph.add("context", new MatMul(), shares, value);
        Value zero = graph.constant("zero", Tensor.scalar(DataType.FLOAT32, 0));
        Value kept = graph.add("kept", new Where(), some, context, zero);
        Value joined = graph.add(
                "joined",
                new Reshape(false),
                graph.add("back", new Transpose(List.of(0L, 2L, 1L, 3L)), kept),
                graph.constant("joined.shape", Tensor.of(new long[] {1, 3, 8})));
        Graph model = graph.outputs(graph.add("y", new MatMul(), joined, graph.parameter("output", matrix())));
        assertEquals(
                List.of("query", "key", "value", "output"),
                heads(model).layers().getFirst().parameters());
    }

    private static Tensor matrix() {
        return Tensor.compute(DataType.FLOAT32, new long[] {8, 8}, i -> Math.sin((double) i));
    }

    private static Value heads(GraphBuilder graph, Value x, String name, long... permutation) {
        Value product = graph.add(name + ".product", new MatMul(), x, graph.parameter(name, matrix()));
        Value shape = graph.constant(name + ".shape", Tensor.of(new long[] {1, 3, 2, 4}));
        Value apart = graph.add(name + ".apart", new Reshape(false), product, shape);
        return graph.add(
                name + ".heads",
                new Transpose(LongStream.of(permutation).boxed().toList()),
                apart);
    }

    /** Exporters write masks, scales and reshapes in many ways. */
    @ParameterizedTest
    @CsvSource({
        "bert-eager-ts-opset17-static.onnx",
        "bert-qa-sdpa-dynamo-dynamic.onnx",
        "distilbert-sdpa-ts-dynamic.onnx",
    })
    void headsAreFoundInWhatExportersWrite(String file) throws Exception {
        URL url = Objects.requireNonNull(HeadGroupsTest.class.getResource("/exports/" + file));
        Graph model = OnnxReader.read(Path.of(url.toURI())).graph();
        List<LayerGroups> attentions = heads(model).layers().stream()
                .filter(layer -> layer.parameters().size() == 4)
                .toList();
        assertTrue(!attentions.isEmpty(), () -> heads(model).layers().toString());
        List<LayerGroups> layers = new ArrayList<>(attentions);
        Graph sparse = model;
        for (LayerGroups layer : layers) {
            assertTrue(layer.groups().count() > 1, layer::toString);
            sparse = without(sparse, layer, List.of(0));
        }
        PrunePlan plan = Pruner.plan(sparse, PruneOptions.DEFAULT);
        assertTrue(plan.changes());
        requireSame(sparse, plan.apply());
    }

    private static Graph without(Graph graph, LayerGroups layer, List<Integer> dead) {
        List<float[]> values = new ArrayList<>();
        for (String parameter : layer.parameters()) {
            values.add(Objects.requireNonNull(graph.tensor(parameter)).toFloats());
        }
        for (int group : dead) {
            layer.groups().forEach(group, (tensor, index) -> values.get(tensor)[(int) index] = 0);
        }
        Map<String, Tensor> changed = new HashMap<>();
        for (int tensor = 0; tensor < values.size(); tensor++) {
            String parameter = layer.parameters().get(tensor);
            float[] mine = values.get(tensor);
            long[] shape = Objects.requireNonNull(graph.tensor(parameter)).shape();
            changed.put(parameter, Tensor.compute(DataType.FLOAT32, shape, i -> mine[(int) i]));
        }
        return graph.withTensors(changed);
    }

    private static void requireSame(Graph one, Graph other) {
        Equivalence proof = Equivalence.measure(one, other, new SampleInputs(2, 8, 3).draw(one), Evaluator::run);
        proof.requireEqual(Equivalence.TOLERANCE);
        assertTrue(proof.moves(), "the outputs do not depend on the inputs, so nothing is proved");
    }
}
