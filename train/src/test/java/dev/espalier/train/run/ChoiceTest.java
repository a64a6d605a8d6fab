package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ChoiceTest {
    private static final Graph MODEL = Mlp.ofVectors(3, 6, List.of(8, 4), Weights.seeded(1));
    private static final ModelGroups GROUPS = GroupRules.everything().derive(MODEL);

    private static <K, T> T found(Map<K, T> values, K key) {
        return Objects.requireNonNull(values.get(key), key::toString);
    }

    private static Map<String, TensorView> weights(Graph graph) {
        Map<String, TensorView> views = new HashMap<>();
        graph.tensors(Kind.PARAMETER).forEach((name, tensor) -> views.put(name, tensor.view()));
        return views;
    }

    private static ZeroGroups zeros(Graph graph, ModelGroups groups) {
        return ZeroGroups.of(groups, weights(graph));
    }

    /** Gradients of which group {@code i} of every layer has ⟨x, ∇⟩ = i + 1, up to a sign. */
    private static Map<String, TensorView> gradients(Graph graph, ModelGroups groups) {
        Map<String, double[]> values = new HashMap<>();
        graph.tensors(Kind.PARAMETER)
                .forEach((name, tensor) -> values.put(name, new double[Math.toIntExact(tensor.size())]));
        Map<String, TensorView> weights = weights(graph);
        for (LayerGroups layer : groups.layers()) {
            List<TensorView> x = layer.parameters().stream()
                    .map(name -> found(weights, name))
                    .toList();
            for (int group = 0; group < layer.groups().count(); group++) {
                boolean[] done = new boolean[x.size()];
                double product = (group + 1) * (group % 2 == 0 ? 1 : -1);
                layer.groups().forEach(group, (tensor, index) -> {
                    if (!done[tensor] && x.get(tensor).get(index) != 0) {
                        done[tensor] = true;
                        double[] g = found(values, layer.parameters().get(tensor));
                        g[Math.toIntExact(index)] = product / x.get(tensor).get(index);
                    }
                });
            }
        }
        Map<String, TensorView> views = new HashMap<>();
        graph.tensors(Kind.PARAMETER)
                .forEach((name, tensor) -> views.put(
                        name,
                        Tensor.compute(DataType.FLOAT32, tensor.shape(), i -> found(values, name)[Math.toIntExact(i)])
                                .view()));
        return views;
    }

    /** As a network tells, but one element at a time. */
    private static void look(Choice choice, Map<String, TensorView> weights, Map<String, TensorView> gradients) {
        Map<String, double[]> sums = new HashMap<>();
        choice.axes().forEach((name, axis) -> {
            double[] sum = new double[(int) axis.count()];
            for (long i = 0; i < found(weights, name).size(); i++) {
                sum[(int) (i / axis.inner() % axis.count())] +=
                        found(weights, name).get(i) * found(gradients, name).get(i);
            }
            sums.put(name, sum);
        });
        choice.look(sums, weights, gradients);
    }

    private static double[] costs(ModelGroups groups, double first, double others) {
        double[] costs = new double[groups.layers().size()];
        Arrays.fill(costs, others);
        costs[0] = first;
        return costs;
    }

    @Test
    void thoseGoThatAreWorthLeastForWhatTheyCost() {
        Choice choice = new Choice(GROUPS);
        look(choice, weights(MODEL), gradients(MODEL, GROUPS));
        LayerGroups first = GROUPS.layers().getFirst();
        LayerGroups second = GROUPS.layers().get(1);
        // Worth 1, 4, 9, … of each; those of the first layer save a hundred times as much, and one of them stays.
        Map<LayerGroups, List<Integer>> taken = choice.take(zeros(MODEL, GROUPS), costs(GROUPS, 0.1, 0.001), 0.501);
        assertEquals(Map.of(first, List.of(0, 1, 2, 3, 4), second, List.of(0)), taken);
        assertEquals(
                Map.of(),
                new Choice(GROUPS).take(zeros(MODEL, GROUPS), costs(GROUPS, 0, 0), 1),
                "what saves nothing stays");
        assertEquals(
                GROUPS.layers().stream()
                        .map(layer -> layer.groups().count() - 1)
                        .toList(),
                GROUPS.layers().stream()
                        .map(layer -> choice.take(zeros(MODEL, GROUPS), costs(GROUPS, 1, 1), 1000)
                                .getOrDefault(layer, List.of())
                                .size())
                        .toList(),
                "the last group of a layer stays");
    }

    /** A model that is scaled up in one layer and down in the next has the same groups that are worth little. */
    @Test
    void worthDoesNotDependOnHowWeightsAreScaled() {
        Map<String, TensorView> scaled = new HashMap<>();
        Map<String, TensorView> opposite = new HashMap<>();
        Map<String, TensorView> gradients = gradients(MODEL, GROUPS);
        MODEL.tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            TensorView g = found(gradients, name);
            scaled.put(
                    name,
                    Tensor.compute(DataType.FLOAT32, tensor.shape(), i -> 8 * tensor.getDouble(i))
                            .view());
            opposite.put(
                    name,
                    Tensor.compute(DataType.FLOAT32, tensor.shape(), i -> g.get(i) / 8)
                            .view());
        });
        Choice one = new Choice(GROUPS);
        look(one, weights(MODEL), gradients);
        Choice other = new Choice(GROUPS);
        look(other, scaled, opposite);
        double[] costs = costs(GROUPS, 1, 1);
        assertEquals(one.take(zeros(MODEL, GROUPS), costs, 7), other.take(zeros(MODEL, GROUPS), costs, 7));
    }

    /** Heads have all the same width: one dimension of each goes, or none. */
    @Test
    void dimensionsOfHeadsGoTogether() {
        BertConfig config = new BertConfig(20, 8, 1, 2, 12, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);
        Graph model = Bert.encoder(config, Weights.seeded(1));
        ModelGroups groups = GroupRules.everything().groupHeadDimensions().derive(model);
        Choice choice = new Choice(groups);
        look(choice, weights(model), gradients(model, groups));
        Map<LayerGroups, List<Integer>> taken = choice.take(zeros(model, groups), costs(groups, 1, 1e-9), 3);
        LayerGroups heads = groups.layers().getFirst();
        assertEquals(2, heads.heads());
        assertTrue(heads.name().contains("query"), heads.name());
        List<Integer> gone = found(taken, heads);
        assertEquals(4, gone.size());
        assertEquals(2, gone.stream().filter(group -> group < 4).count());
        // The least of each head: 0 and 1, 4 and 5.
        assertEquals(List.of(0, 1, 4, 5), gone.stream().sorted().toList());
    }

    @Test
    void gradientsThatAreNoNumbersSayNothing() {
        Choice choice = new Choice(GROUPS);
        Map<String, TensorView> broken = new HashMap<>();
        MODEL.tensors(Kind.PARAMETER)
                .forEach((name, tensor) -> broken.put(
                        name,
                        Tensor.compute(DataType.FLOAT32, tensor.shape(), _ -> Double.NaN)
                                .view()));
        look(choice, weights(MODEL), broken);
        assertTrue(IntStream.range(0, GROUPS.count())
                .allMatch(group -> choice.memory().getAtIndex(ValueLayout.JAVA_DOUBLE, group) == 0));
        look(choice, weights(MODEL), gradients(MODEL, GROUPS));
        assertFalse(choice.take(zeros(MODEL, GROUPS), costs(GROUPS, 1, 1), 1).isEmpty());
    }
}
