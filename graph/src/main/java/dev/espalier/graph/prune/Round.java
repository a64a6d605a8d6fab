package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.prune.Rule.Product;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Looks at a graph once, from front to back and back again, and knows what can be removed. */
final class Round {
    private final Graph graph;
    private final Flow flow;
    private final Constants constants;
    private final Liveness liveness;
    private final List<LayerPlan> layers = new ArrayList<>();

    Round(Graph graph, PruneOptions options) {
        this.graph = graph;
        Set<Node> whole = new HashSet<>();
        Flow found;
        Constants carried;
        Liveness live;
        do {
            found = new Flow(graph, whole);
            carried = new Constants(graph, found);
            live = Liveness.of(graph, found, carried, options);
        } while (whole.addAll(live.unselectable()));
        flow = found;
        constants = carried;
        liveness = live;
        graph.outputs().forEach(output -> requireDependent(output, options.threshold()));
        for (Node node : graph.nodes()) {
            if (flow.ruleOf(node) instanceof Product product) {
                layers.add(layer(node, product));
            }
        }
    }

    List<LayerPlan> layers() {
        return layers;
    }

    boolean changes() {
        return layers.stream().anyMatch(LayerPlan::changes);
    }

    /** The graph with what is left. */
    Graph rewrite() {
        return new Rewriter(graph, flow, constants, liveness).rewrite();
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
                boolean stopsHere = flow.ruleOf(node) instanceof Product
                        && constants.isEntirelyConstant(node.output())
                        && !constants.isEntirelyConstant(node.input(0));
                if (stopsHere) {
                    culprits.addFirst(node);
                }
            }
        }
        return culprits.stream().findFirst();
    }

    private LayerPlan layer(Node node, Product rule) {
        int ins = rule.inputs().getFirst().count();
        int outs = rule.outputs().getFirst().count();
        long weights = graph.shape(node.input(1)).size().value();
        LayerPlan whole =
                new LayerPlan(node.name(), node.operator().label(), ins, ins, outs, outs, weights, weights, "");
        if (!liveness.isLive(node)) {
            return whole.after(
                    0,
                    0,
                    0,
                    constants.isEntirelyConstant(node.output()) ? "carries only constants" : "nobody reads it");
        }
        int insLeft = Rewriter.delivered(graph, flow, liveness, node, rule).length;
        int outsLeft = liveness.kept(node.output()).left().length;
        long perOutput = rule.groups() == 1 ? weights / Math.max((long) ins * outs, 1) * insLeft : weights / outs;
        return whole.after(insLeft, outsLeft, perOutput * outsLeft, why(node, rule, ins - insLeft, outs - outsLeft));
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
