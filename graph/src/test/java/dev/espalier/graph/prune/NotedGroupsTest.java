package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.Selector;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Groups are decided once: whatever is done to a model afterwards, it has those that it was trained with. */
final class NotedGroupsTest {
    /** Four inputs that two layers read, and a layer that reads both. */
    private static Graph model(float[] left, float[] right) {
        GraphBuilder graph = new GraphBuilder("two readers");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 4);
        Value one = linear(graph, "left", x, Tensor.of(left, 2, 4));
        Value other = linear(graph, "right", x, Tensor.of(right, 2, 4));
        Value sum = graph.add("sum", new Binary(Binary.Function.ADD), one, other);
        return graph.outputs(linear(graph, "answer", sum, Tensor.of(new float[] {1, 2, 3, 4}, 2, 2)));
    }

    private static Value linear(GraphBuilder graph, String name, Value x, Tensor weight) {
        return graph.add(
                name,
                Gemm.LINEAR,
                x,
                graph.parameter(name + ".weight", weight),
                graph.parameter(name + ".bias", Tensor.of(new float[] {1, 2})));
    }

    /** Of the left layer the first two inputs are small, of the right one the second and the third. */
    private static Graph small() {
        return model(
                new float[] {.01f, .01f, 1, 1, .01f, .01f, 1, 1}, new float[] {1, .01f, .01f, 1, 1, .01f, .01f, 1});
    }

    private static List<String> names(Graph graph) {
        return ModelGroups.of(graph).layers().stream().map(LayerGroups::name).toList();
    }

    private static Graph writtenAndRead(Graph graph) throws IOException {
        return OnnxReader.read(OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT))
                .graph();
    }

    @Test
    void aModelWithoutANoteHasAGroupForEachInputOfEachLayer() {
        Graph graph = small();
        assertEquals(List.of("left.weight", "right.weight", "answer.weight"), names(graph));
        assertEquals(Map.of(), GroupRules.everything().note(graph).metadata());
        Graph joined = GroupRules.everything().joinConsumers().note(graph);
        assertEquals(Map.of(), GroupRules.everything().note(joined).metadata(), "the last decision counts");
    }

    @Test
    void joinedAndLeftOutWeightsAreSoInTheFileAndInWhatIsPruned() throws IOException {
        Graph graph = model(new float[] {0, 1, 1, 1, 0, 1, 1, 1}, new float[] {0, 1, 1, 1, 0, 1, 1, 1});
        Graph noted = GroupRules.everything()
                .exclude(Selector.nodes("answer"))
                .joinConsumers()
                .note(graph.withMetadata(Map.of("words", "a b c")));
        Graph read = writtenAndRead(noted);
        assertEquals("a b c", read.metadata().get("words"));
        PrunePlan plan = Pruner.plan(read, PruneOptions.DEFAULT);
        assertTrue(plan.changes());
        for (Graph one : List.of(noted, read, plan.apply(), writtenAndRead(plan.apply()))) {
            assertEquals(List.of("left.weight + right.weight"), names(one));
            assertEquals("a b c", one.metadata().get("words"));
        }
        PruneReport report = PruneReport.of(plan, Map.of("batch", 1L));
        assertEquals(0.75, report.groupsNotZero());
        assertEquals(
                List.of(4, 0, 0),
                report.layers().stream().map(PruneReport.Layer::groups).toList());
    }

    @Test
    void thresholdsAreForTheNotedGroups() {
        Graph graph = small();
        PruneOptions options = PruneOptions.DEFAULT.withThreshold(0.1);
        assertEquals(List.of(true, true, false, false), zeros(graph, options, "left.weight"));
        assertEquals(List.of(false, true, true, false), zeros(graph, options, "right.weight"));
        Graph joined = GroupRules.everything().joinConsumers().note(graph);
        assertEquals(List.of(false, true, false, false), zeros(joined, options, "left.weight"));
        assertEquals(List.of(false, true, false, false), zeros(joined, options, "right.weight"));
        assertEquals(1, Pruner.plan(joined, options).zeroedGroups());
        Graph nested = GroupRules.everything().nestConsumers().note(graph);
        assertEquals(List.of(true, true, false, false), zeros(nested, options, "left.weight"));
        assertEquals(List.of(false, true, true, false), zeros(nested, options, "right.weight"));
        assertEquals(3, Pruner.plan(nested, options).zeroedGroups());
        Graph without = GroupRules.everything()
                .exclude(Selector.parameters("left.weight"))
                .note(graph);
        assertEquals(List.of(false, false, false, false), zeros(without, options, "left.weight"));
        assertEquals(List.of(false, true, true, false), zeros(without, options, "right.weight"));
    }

    /** Which of four inputs a layer does not listen to once small groups are dropped. */
    private static List<Boolean> zeros(Graph graph, PruneOptions options, String weight) {
        Tensor tensor = Objects.requireNonNull(Pruner.threshold(graph, options).tensor(weight));
        return List.of(0, 1, 2, 3).stream()
                .map(input -> tensor.getDouble(input) == 0 && tensor.getDouble(input + 4) == 0)
                .toList();
    }

    @Test
    void headsAreNotedToo() throws IOException {
        Graph bert = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 32, 12, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU),
                Weights.seeded(1));
        Graph noted = GroupRules.everything().groupHeads().note(bert);
        List<LayerGroups> layers = ModelGroups.of(writtenAndRead(noted)).layers();
        assertEquals(4, layers.getFirst().weights().size());
        assertEquals(2, layers.getFirst().groups().count());
    }

    @Test
    void aNoteThatMakesNoSenseIsTold() {
        for (String note :
                List.of("", "{}", "nonsense", "{\"readers\": \"sideways\", \"heads\": true, \"without\": []}")) {
            Graph graph = small().withMetadata(Map.of(GroupRules.NOTE, note));
            GraphException told = assertThrows(GraphException.class, () -> ModelGroups.of(graph));
            assertTrue(String.valueOf(told.getMessage()).contains(GroupRules.NOTE), told.getMessage());
        }
    }
}
