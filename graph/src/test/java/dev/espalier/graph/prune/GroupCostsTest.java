package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.prune.GroupCosts.Measure;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GroupCostsTest {
    private static final Graph SMALL =
            SmallCnn.build(new ImageOptions(10, 1, 8, 8), List.of(16, 24, 32), true, Weights.seeded(1));

    private static double total(Measure measure, Graph graph) {
        ToDoubleFunction<Cost> counted = switch (measure) {
            case PARAMETERS -> Cost::parameters;
            case FLOPS -> cost -> cost.flops().value();
        };
        return GroupCosts.byNode(graph, SampleInputs.DEFAULT.dimensions(graph)).values().stream()
                .mapToDouble(counted)
                .sum();
    }

    private static int[] live(Graph graph, ModelGroups groups) {
        return groups.layers().stream()
                .mapToInt(layer -> layer.groups().count() - layer.zeroGroups(graph))
                .toArray();
    }

    private static double[] each(Measure measure, GroupCosts costs, Graph graph) {
        Graph left = Pruner.plan(graph, PruneOptions.DEFAULT).apply();
        return costs.each(
                measure,
                GroupCosts.byNode(left, SampleInputs.DEFAULT.dimensions(graph)),
                _ -> 1,
                live(graph, ModelGroups.of(graph)));
    }

    /** The definition: what is gone from the pruned model once some groups are, for each of them. */
    private static double definition(Measure measure, Graph graph, LayerGroups layer, int count) {
        boolean[] zeros = layer.zeros(graph);
        List<Integer> gone = IntStream.range(0, zeros.length)
                .filter(group -> !zeros[group])
                .limit(count)
                .boxed()
                .toList();
        double before = total(measure, Pruner.plan(graph, PruneOptions.DEFAULT).apply());
        double after = total(measure, Pruner.without(graph, Map.of(layer, gone)).apply());
        return (before - after) / count;
    }

    /**
     * A group takes with it a row of its layer, and in the layer before it the filter, its bias and its norm. Only a bias is not a share
     * of its layer.
     */
    @ParameterizedTest
    @EnumSource(Measure.class)
    void itIsWhatThePrunerCutsWithAGroup(Measure measure) {
        ModelGroups groups = ModelGroups.of(SMALL);
        GroupCosts costs = GroupCosts.of(SMALL, groups);
        for (Graph graph : List.of(SMALL, new SeededZeros(0.4, 3).in(SMALL))) {
            double[] each = each(measure, costs, graph);
            assertEquals(0, each[0], "the only channel of a picture cannot go");
            for (int layer = 1; layer < each.length; layer++) {
                double truth = definition(measure, graph, groups.layers().get(layer), 1);
                assertEquals(truth, each[layer], 2e-3 * truth, groups.layers().get(layer)::name);
            }
        }
    }

    /** Layers whose neighbours died are cheaper than they were. */
    @Test
    void groupsBecomeCheaperAsTheirNeighboursDie() {
        ModelGroups groups = ModelGroups.of(SMALL);
        GroupCosts costs = GroupCosts.of(SMALL, groups);
        Graph sparse = Pruner.without(
                        SMALL,
                        Map.of(
                                groups.layers().get(2),
                                IntStream.range(0, 20).boxed().toList()))
                .reference();
        double[] before = each(Measure.FLOPS, costs, SMALL);
        double[] after = each(Measure.FLOPS, costs, sparse);
        assertTrue(after[1] < before[1] / 2, "the filters that read it are gone");
        assertEquals(before[2], after[2], 1e-3 * before[2], "who reads and whom it reads is still there");
    }

    @Test
    void ofALargeModelAScaleModelTellsTheSame() {
        Graph vgg = Vgg16.build(new ImageOptions(10, 3, 32, 32), Weights.seeded(1));
        ModelGroups groups = ModelGroups.of(vgg);
        double[] each = each(Measure.FLOPS, GroupCosts.of(vgg, groups), vgg);
        for (int layer : List.of(1, 6, 13)) {
            double truth = definition(Measure.FLOPS, vgg, groups.layers().get(layer), 4);
            assertEquals(truth, each[layer], 0.01 * truth, groups.layers().get(layer)::name);
        }
    }

    @Test
    void factorsAreOneOnAverageOverAllGroupsThatAreLeft() {
        assertArrayEquals(new double[] {0.5, 2, 1}, GroupCosts.factors(new double[] {3, 12, 7}, new int[] {20, 10, 0}));
        assertArrayEquals(new double[] {1, 1}, GroupCosts.factors(new double[2], new int[] {5, 5}));
    }
}
