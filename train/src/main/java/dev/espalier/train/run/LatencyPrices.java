package dev.espalier.train.run;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.GroupCosts;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Latency;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.journal.PriceList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Measures a {@link PriceList} in ONNX Runtime. Layers of the same shapes and as many operations are of one kind, and all that belong to
 * no layer are of one too. For each kind of layers the model is run with half of their groups gone, by turns with the whole model
 * and with the others; what that saves is what the operations that went are worth. As a cut takes operations from the layers
 * before it too, that is an equation for several prices:
 *
 * <pre>{@code
 * Σ_k (operations of kind k that went in trial r) · price_k = milliseconds saved in trial r,    price_k ≥ 0
 * }</pre>
 *
 * <p>solved by projections (Kaczmarz) from one price for all: a kind for which there was no time keeps about that.
 */
final class LatencyPrices {
    /** How long may be measured, in seconds. */
    static final double SECONDS = 30;

    /** The part of the time in which trials are let in. */
    private static final double ENTRY = 0.6;

    /** Turns between two looks at the clock. */
    private static final int ROUNDS = 3;

    /** More turns do not make the shortest run shorter. */
    private static final int MOST_ROUNDS = 60;

    /** How often all equations are looked at. */
    private static final int SWEEPS = 300;

    private final Graph graph;
    private final Map<String, Long> dimensions;
    private final SequencedMap<String, Cost> whole;

    /** The layers of each kind, those with the most operations first. */
    private final List<List<LayerGroups>> kinds;

    /** The kind of each node; those of no layer come last. */
    private final Map<String, Integer> kindOf = new HashMap<>();

    private LatencyPrices(Graph graph, ModelGroups groups) {
        this.graph = graph;
        this.dimensions = SampleInputs.DEFAULT.dimensions(graph);
        this.whole = GroupCosts.byNode(graph, dimensions);
        Map<List<Object>, List<LayerGroups>> alike = new LinkedHashMap<>();
        groups.layers()
                .forEach(layer -> alike.computeIfAbsent(kind(layer), _ -> new ArrayList<>())
                        .add(layer));
        this.kinds = alike.values().stream()
                .sorted(Comparator.comparingDouble(
                        layers -> -layers.stream().mapToDouble(this::flops).sum()))
                .toList();
        for (int kind = 0; kind < kinds.size(); kind++) {
            for (LayerGroups layer : kinds.get(kind)) {
                for (var node : layer.nodes()) {
                    kindOf.putIfAbsent(node.name(), kind);
                }
            }
        }
    }

    private List<Object> kind(LayerGroups layer) {
        List<Object> kind = new ArrayList<>(List.of(flops(layer), layer.groups().count()));
        layer.parameters().forEach(name -> kind.add(graph.shape(name)));
        return kind;
    }

    private double flops(LayerGroups layer) {
        return layer.nodes().stream()
                .mapToDouble(node -> flops(whole, node.name()))
                .sum();
    }

    private static double flops(Map<String, Cost> costs, String node) {
        Cost cost = costs.get(node);
        return cost == null ? 0 : cost.flops().value();
    }

    /** A model with half of the groups of a kind gone: what it saves. */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares these
    private record Trial(OnnxRuntimeModel model, double[] gone) {}

    /**
     * Measures.
     *
     * @param graph the model, whole
     * @param groups its groups
     * @param threads how many threads a single operator may use
     * @param seconds about how long that may take
     * @param progress is told how things stand, in words
     * @throws IllegalStateException if ONNX Runtime does not run the model
     */
    static PriceList measure(Graph graph, ModelGroups groups, int threads, double seconds, Consumer<String> progress) {
        return new LatencyPrices(graph, groups).measure(threads, seconds, progress);
    }

    private PriceList measure(int threads, double seconds, Consumer<String> progress) {
        long started = System.nanoTime();
        progress.accept(String.format(
                Locale.ROOT,
                "measuring what layers take in ONNX Runtime: %d kinds of layers, %.0f s at most",
                kinds.size(),
                seconds));
        Map<String, Tensor> inputs = SampleInputs.DEFAULT.draw(graph);
        List<Trial> trials = new ArrayList<>();
        OnnxRuntimeModel original = OnnxRuntimeModel.of(graph, threads);
        try {
            for (List<LayerGroups> kind : kinds) {
                if (trials.isEmpty() || secondsSince(started) < ENTRY * seconds) {
                    enter(kind, threads, trials);
                }
            }
            List<OnnxRuntimeModel> models = new ArrayList<>(List.of(original));
            trials.forEach(trial -> models.add(trial.model()));
            double[] shortest = new double[models.size()];
            Arrays.fill(shortest, Double.POSITIVE_INFINITY);
            for (int round = 0;
                    round == 0 || (round < MOST_ROUNDS && secondsSince(started) < seconds);
                    round += ROUNDS) {
                List<Double> times = Latency.measure(models, inputs, ROUNDS);
                Arrays.setAll(shortest, i -> Math.min(shortest[i], times.get(i)));
            }
            PriceList list = priced(trials, shortest, threads);
            progress.accept(String.format(
                    Locale.ROOT,
                    "a run takes %.3g ms, of which %.3g ms stay however small it becomes; by %d trials in %.0f s",
                    list.milliseconds(),
                    list.fixed(),
                    list.trials(),
                    secondsSince(started)));
            return list;
        } finally {
            original.close();
            trials.forEach(trial -> trial.model().close());
        }
    }

    private static double secondsSince(long started) {
        return (System.nanoTime() - started) / 1e9;
    }

    private void enter(List<LayerGroups> kind, int threads, List<Trial> trials) {
        Map<LayerGroups, List<Integer>> half = new LinkedHashMap<>();
        kind.forEach(layer -> half.put(
                layer,
                IntStream.range(0, layer.groups().count())
                        .filter(group -> group % 2 == 1)
                        .boxed()
                        .toList()));
        try {
            Graph smaller = Pruner.without(graph, half).apply();
            double[] gone = new double[kinds.size() + 1];
            Map<String, Cost> left = GroupCosts.byNode(smaller, dimensions);
            whole.keySet()
                    .forEach(node ->
                            gone[kindOf.getOrDefault(node, kinds.size())] += flops(whole, node) - flops(left, node));
            trials.add(new Trial(OnnxRuntimeModel.of(smaller, threads), gone));
        } catch (GraphException _) {
            // Nothing would be left of the model: these layers keep the price of all.
        }
    }

    private PriceList priced(List<Trial> trials, double[] shortest, int threads) {
        double[] all = new double[kinds.size() + 1];
        whole.keySet().forEach(node -> all[kindOf.getOrDefault(node, kinds.size())] += flops(whole, node));
        double total = Arrays.stream(all).sum();
        double[] prices = new double[all.length];
        Arrays.fill(prices, total == 0 ? 0 : shortest[0] / total);
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            for (int trial = 0; trial < trials.size(); trial++) {
                project(prices, trials.get(trial).gone(), shortest[0] - shortest[trial + 1]);
            }
        }
        double varying = dot(prices, all);
        double scale = varying > shortest[0] ? shortest[0] / varying : 1; // nothing takes less than no time
        SequencedMap<String, Double> byNode = new LinkedHashMap<>();
        whole.keySet().forEach(node -> byNode.put(node, scale * prices[kindOf.getOrDefault(node, kinds.size())]));
        double fixed = Math.max(0, shortest[0] - scale * varying);
        return new PriceList(shortest[0], fixed, threads, trials.size(), byNode);
    }

    /** To the nearest prices that fulfil an equation; none is negative. */
    private static void project(double[] prices, double[] gone, double saved) {
        double square = dot(gone, gone);
        if (square > 0) {
            double step = (saved - dot(prices, gone)) / square;
            Arrays.setAll(prices, kind -> Math.max(0, prices[kind] + step * gone[kind]));
        }
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    /** The time of what is left of a model, in milliseconds. */
    static double estimate(PriceList list, Map<String, Cost> left) {
        double sum = list.fixed();
        for (Map.Entry<String, Cost> node : left.entrySet()) {
            sum += list.price(node.getKey()) * node.getValue().flops().value();
        }
        return sum;
    }
}
