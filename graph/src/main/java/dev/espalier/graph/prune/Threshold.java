package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.type.Tensor;
import dev.espalier.group.Groups;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * A graph with zeros in its small groups.
 *
 * @param graph the graph; the very same if no group is small
 * @param zeroedGroups how many groups were small, but not zero
 */
record Threshold(Graph graph, int zeroedGroups) {

    /** Sets groups with {@code ‖x_g‖ ≤ t · √|g|} to zero, except in layers that are kept. */
    static Threshold apply(Graph graph, PruneOptions options) {
        if (options.threshold() == 0) {
            return new Threshold(graph, 0);
        }
        Map<String, Tensor> changed = new HashMap<>();
        int zeroed = 0;
        for (LayerGroups layer : GroupRules.everything().derive(graph).layers()) {
            if (layer.nodes().stream().noneMatch(options::keeps)) {
                zeroed += apply(graph, layer, options.threshold(), changed);
            }
        }
        return zeroed == 0 ? new Threshold(graph, 0) : new Threshold(graph.withTensors(changed), zeroed);
    }

    private static int apply(Graph graph, LayerGroups layer, double threshold, Map<String, Tensor> changed) {
        List<Tensor> tensors = layer.parameters().stream()
                .map(name -> Objects.requireNonNull(graph.tensor(name)))
                .toList();
        List<double[]> values = tensors.stream().map(Threshold::values).toList();
        int zeroed = 0;
        for (int group = 0; group < layer.groups().count(); group++) {
            if (isSmall(layer.groups(), group, values, threshold)) {
                layer.groups().forEach(group, (tensor, index) -> values.get(tensor)[(int) index] = 0);
                zeroed++;
            }
        }
        for (int i = 0; zeroed > 0 && i < tensors.size(); i++) {
            double[] contents = values.get(i);
            changed.put(
                    layer.parameters().get(i),
                    Tensor.compute(tensors.get(i).type(), tensors.get(i).shape(), index -> contents[(int) index]));
        }
        return zeroed;
    }

    private static double[] values(Tensor tensor) {
        return LongStream.range(0, tensor.size()).mapToDouble(tensor::getDouble).toArray();
    }

    /** Whether a group is small, but not zero. */
    private static boolean isSmall(Groups groups, int group, List<double[]> values, double threshold) {
        double[] squares = {0};
        int[] size = {0};
        groups.forEach(group, (tensor, index) -> {
            double value = values.get(tensor)[(int) index];
            squares[0] += value * value;
            size[0]++;
        });
        return squares[0] > 0 && Math.sqrt(squares[0]) <= threshold * Math.sqrt(size[0]);
    }
}
