package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.prune.GroupCosts;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.SeededZeros;
import dev.espalier.train.journal.PriceList;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyPricesTest {
    private static double estimate(PriceList list, Graph graph) {
        return LatencyPrices.estimate(list, GroupCosts.byNode(graph, SampleInputs.DEFAULT.dimensions(graph)));
    }

    /** What it comes to depends on the machine; what must hold of it does not. */
    @Test
    void anEstimateBeginsAtTheOriginalAndRisesWithNoCut() {
        Graph graph = SmallCnn.build(new ImageOptions(10, 3, 16, 16), List.of(32, 48, 64), true, Weights.seeded(1));
        List<String> notes = new ArrayList<>();
        PriceList list = LatencyPrices.measure(graph, ModelGroups.of(graph), 1, 5, notes::add);
        assertEquals(2, notes.size(), notes.toString());
        assertTrue(list.trials() >= 1, list.toString());
        assertTrue(list.fixed() >= 0, list.toString());
        assertEquals(list.milliseconds(), estimate(list, graph), 1e-9 * list.milliseconds());
        double last = list.milliseconds();
        for (double share : new double[] {0.2, 0.5, 0.8}) {
            double now = estimate(
                    list,
                    Pruner.plan(new SeededZeros(share, 1).in(graph), PruneOptions.DEFAULT)
                            .apply());
            assertTrue(now <= last && now >= list.fixed(), share + ": " + now + " after " + last);
            last = now;
        }
    }
}
