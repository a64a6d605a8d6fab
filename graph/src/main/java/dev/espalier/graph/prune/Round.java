package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.pass.ResidualStream;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.Recurrence;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.prune.Rule.Sum;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Looks at a graph once, from front to back and back again, and knows what can be removed. */
final class Round {
    private final Graph graph;
    private final Flow flow;
    private final Constants constants;
    private final Liveness liveness;
    private final List<LayerPlan> layers = new ArrayList<>();

    /** What is known of the weights of layers: of these, and of what {@link #rewrite} makes of them. */
    private final Map<Tensor, LayerWeights> known;

    /**
     * Looks at a graph.
     *
     * @param graph the graph
     * @param options how it is pruned
     * @param before what is known of weights already
     */
    Round(Graph graph, PruneOptions options, Map<Tensor, LayerWeights> before) {
        this.graph = graph;
        Map<Tensor, LayerWeights> weights = before;
        Set<Node> whole = new HashSet<>();
        Flow found;
        Constants carried;
        Liveness live;
        do {
            found = new Flow(graph, whole);
            carried = new Constants(graph, found, weights);
            weights = carried.known();
            live = Liveness.of(graph, found, carried, options, counted(graph, carried));
        } while (whole.addAll(live.unselectable()));
        flow = found;
        constants = carried;
        liveness = live;
        known = weights;
        graph.outputs().forEach(output -> requireDependent(output, options.threshold()));
        for (Node node : graph.nodes()) {
            switch (flow.ruleOf(node)) {
                case Product product -> layers.add(layer(node, product));
                case Recurrence recurrence -> layers.add(layer(node, recurrence));
                case Mapping _, Contraction _, Sum _, Opaque _, ShapeOnly _ -> {
                    // No weights of its own that could go.
                }
            }
        }
    }

    /** The channels that normalisations by the root mean square count, for what they make and for that with scale and shift. */
    private static Map<String, BitSet> counted(Graph graph, Constants constants) {
        Map<String, BitSet> counted = new HashMap<>();
        for (ResidualStream stream : ResidualStream.in(graph)) {
            for (String tensor : stream.normalised()) {
                Node node = graph.producer(tensor);
                if (node == null || !(node.operator() instanceof Binary)) {
                    continue;
                }
                int input = graph.shape(node.input(0)).get(-1).is(1) ? 1 : 0;
                double[] values = constants.ofInput(node, input, Channels.along(graph.shape(node.input(input)), -1));
                BitSet used = Kept.bits(IntStream.range(0, values.length)
                        .filter(channel -> values[channel] != 0)
                        .toArray());
                for (Node next = node; next != null; next = scaled(graph, next)) {
                    counted.put(next.output(), used);
                }
            }
        }
        return counted;
    }

    /** The only reader of a normalisation, if that scales or shifts it. */
    private static @Nullable Node scaled(Graph graph, Node node) {
        List<Graph.Use> uses = graph.uses(node.output());
        Node reader = uses.size() == 1 ? uses.getFirst().node() : null;
        return reader != null
                        && reader.operator() instanceof Binary
                        && reader.inputs().stream().anyMatch(input -> graph.tensor(input) != null)
                ? reader
                : null;
    }

    Map<Tensor, LayerWeights> known() {
        return known;
    }

    List<LayerPlan> layers() {
        return layers;
    }

    boolean changes() {
        return layers.stream().anyMatch(LayerPlan::changes);
    }

    /** Whether anything is left out, though layers may stay as they are. */
    boolean leavesOut() {
        return liveness.leavesOut();
    }

    /** The graph with what is left. */
    Graph rewrite() {
        return new Rewriter(graph, flow, constants, liveness, known).rewrite();
    }

    /** The graph with normalisations that let residual streams lose dimensions; the very same if none can. */
    Graph narrowed(PruneOptions options) {
        return NarrowStreams.apply(graph, this::idle, options);
    }

    private BitSet idle(Node norm) {
        Channels channels = Channels.along(graph.shape(norm.input(0)), -1);
        double[] values = constants.ofInput(norm, 0, channels);
        BitSet idle = new BitSet();
        for (int channel = 0; channel < values.length; channel++) {
            idle.set(channel, values[channel] == 0);
        }
        idle.andNot(liveness.requested(norm.output()));
        return idle;
    }

    /** An output may be constant by design, but not because weights are zero. */
    private void requireDependent(String output, double threshold) {
        if (constants.isEntirelyConstant(output)) {
            String mend = threshold > 0
                    ? "lower the threshold, which is " + threshold
                    : "train with a weaker penalty, or prune an earlier checkpoint of the run (--checkpoint)";
            culprit(output).ifPresent(layer -> {
                throw new GraphException("output " + output + " would not depend on the input any more: layer " + layer
                        + " carries only constants; " + mend);
            });
        }
    }

    /** The first layer before an output that reads what varies and makes what does not. */
    private Optional<Node> culprit(String output) {
        Set<String> before = new HashSet<>(Set.of(output));
        List<Node> culprits = new ArrayList<>();
        for (Node node : graph.nodes().reversed()) {
            if (node.outputs().stream().anyMatch(before::contains)) {
                before.addAll(node.inputs());
                boolean isLayer = flow.ruleOf(node) instanceof Product || flow.ruleOf(node) instanceof Recurrence;
                boolean stopsHere = (isLayer && varies(node.input(0))) || (isTable(node) && varies(node.input(1)));
                if (stopsHere && node.outputs().stream().anyMatch(constants::isEntirelyConstant)) {
                    culprits.addFirst(node);
                }
            }
        }
        return culprits.stream().findFirst();
    }

    private boolean varies(String tensor) {
        return graph.tensor(tensor) == null && !constants.isEntirelyConstant(tensor);
    }

    /** Whether a node looks rows up in a table that was trained. */
    private boolean isTable(Node node) {
        Initializer table =
                node.operator() instanceof Gather ? graph.initializers().get(node.input(0)) : null;
        return table != null && table.kind() == Kind.PARAMETER;
    }

    private LayerPlan layer(Node node, Product rule) {
        int ins = rule.inputs().getFirst().count();
        int outs = rule.outputs().getFirst().count();
        long weights = graph.shape(node.input(1)).size().value();
        LayerPlan whole =
                new LayerPlan(node.name(), node.operator().label(), ins, ins, outs, outs, weights, weights, "");
        if (!liveness.isLive(node)) {
            return gone(node, whole);
        }
        int insLeft = Rewriter.delivered(graph, flow, liveness, node, rule).length;
        int outsLeft = liveness.kept(node.output()).left().length;
        LayerWeights own = constants.weights(node, rule);
        int groupsLeft = own.groups(liveness.kept(node.output()).left()).size();
        long perPair = weights / Math.max((long) own.insPerGroup() * outs, 1);
        return whole.after(
                insLeft,
                outsLeft,
                perPair * insLeft / groupsLeft * outsLeft,
                why(node, rule, ins - insLeft, outs - outsLeft));
    }

    private LayerPlan gone(Node node, LayerPlan whole) {
        boolean constant = node.outputs().stream().anyMatch(constants::isEntirelyConstant);
        return whole.after(0, 0, 0, constant ? "carries only constants" : "nobody reads it");
    }

    private LayerPlan layer(Node node, Recurrence rule) {
        int ins = rule.inputs().getFirst().count();
        int units = constants.units(node, rule).count();
        int gates = rule.operator().cell().gates();
        long weights = weights(gates, rule.operator().directions(), units, ins);
        LayerPlan whole =
                new LayerPlan(node.name(), node.operator().label(), ins, ins, units, units, weights, weights, "");
        if (!liveness.isLive(node)) {
            return gone(node, whole);
        }
        BitSet left = liveness.units(node, rule);
        int insLeft = Rewriter.delivered(graph, flow, liveness, node, rule).length;
        int unitsLeft = left.cardinality();
        int hidden = (int) rule.operator().hidden();
        int directions = (int) IntStream.range(0, rule.operator().directions())
                .filter(direction ->
                        !left.get(direction * hidden, (direction + 1) * hidden).isEmpty())
                .count();
        List<String> reasons = new ArrayList<>();
        addReason(reasons, ins - insLeft, " input is not read", " inputs are not read");
        addReason(reasons, units - unitsLeft, " hidden unit is not read", " hidden units are not read");
        return whole.after(
                insLeft, unitsLeft, weights(gates, directions, unitsLeft, insLeft), String.join(", ", reasons));
    }

    /** Of all hidden units, each of which reads the inputs and the units of its direction with every gate. */
    private static long weights(int gates, int directions, long units, int ins) {
        return gates * units * (ins + units / Math.max(directions, 1));
    }

    private String why(Node node, Product rule, int insGone, int outsGone) {
        List<String> reasons = new ArrayList<>();
        BitSet read = new BitSet();
        LayerWeights weights = constants.weights(node, rule);
        liveness.requested(node.output()).stream().forEach(out -> read.or(weights.read(out)));
        double[] values = constants.ofInput(node, 0, rule.inputs().getFirst());
        long folded = insGone == 0
                ? 0
                : Math.min(
                        insGone,
                        read.stream()
                                .filter(in -> Constants.foldable(rule, values[in]))
                                .count());
        addReason(reasons, insGone - folded, " input has no weight", " inputs have no weight");
        addReason(reasons, folded, " input is constant", " inputs are constant");
        addReason(reasons, outsGone, " output is not read", " outputs are not read");
        return String.join(", ", reasons);
    }

    private static void addReason(List<String> reasons, long count, String one, String several) {
        if (count > 0) {
            reasons.add(count + (count == 1 ? one : several));
        }
    }
}
