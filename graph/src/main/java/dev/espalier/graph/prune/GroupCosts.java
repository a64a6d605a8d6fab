package dev.espalier.graph.prune;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What goes when a group of a model goes, indirect cuts included: a layer that reads one channel less, whoever made nothing but that
 * channel, and all that lies between them.
 *
 * <p>Which nodes become smaller with a layer's groups is found out once, by finite differences: the pruner is asked what is left
 * without some of them. Of a large model it is asked about a scale model, of which every layer has an eighth of its groups, so that
 * it takes little time; shares of a node's cost are the same in both. A node bears the share
 *
 * <pre>{@code
 * e_{L,v} = (1 − cost of v without a part p of the groups of L / cost of v) / p
 * }</pre>
 *
 * <p>and a group of L costs {@code Σ_v e_{L,v} · cost of v now / groups of L that are left}. The costs of now are those of the
 * pruned model, exactly; so a group becomes cheaper as its neighbours die. Within a layer groups cost practically the same: one
 * number for each layer is enough.
 */
public final class GroupCosts {
    /** A scale model has one group of so many. */
    private static final int SCALE = 8;

    /** Fewer groups than these no layer has for the scale model alone. */
    private static final int FEWEST = 8;

    /** Models with fewer parameters are asked about themselves. */
    private static final long LARGE = 1_000_000;

    /** One of so many groups is taken away: one of each head, where groups are the dimensions of heads. */
    private static final int PART = 4;

    private final List<Shares> layers;

    /** Of the nodes that become smaller with a layer's groups, by name, the share that goes with all of them. */
    private record Shares(Map<String, Double> parameters, Map<String, Double> flops) {
        static final Shares NONE = new Shares(Map.of(), Map.of());
    }

    /** What is counted. */
    public enum Measure {
        /** Trained weights. */
        PARAMETERS,
        /** Floating point operations. */
        FLOPS
    }

    private GroupCosts(List<Shares> layers) {
        this.layers = List.copyOf(layers);
    }

    /**
     * Looks at a model.
     *
     * @param graph the model
     * @param groups its groups
     * @return what they cost
     */
    public static GroupCosts of(Graph graph, ModelGroups groups) {
        Graph scaled = scaled(graph, groups);
        Map<String, Long> dimensions = SampleInputs.DEFAULT.dimensions(graph);
        Map<String, Cost> whole = byNode(scaled, dimensions);
        Map<String, LayerGroups> found = new HashMap<>();
        ModelGroups.of(scaled).layers().forEach(layer -> found.put(key(layer), layer));
        return new GroupCosts(groups.layers().parallelStream()
                .map(layer -> Optional.ofNullable(found.get(key(layer)))
                        .map(there -> shares(scaled, there, whole, dimensions))
                        .orElse(Shares.NONE))
                .toList());
    }

    /** The same layers have the same first reader, whatever pruning did to the names of weights. */
    private static String key(LayerGroups layer) {
        return layer.nodes().getFirst().name();
    }

    /** A model of the same structure with fewer channels; the model itself if it is small, or falls apart. */
    private static Graph scaled(Graph graph, ModelGroups groups) {
        if (Cost.parameters(graph) < LARGE) {
            return graph;
        }
        Graph thin = graph;
        for (LayerGroups layer : groups.layers()) { // one after the other: weights are copied
            int count = layer.groups().count();
            // The same channels stay in all layers that read a tensor.
            int step = Math.clamp(count / FEWEST, 1, SCALE);
            List<Integer> gone = IntStream.range(0, count)
                    .filter(group -> group % step != 0)
                    .boxed()
                    .toList();
            thin = Threshold.apply(thin, Map.of(layer, gone)).graph();
        }
        try {
            return PrunePlan.of(thin, PruneOptions.DEFAULT).apply();
        } catch (GraphException _) { // what chance left of it does not hold together
            return graph;
        }
    }

    private static Shares shares(
            Graph graph, LayerGroups layer, Map<String, Cost> whole, Map<String, Long> dimensions) {
        boolean[] zeros = layer.zeros(graph);
        List<Integer> live = IntStream.range(0, zeros.length)
                .filter(group -> !zeros[group])
                .boxed()
                .toList();
        int count = Math.max(1, live.size() / PART);
        List<Integer> gone = IntStream.range(0, Math.min(count, live.size()))
                .map(i -> (int) ((i + 0.5) * live.size() / count))
                .mapToObj(live::get)
                .toList();
        Map<String, Cost> left;
        try {
            left = byNode(Pruner.without(graph, Map.of(layer, gone)).apply(), dimensions);
        } catch (GraphException _) {
            return Shares.NONE; // the only group, say: it cannot go
        }
        double part = (double) gone.size() / Math.max(live.size(), 1);
        return new Shares(
                shares(whole, left, part, Cost::parameters),
                shares(whole, left, part, cost -> cost.flops().value()));
    }

    private static Map<String, Double> shares(
            Map<String, Cost> whole, Map<String, Cost> left, double part, ToDoubleFunction<Cost> counted) {
        Map<String, Double> shares = new LinkedHashMap<>(); // sums are the same every time
        whole.forEach((node, cost) -> {
            double before = counted.applyAsDouble(cost);
            double after = Optional.ofNullable(left.get(node))
                    .map(counted::applyAsDouble)
                    .orElse(0.0);
            if (before > 0 && after != before) {
                shares.put(node, (1 - after / before) / part);
            }
        });
        return shares;
    }

    /**
     * What the nodes of a model cost, with numbers for all its free dimensions.
     *
     * @param graph the model
     * @param dimensions a length for every free dimension
     * @return costs by the nodes' names, in order
     */
    public static SequencedMap<String, Cost> byNode(Graph graph, Map<String, Long> dimensions) {
        SequencedMap<String, Cost> costs = new LinkedHashMap<>();
        for (Cost cost : Cost.of(graph.withDimensions(dimensions), SampleInputs.DEFAULT.length())) {
            Node node = cost.node();
            costs.put(node.name(), cost);
        }
        return costs;
    }

    /**
     * What one group of each layer costs now.
     *
     * @param measure what is counted
     * @param now what the nodes of the pruned model cost, {@link #byNode}
     * @param price what one of it is worth, by the node's name; 1 everywhere to count
     * @param live how many groups each layer has that are not zero
     * @return the cost of a group, layer by layer; 0 where none is left, and where none can go
     */
    public double[] each(Measure measure, Map<String, Cost> now, ToDoubleFunction<String> price, int[] live) {
        double[] costs = new double[layers.size()];
        for (int layer = 0; layer < costs.length; layer++) {
            if (live[layer] > 0) {
                costs[layer] = sum(measure, layers.get(layer), now, price) / live[layer];
            }
        }
        return costs;
    }

    private static double sum(Measure measure, Shares shares, Map<String, Cost> now, ToDoubleFunction<String> price) {
        double sum = 0;
        Map<String, Double> by = switch (measure) {
            case PARAMETERS -> shares.parameters();
            case FLOPS -> shares.flops();
        };
        for (Map.Entry<String, Double> share : by.entrySet()) {
            Cost cost = now.get(share.getKey());
            if (cost != null) {
                double counted = switch (measure) {
                    case PARAMETERS -> cost.parameters();
                    case FLOPS -> cost.flops().value();
                };
                sum += share.getValue() * counted * price.applyAsDouble(share.getKey());
            }
        }
        return sum;
    }

    /**
     * What costs are worth beside their mean, so that λ keeps its meaning: {@code c_L = cost_L / (Σ live·cost / Σ live)}.
     *
     * @param costs the cost of a group, layer by layer
     * @param live how many groups each layer has that are not zero
     * @return a factor for each layer, 1 on average over all groups that are left; 1 everywhere if nothing costs anything
     */
    public static double[] factors(double[] costs, int[] live) {
        double sum = 0;
        long count = 0;
        for (int layer = 0; layer < costs.length; layer++) {
            sum += live[layer] * costs[layer];
            count += live[layer];
        }
        double mean = sum / Math.max(count, 1);
        double[] factors = new double[costs.length];
        for (int layer = 0; layer < costs.length; layer++) {
            factors[layer] = mean > 0 && live[layer] > 0 ? costs[layer] / mean : 1;
        }
        return factors;
    }
}
