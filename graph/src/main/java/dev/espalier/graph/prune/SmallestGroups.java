package dev.espalier.graph.prune;

import dev.espalier.core.group.Groups;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Pruning without training: the groups with the smallest weights go, until a model is as small as it shall be. What goes was not
 * zero, so that the smaller model computes something else.
 *
 * <p>Groups of all layers are compared by {@code r_g / mean of r over the layer}, where {@code r_g = ‖x_g‖/√|g|} is the root mean
 * square of a group's weights: layers whose weights are small as a whole do not go first. The largest group of a layer always stays.
 */
public final class SmallestGroups {
    private final Graph graph;
    private final PruneOptions options;
    private final List<Norms> layers;
    private final List<Candidate> candidates;

    /**
     * The norms of a layer's groups.
     *
     * @param name the layer
     * @param groups how many groups it has
     * @param zero how many of them are zero
     * @param smallest the smallest root mean square of a group's weights
     * @param median that of the group in the middle
     * @param largest the largest
     */
    public record Norms(String name, int groups, int zero, double smallest, double median, double largest) {}

    private record Candidate(LayerGroups layer, int group, double score) {}

    private SmallestGroups(Graph graph, PruneOptions options, List<Norms> layers, List<Candidate> candidates) {
        this.graph = graph;
        this.options = options;
        this.layers = List.copyOf(layers);
        this.candidates = List.copyOf(candidates);
    }

    /**
     * Looks at the groups of a model.
     *
     * @param graph the model
     * @param options which layers are kept, and how it is pruned; without a threshold
     * @return its groups, nothing chosen yet
     * @throws GraphException if the model has no groups, or a layer to keep does not exist
     */
    public static SmallestGroups of(Graph graph, PruneOptions options) {
        Pruner.requireKnown(graph, options.keep());
        List<Norms> layers = new ArrayList<>();
        List<Candidate> candidates = new ArrayList<>();
        for (LayerGroups layer : ModelGroups.of(graph).layers()) {
            double[] norms = norms(graph, layer);
            layers.add(norms(layer.name(), norms));
            if (layer.nodes().stream().noneMatch(options::keeps)) {
                candidates.addAll(candidates(layer, norms));
            }
        }
        if (layers.isEmpty()) {
            throw new GraphException(
                    "the model has no layer whose weights could be grouped: there is nothing to choose from");
        }
        candidates.sort(Comparator.comparingDouble(Candidate::score));
        return new SmallestGroups(graph, options, layers, candidates);
    }

    private static double[] norms(Graph graph, LayerGroups layer) {
        Groups groups = layer.groups();
        List<TensorView> contents = List.copyOf(Threshold.contents(graph, layer).values());
        double[] norms = new double[groups.count()];
        Arrays.setAll(norms, group -> Norm.of(groups.gather(group, contents)) / Math.sqrt(groups.size(group)));
        return norms;
    }

    private static Norms norms(String name, double[] norms) {
        double[] sorted = norms.clone();
        Arrays.sort(sorted);
        int zero = (int) Arrays.stream(norms).filter(norm -> norm == 0).count();
        return new Norms(name, norms.length, zero, sorted[0], sorted[sorted.length / 2], sorted[sorted.length - 1]);
    }

    private static List<Candidate> candidates(LayerGroups layer, double[] norms) {
        double mean = Arrays.stream(norms).average().orElse(0);
        int largest = 0;
        for (int group = 1; group < norms.length; group++) {
            largest = norms[group] > norms[largest] ? group : largest;
        }
        List<Candidate> candidates = new ArrayList<>();
        for (int group = 0; group < norms.length; group++) {
            if (group != largest && norms[group] > 0) {
                candidates.add(new Candidate(layer, group, norms[group] / mean));
            }
        }
        return candidates;
    }

    /** {@return the norms of all layers that have groups, from front to back} */
    public List<Norms> layers() {
        return layers;
    }

    /**
     * Chooses as few groups as it takes, the smallest first.
     *
     * @param left how much of a model a plan leaves, from 0 to 1
     * @param share how much shall be left at most
     * @return what would be done
     * @throws GraphException if the model cannot be made so small
     */
    public PrunePlan plan(ToDoubleFunction<PrunePlan> left, double share) {
        int enough = candidates.size();
        double least = left.applyAsDouble(without(enough));
        if (!(least <= share)) {
            throw new GraphException(String.format(
                    Locale.ROOT,
                    "%.1f %% cannot be reached: with one group left in every layer, it is %.1f %%; ask for more, or keep fewer layers (--keep)",
                    100 * share,
                    100 * least));
        }
        int few = -1;
        while (enough - few > 1) {
            int between = (few + enough) >>> 1;
            if (left.applyAsDouble(without(between)) <= share) {
                enough = between;
            } else {
                few = between;
            }
        }
        return without(enough);
    }

    private PrunePlan without(int count) {
        Map<LayerGroups, List<Integer>> chosen = new LinkedHashMap<>();
        candidates
                .subList(0, count)
                .forEach(candidate -> chosen.computeIfAbsent(candidate.layer(), _ -> new ArrayList<>())
                        .add(candidate.group()));
        return PrunePlan.of(Threshold.apply(graph, chosen), options);
    }
}
