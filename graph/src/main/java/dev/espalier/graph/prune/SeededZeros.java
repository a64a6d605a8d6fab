package dev.espalier.graph.prune;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * What training with a penalty leaves behind, without the training: a share of the groups of every layer is zero, and chance says which. The
 * model is worth nothing afterwards, but what pruning makes of it, and how fast that is, tells what can be hoped for.
 *
 * @param share of the groups of each layer, from 0 to below 1; rounded down, so that every layer keeps at least one
 * @param seed where chance starts from
 */
public record SeededZeros(double share, long seed) {

    /** Checks the share. */
    public SeededZeros {
        Check.fraction("share", share);
    }

    /**
     * Sets groups to zero.
     *
     * @param graph a model
     * @return the same with zeros; the very same graph if no layer has enough groups
     */
    public Graph in(Graph graph) {
        Map<LayerGroups, List<Integer>> chosen = new LinkedHashMap<>();
        Random random = new Random(seed);
        for (LayerGroups layer : ModelGroups.of(graph).layers()) {
            List<Integer> groups = new ArrayList<>(
                    IntStream.range(0, layer.groups().count()).boxed().toList());
            Collections.shuffle(groups, random);
            chosen.put(layer, groups.subList(0, (int) (share * groups.size())));
        }
        return Threshold.apply(graph, chosen).graph();
    }
}
