package dev.espalier.graph.prune;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What pruning did to a model, in numbers.
 *
 * @param parametersBefore number of trained weights
 * @param parametersAfter number of those that are left
 * @param flopsBefore floating point operations of a run
 * @param flopsAfter those that are left
 * @param layers the layers, from front to back
 * @param maxAbsDifference the largest difference between the outputs of both models; empty if nobody compared them
 * @param latencyMillisecondsBefore how long a run takes; empty if nobody measured it
 * @param latencyMillisecondsAfter how long a run takes afterwards; empty if nobody measured it
 */
public record PruneReport(
        long parametersBefore,
        long parametersAfter,
        long flopsBefore,
        long flopsAfter,
        List<Layer> layers,
        OptionalDouble maxAbsDifference,
        OptionalDouble latencyMillisecondsBefore,
        OptionalDouble latencyMillisecondsAfter) {

    /** Takes a copy. */
    public PruneReport {
        layers = List.copyOf(layers);
    }

    /**
     * What became of a layer.
     *
     * @param plan its channels and weights
     * @param groups number of its groups, {@link ModelGroups#of}; those that several layers share are counted with the first
     * @param nonZeroGroups number of those that were not zero before
     * @param groupsLeft number of those that are not zero in what is left of the layer
     */
    public record Layer(LayerPlan plan, int groups, int nonZeroGroups, int groupsLeft) {}

    /**
     * Counts.
     *
     * @param plan what was planned
     * @param dimensions a length for every free dimension of the model
     * @return the report, without what has to be measured
     */
    public static PruneReport of(PrunePlan plan, Map<String, Long> dimensions) {
        Graph before = plan.reference();
        Graph after = plan.apply();
        Map<String, LayerGroups> groups = new HashMap<>();
        for (LayerGroups layer : ModelGroups.of(before).layers()) {
            groups.put(layer.nodes().getFirst().name(), layer);
        }
        Map<String, Integer> left = nonZeroGroups(after);
        List<Layer> layers = plan.layers().stream()
                .map(layer -> layer(layer, groups.get(layer.name()), before, left))
                .toList();
        return new PruneReport(
                Cost.parameters(before),
                Cost.parameters(after),
                flops(before, dimensions),
                flops(after, dimensions),
                layers,
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty());
    }

    /** Number of groups that are not zero, by every node that reads them. */
    private static Map<String, Integer> nonZeroGroups(Graph graph) {
        Map<String, Integer> counts = new HashMap<>();
        for (LayerGroups layer : ModelGroups.of(graph).layers()) {
            layer.nodes().forEach(node -> counts.put(node.name(), nonZeroGroups(layer, graph)));
        }
        return counts;
    }

    private static int nonZeroGroups(LayerGroups layer, Graph graph) {
        return layer.groups().count() - layer.zeroGroups(graph);
    }

    /** Of several nodes that read the same weights, one that is still there tells what is left of their groups. */
    private static Layer layer(LayerPlan plan, @Nullable LayerGroups groups, Graph before, Map<String, Integer> left) {
        return groups == null
                ? new Layer(plan, 0, 0, 0)
                : new Layer(
                        plan,
                        groups.groups().count(),
                        nonZeroGroups(groups, before),
                        groups.nodes().stream()
                                .mapToInt(node -> left.getOrDefault(node.name(), 0))
                                .max()
                                .orElse(0));
    }

    private static long flops(Graph graph, Map<String, Long> dimensions) {
        return Cost.flops(graph.withDimensions(dimensions), SampleInputs.DEFAULT.length())
                .value();
    }

    /**
     * {@return the same with a difference}
     *
     * @param difference the largest between the outputs of both models
     */
    public PruneReport withDifference(double difference) {
        return new PruneReport(
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                layers,
                OptionalDouble.of(difference),
                latencyMillisecondsBefore,
                latencyMillisecondsAfter);
    }

    /**
     * {@return the same with latencies}
     *
     * @param before milliseconds of a run of the model
     * @param after milliseconds of a run of what is left of it
     */
    public PruneReport withLatency(double before, double after) {
        return new PruneReport(
                parametersBefore,
                parametersAfter,
                flopsBefore,
                flopsAfter,
                layers,
                maxAbsDifference,
                OptionalDouble.of(before),
                OptionalDouble.of(after));
    }

    /**
     * The share of groups that were not zero before pruning. The paper calls it group sparsity.
     *
     * @return from 0 to 1
     */
    public double groupsNotZero() {
        return share(
                layers.stream().mapToLong(Layer::nonZeroGroups).sum(),
                layers.stream().mapToLong(Layer::groups).sum());
    }

    /**
     * The share of groups that are left: not zero in the smaller model.
     *
     * @return from 0 to 1
     */
    public double groupsLeft() {
        return share(
                layers.stream().mapToLong(Layer::groupsLeft).sum(),
                layers.stream().mapToLong(Layer::groups).sum());
    }

    /**
     * The share of parameters that are left. The paper calls it effective sparsity.
     *
     * @return from 0 to 1
     */
    public double parametersLeft() {
        return share(parametersAfter, parametersBefore);
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 1 : (double) part / whole;
    }

    /**
     * The report for other programs; what was not measured is null.
     *
     * @return JSON
     */
    public String toJson() {
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("parameters_before", parametersBefore)
                .put("parameters_after", parametersAfter)
                .put("flops_before", flopsBefore)
                .put("flops_after", flopsAfter)
                .put("groups_not_zero", groupsNotZero())
                .put("groups_left", groupsLeft())
                .put("parameters_left", parametersLeft());
        put(root, "max_abs_difference", maxAbsDifference);
        put(root, "latency_ms_before", latencyMillisecondsBefore);
        put(root, "latency_ms_after", latencyMillisecondsAfter);
        ArrayNode array = root.putArray("layers");
        layers.forEach(layer -> put(array.addObject(), layer));
        return root.toPrettyString();
    }

    private static void put(ObjectNode node, String key, OptionalDouble value) {
        if (value.isPresent()) {
            node.put(key, value.getAsDouble());
        } else {
            node.putNull(key);
        }
    }

    private static void put(ObjectNode node, Layer layer) {
        LayerPlan plan = layer.plan();
        node.put("name", plan.name())
                .put("operator", plan.operator())
                .put("inputs_before", plan.inputsBefore())
                .put("inputs_after", plan.inputsAfter())
                .put("outputs_before", plan.outputsBefore())
                .put("outputs_after", plan.outputsAfter())
                .put("weights_before", plan.weightsBefore())
                .put("weights_after", plan.weightsAfter())
                .put("groups", layer.groups())
                .put("groups_not_zero", share(layer.nonZeroGroups(), layer.groups()))
                .put("groups_left", share(layer.groupsLeft(), layer.groups()))
                .put("weights_left", share(plan.weightsAfter(), plan.weightsBefore()))
                .put("why", plan.why());
    }
}
