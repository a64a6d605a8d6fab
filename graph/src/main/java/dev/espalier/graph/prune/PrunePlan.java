package dev.espalier.graph.prune;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphPrinter;
import dev.espalier.graph.pass.DeadNodes;
import dev.espalier.graph.pass.FoldedMeans;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What pruning would do to a graph: to be read, and then to be applied. */
public final class PrunePlan {
    private final PruneOptions options;
    private final Graph reference;
    private final Graph smaller;
    private final List<LayerPlan> layers;
    private final int zeroedGroups;

    private PrunePlan(PruneOptions options, Graph reference, Graph smaller, List<LayerPlan> layers, int zeroedGroups) {
        this.options = options;
        this.reference = reference;
        this.smaller = smaller;
        this.layers = List.copyOf(layers);
        this.zeroedGroups = zeroedGroups;
    }

    /**
     * Plans until nothing more can be removed. One round is enough almost always; the exception are channels that only
     * fill up where the structure wants equally many, for which a smaller graph may have a better place.
     */
    static PrunePlan of(Graph graph, PruneOptions options) {
        return of(Threshold.apply(graph, options), options);
    }

    /** The same of a graph in which groups were made zero. */
    static PrunePlan of(Threshold threshold, PruneOptions options) {
        Round first = new Round(threshold.graph(), options, Map.of());
        Graph smaller = threshold.graph();
        Round last = first;
        for (Graph next = next(smaller, last, options); next != smaller; next = next(smaller, last, options)) {
            smaller = next;
            last = new Round(smaller, options.restrictedTo(smaller), last.known());
        }
        Graph folded = smaller == threshold.graph() ? smaller : FoldedMeans.fold(smaller);
        return new PrunePlan(
                options, threshold.graph(), folded, merge(first.layers(), last.layers()), threshold.zeroedGroups());
    }

    /**
     * The graph after one more step: with streams that can lose dimensions, then without what is not needed. The other way round,
     * readers would select from a stream what is left of it in the end.
     */
    private static Graph next(Graph graph, Round round, PruneOptions options) {
        Graph narrowed = round.narrowed(options);
        if (narrowed != graph) {
            return narrowed;
        }
        return round.changes() ? round.rewrite() : withoutUnread(withoutRest(graph, round));
    }

    /**
     * The graph without what goes though all layers stay as they are: columns of a table, an operand that a constant can take the place
     * of; the very same if that makes it no smaller.
     */
    private static Graph withoutRest(Graph graph, Round round) {
        if (!round.leavesOut()) {
            return graph;
        }
        Graph rewritten = round.rewrite();
        int fewer = Long.compare(Cost.parameters(graph), Cost.parameters(rewritten));
        boolean smaller = fewer > 0
                || (fewer == 0 && rewritten.nodes().size() < graph.nodes().size());
        return smaller ? rewritten : graph;
    }

    /** The graph without what no output needs; the very same if it needs all. */
    private static Graph withoutUnread(Graph graph) {
        Graph live = DeadNodes.remove(graph);
        boolean smaller = live.nodes().size() < graph.nodes().size()
                || live.initializers().size() < graph.initializers().size();
        return smaller ? live : graph;
    }

    /** From what a layer was at first to what it is in the end; a layer that is not there any more has nothing left. */
    private static List<LayerPlan> merge(List<LayerPlan> first, List<LayerPlan> last) {
        Map<String, LayerPlan> left = last.stream().collect(Collectors.toMap(LayerPlan::name, Function.identity()));
        return first.stream()
                .map(layer -> {
                    LayerPlan now = left.get(layer.name());
                    return now == null
                            ? layer.after(0, 0, 0, layer.why())
                            : layer.after(now.inputsAfter(), now.outputsAfter(), now.weightsAfter(), layer.why());
                })
                .toList();
    }

    /**
     * What is done to each layer with weights.
     *
     * @return one plan for each, from front to back
     */
    public List<LayerPlan> layers() {
        return layers;
    }

    /** {@return how narrow layers become} */
    public Widths widths() {
        return options.widths();
    }

    /**
     * {@return a plan for the same groups of which layers become otherwise narrow}
     *
     * @param widths how narrow
     */
    public PrunePlan with(Widths widths) {
        return of(new Threshold(reference, zeroedGroups), options.withWidths(widths));
    }

    /** {@return a plan that cuts nothing out: what the reference is, whole} */
    public PrunePlan uncut() {
        List<LayerPlan> whole = layers.stream()
                .map(layer -> layer.after(layer.inputsBefore(), layer.outputsBefore(), layer.weightsBefore(), ""))
                .toList();
        return new PrunePlan(options, reference, reference, whole, zeroedGroups);
    }

    /**
     * Whether anything can be removed.
     *
     * @return false if the graph stays as it is
     */
    public boolean changes() {
        return layers.stream().anyMatch(LayerPlan::changes);
    }

    /**
     * Whether the smaller graph computes what the graph did.
     *
     * @return false if groups that were not zero are dropped
     */
    public boolean isExact() {
        return zeroedGroups == 0;
    }

    /**
     * How many groups were not zero, but below the threshold, or chosen to go.
     *
     * @return how many are dropped
     */
    public int zeroedGroups() {
        return zeroedGroups;
    }

    /**
     * What the smaller graph computes exactly: the graph itself, with zeros in the groups below the threshold.
     *
     * @return the very same graph if the plan is exact
     */
    public Graph reference() {
        return reference;
    }

    /**
     * The smaller graph.
     *
     * @return a graph that computes the same function as {@link #reference}; the very same graph if nothing can be removed
     */
    public Graph apply() {
        return smaller;
    }

    /**
     * The plan as a table of text.
     *
     * @return a line for each layer
     */
    @Override
    public String toString() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("layer", "operator", "why", "inputs", "outputs", "weights", "left"));
        for (LayerPlan layer : layers) {
            rows.add(List.of(
                    layer.name(),
                    layer.operator(),
                    layer.why(),
                    layer.inputsAfter() + " of " + layer.inputsBefore(),
                    layer.outputsAfter() + " of " + layer.outputsBefore(),
                    String.format(Locale.ROOT, "%,d", layer.weightsAfter()),
                    String.format(
                            Locale.ROOT,
                            "%.1f %%",
                            100.0 * layer.weightsAfter() / Math.max(layer.weightsBefore(), 1))));
        }
        String warning = isExact()
                ? ""
                : String.format(
                        "NOT exact: %d %s below the threshold but not zero%n",
                        zeroedGroups, zeroedGroups == 1 ? "group is" : "groups are");
        return GraphPrinter.columns(rows, 3) + warning;
    }
}
