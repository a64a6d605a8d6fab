package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class NarrowingGroupsTest {
    private static List<String> narrowing(Graph model, ModelGroups groups) {
        return NarrowingGroups.of(model, groups).stream()
                .flatMap(layer -> layer.parameters().stream())
                .toList();
    }

    /** An input of the model cannot go: only what lies between layers can. */
    @Test
    void whatReadsAHiddenLayerNarrowsIt() {
        Graph model = Mlp.ofVectors(3, 6, List.of(8, 4), Weights.seeded(1));
        ModelGroups groups = GroupRules.everything().derive(model);
        assertEquals(3, groups.layers().size());
        List<LayerGroups> narrowing = NarrowingGroups.of(model, groups);
        assertEquals(groups.layers().subList(1, 3), narrowing);
        PruneReport least = NarrowingGroups.least(model, narrowing, Map.of("batch", 1L));
        // One of 8 and one of 4 neurons: 6 + 1, 1 + 1 and 3 + 3 weights.
        assertEquals(7 + 2 + 6, least.parametersAfter());
    }

    /** The first group may be zero already: then another one has to stay. */
    @Test
    void ofAModelWithZerosOneLiveGroupStays() {
        Graph model = Mlp.ofVectors(3, 6, List.of(8, 4), Weights.seeded(1));
        LayerGroups second = GroupRules.everything().derive(model).layers().get(1);
        Graph zeroed = Threshold.apply(model, Map.of(second, List.of(0, 1, 2))).graph();
        ModelGroups groups = GroupRules.everything().derive(zeroed);
        List<LayerGroups> narrowing = NarrowingGroups.of(zeroed, groups);
        assertEquals(groups.layers().subList(1, 3), narrowing);
        assertEquals(
                7 + 2 + 6,
                NarrowingGroups.least(zeroed, narrowing, Map.of("batch", 1L)).parametersAfter());
    }

    /** A residual stream has other readers: of a transformer that normalises behind its layers, these are not narrowed. */
    @Test
    void readersOfAResidualStreamNarrowNothing() {
        BertConfig config = new BertConfig(20, 8, 1, 2, 12, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);
        Graph model = Bert.encoder(config, Weights.seeded(1));
        List<String> names =
                narrowing(model, GroupRules.everything().groupHeadDimensions().derive(model));
        assertTrue(
                names.stream().anyMatch(name -> name.contains("output.dense") && !name.contains("attention")),
                names::toString);
        assertTrue(names.stream().noneMatch(name -> name.contains("intermediate")), names::toString);
        assertTrue(names.stream().anyMatch(name -> name.contains("query")), names::toString);
    }
}
