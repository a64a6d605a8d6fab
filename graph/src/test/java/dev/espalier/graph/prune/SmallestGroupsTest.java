package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SmallestGroupsTest {
    private static final Graph MODEL = Mlp.ofVectors(3, 10, List.of(40, 30), Weights.seeded(4));
    private static final Map<String, Long> DIMENSIONS = SampleInputs.DEFAULT.dimensions(MODEL);

    private static double parameters(PrunePlan plan) {
        return PruneReport.of(plan, DIMENSIONS).parametersLeft();
    }

    @Test
    void noMoreGroupsGoThanItTakes() {
        SmallestGroups groups = SmallestGroups.of(MODEL, PruneOptions.DEFAULT);
        int before = 0;
        for (double share : List.of(0.9, 0.7, 0.5, 0.3, 0.1)) {
            PrunePlan plan = groups.plan(SmallestGroupsTest::parameters, share);
            double left = parameters(plan);
            assertTrue(left <= share && left > share - 0.05, left + " left instead of " + share);
            assertTrue(plan.zeroedGroups() > before, "a smaller model has lost more groups");
            before = plan.zeroedGroups();
            assertFalse(plan.isExact());
            for (LayerGroups layer : ModelGroups.of(plan.reference()).layers()) {
                assertTrue(layer.zeroGroups(plan.reference()) < layer.groups().count(), layer.name());
            }
        }
    }

    @Test
    void whatIsSmallEnoughStaysAsItIs() {
        PrunePlan plan = SmallestGroups.of(MODEL, PruneOptions.DEFAULT).plan(SmallestGroupsTest::parameters, 1);
        assertTrue(plan.isExact());
        assertSame(MODEL, plan.apply());
    }

    @Test
    void layersThatAreKeptLoseNothing() {
        ModelGroups layers = ModelGroups.of(MODEL);
        LayerGroups kept = layers.layers().get(1);
        PruneOptions options = new PruneOptions(Set.of(kept.nodes().getFirst().name()), Widths.NARROWEST, 0);
        PrunePlan plan = SmallestGroups.of(MODEL, options).plan(SmallestGroupsTest::parameters, 0.8);
        assertEquals(0, kept.zeroGroups(plan.reference()));
    }

    @Test
    void whatCannotBeReachedIsSaid() {
        SmallestGroups groups = SmallestGroups.of(MODEL, PruneOptions.DEFAULT);
        GraphException refused =
                assertThrows(GraphException.class, () -> groups.plan(SmallestGroupsTest::parameters, 1e-4));
        assertTrue(String.valueOf(refused.getMessage()).contains("cannot be reached"), refused.toString());
    }

    @Test
    void theNormsOfALayerAreInOrder() {
        List<SmallestGroups.Norms> layers =
                SmallestGroups.of(MODEL, PruneOptions.DEFAULT).layers();
        assertEquals(
                ModelGroups.of(MODEL).layers().stream().map(LayerGroups::name).toList(),
                layers.stream().map(SmallestGroups.Norms::name).toList());
        for (SmallestGroups.Norms norms : layers) {
            assertEquals(0, norms.zero());
            assertTrue(0 < norms.smallest() && norms.smallest() < norms.median() && norms.median() < norms.largest());
        }
    }
}
