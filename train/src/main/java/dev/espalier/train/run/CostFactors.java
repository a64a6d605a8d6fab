package dev.espalier.train.run;

import dev.espalier.core.step.ParameterSet;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.GroupCosts;
import dev.espalier.graph.prune.GroupCosts.Measure;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.train.journal.PriceList;
import dev.espalier.train.recipe.GroupCost;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What the strength of each layer's penalty is weighed by, c in {@code λ_g = λ·√|g|·c}: what goes when one of its groups goes, beside
 * the mean over all groups that are left. Changes between epochs only, and is part of a checkpoint.
 */
final class CostFactors {
    /** How many layers are named at either end. */
    private static final int NAMED = 3;

    private final GroupCost kind;
    private final Optional<PriceList> prices;
    private final ModelGroups groups;
    private final GroupCosts costs;
    private final double[] factors;

    /** What all of the model costs, with groups and without. */
    private final double whole;

    /** From a parameter to the number of its layer. */
    private final Map<String, Integer> layers = new HashMap<>();

    /**
     * Factors of 1.
     *
     * @param kind what is counted
     * @param initial the model as training finds it, with a note of its groups
     * @param groups its groups
     * @param prices what operations take, for latency
     */
    CostFactors(GroupCost kind, Graph initial, ModelGroups groups, Optional<PriceList> prices) {
        this.kind = kind;
        this.prices = prices;
        this.groups = groups;
        this.costs = GroupCosts.of(initial, groups);
        this.factors = new double[groups.layers().size()];
        this.whole = whole(GroupCosts.byNode(initial, SampleInputs.DEFAULT.dimensions(initial)));
        Arrays.fill(factors, 1);
        for (int i = 0; i < factors.length; i++) {
            for (String parameter : groups.layers().get(i).parameters()) {
                layers.put(parameter, i);
            }
        }
    }

    private double whole(Map<String, Cost> nodes) {
        return switch (kind) {
            case NONE -> throw new IllegalArgumentException("there is nothing to count");
            case PARAMETERS ->
                nodes.values().stream().mapToLong(Cost::parameters).sum();
            case FLOPS ->
                nodes.values().stream().mapToLong(cost -> cost.flops().value()).sum();
            case LATENCY -> LatencyPrices.estimate(prices.orElseThrow(), nodes);
        };
    }

    /** c of a set of parameters; 1 if it has no groups. */
    double of(ParameterSet set) {
        Integer layer = layers.get(set.parameters().getFirst().name());
        return layer == null ? 1 : factors[layer];
    }

    /** c of a layer, by its number. */
    double of(int layer) {
        return factors[layer];
    }

    /**
     * Looks again.
     *
     * @param zeros the groups that are gone
     * @param left what the nodes of the pruned model cost
     */
    void update(ZeroGroups zeros, Map<String, Cost> left) {
        int[] live = zeros.live();
        double[] now = GroupCosts.factors(each(left, live), live);
        System.arraycopy(now, 0, factors, 0, now.length);
    }

    /**
     * What one group of each layer costs now.
     *
     * @param zeros the groups that are gone
     * @param left what the nodes of the pruned model cost
     * @return as shares of what all of the model cost at first
     */
    double[] shares(ZeroGroups zeros, Map<String, Cost> left) {
        double[] each = each(left, zeros.live());
        Arrays.setAll(each, layer -> each[layer] / whole);
        return each;
    }

    private double[] each(Map<String, Cost> left, int[] live) {
        return switch (kind) {
            case NONE -> throw new IllegalStateException("there is nothing to count");
            case PARAMETERS -> costs.each(Measure.PARAMETERS, left, _ -> 1, live);
            case FLOPS -> costs.each(Measure.FLOPS, left, _ -> 1, live);
            case LATENCY -> costs.each(Measure.FLOPS, left, prices.orElseThrow()::price, live);
        };
    }

    /** The dearest layers and the cheapest ones, in words. */
    String words() {
        List<LayerGroups> all = groups.layers();
        List<String> sorted = IntStream.range(0, factors.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> -factors[i]))
                .map(i -> String.format(Locale.ROOT, "%s %.3g", all.get(i).name(), factors[i]))
                .toList();
        boolean few = sorted.size() <= 2 * NAMED;
        return "λ is weighed by %s, 1 on average: %s%s"
                .formatted(
                        kind.name().toLowerCase(Locale.ROOT),
                        String.join(", ", few ? sorted : sorted.subList(0, NAMED)),
                        few ? "" : ", …, " + String.join(", ", sorted.subList(sorted.size() - NAMED, sorted.size())));
    }

    /** The factors in force, as live memory. */
    MemorySegment memory() {
        return MemorySegment.ofArray(factors);
    }
}
