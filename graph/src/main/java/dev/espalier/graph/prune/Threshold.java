package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.type.Tensor;
import dev.espalier.tensor.TensorView;
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
        Map<String, TensorView> views = new HashMap<>();
        layer.parameters()
                .forEach(name -> views.put(
                        name, Objects.requireNonNull(graph.tensor(name)).view()));
        boolean[] small = layer.small(views, threshold);
        boolean[] zeros = layer.zeros(views);
        List<double[]> values = tensors.stream().map(Threshold::values).toList();
        int zeroed = 0;
        for (int group = 0; group < small.length; group++) {
            if (small[group] && !zeros[group]) {
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
}
