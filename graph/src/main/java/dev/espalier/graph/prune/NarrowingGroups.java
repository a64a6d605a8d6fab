package dev.espalier.graph.prune;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.Widths.Selections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Which groups are worth their zeros. A group of the weights that read a channel makes a model narrower if, once it is zero, nobody
 * reads the channel and what makes it can go. Where others read it too, as they do along a residual stream, all that can be done is to
 * select the channels that are left, in front of the layer: fewer parameters, and seldom less time.
 */
public final class NarrowingGroups {
    private NarrowingGroups() {}

    /**
     * Tries layer by layer what would go if every other group were zero.
     *
     * @param model the model
     * @param groups its groups
     * @return the layers whose zeros make it narrower
     */
    public static List<LayerGroups> of(Graph model, ModelGroups groups) {
        long whole = parameters(model);
        return groups.layers().stream()
                .filter(layer -> live(model, layer).size() > 1 && parameters(half(model, layer)) < whole)
                .toList();
    }

    /**
     * The smallest that a model can become by its groups alone.
     *
     * @param model the model
     * @param layers some of its layers
     * @param dimensions a length for every free dimension of the model
     * @return what would be left with one group in each of these, or one for each head of an attention: the first that are not zero
     */
    public static PruneReport least(Graph model, List<LayerGroups> layers, Map<String, Long> dimensions) {
        Map<LayerGroups, List<Integer>> all = new LinkedHashMap<>();
        layers.forEach(layer -> all.put(layer, allButOne(model, layer)));
        PrunePlan plan = Pruner.plan(Threshold.apply(model, all).graph(), PruneOptions.DEFAULT);
        return PruneReport.of(plan, dimensions);
    }

    /** Heads keep equally many dimensions, so that each keeps one. */
    private static List<Integer> allButOne(Graph model, LayerGroups layer) {
        int width = layer.groups().count() / layer.heads();
        Set<Integer> met = new HashSet<>();
        return live(model, layer).stream()
                .filter(group -> !met.add(group / width))
                .toList();
    }

    private static Graph half(Graph model, LayerGroups layer) {
        List<Integer> live = live(model, layer);
        List<Integer> other = IntStream.range(0, live.size())
                .filter(i -> i % 2 == 1)
                .mapToObj(live::get)
                .toList();
        return Threshold.apply(model, Map.of(layer, other)).graph();
    }

    /** The groups that are not zero: only these can still go, and one of these has to stay. */
    private static List<Integer> live(Graph model, LayerGroups layer) {
        boolean[] zeros = layer.zeros(model);
        return IntStream.range(0, zeros.length)
                .filter(group -> !zeros[group])
                .boxed()
                .toList();
    }

    private static long parameters(Graph model) {
        try {
            PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
            return Cost.parameters(
                    plan.with(Widths.NARROWEST.withSelections(Selections.NONE)).apply());
        } catch (GraphException _) {
            return Long.MAX_VALUE; // nothing would be left
        }
    }
}
