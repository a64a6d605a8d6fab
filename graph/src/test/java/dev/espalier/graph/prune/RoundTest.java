package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RoundTest {
    /** What is known of weights from the round before is what looking through them again would find. */
    @Test
    void weightsAreLookedThroughOnce() {
        int smaller = 0;
        for (long seed = 0; seed < 60; seed++) {
            Graph graph = new RandomModels(seed).imageModel();
            Round first;
            try {
                first = new Round(graph, PruneOptions.DEFAULT, Map.of());
            } catch (GraphException _) {
                continue; // an output would be constant
            }
            Graph left = first.rewrite();
            Round knowing = new Round(left, PruneOptions.DEFAULT, first.known());
            Round looking = new Round(left, PruneOptions.DEFAULT, Map.of());
            assertEquals(looking.layers(), knowing.layers(), "seed " + seed);
            assertEquals(looking.known().keySet(), knowing.known().keySet(), "seed " + seed);
            looking.known().forEach((tensor, weights) -> {
                LayerWeights same = Objects.requireNonNull(knowing.known().get(tensor));
                assertEquals(weights.outs(), same.outs());
                assertEquals(weights.insPerGroup(), same.insPerGroup());
                for (int out = 0; out < weights.outs(); out++) {
                    assertEquals(weights.read(out), same.read(out));
                }
            });
            smaller += first.changes() ? 1 : 0;
        }
        assertTrue(smaller > 20, "something became smaller in " + smaller + " models only");
    }
}
