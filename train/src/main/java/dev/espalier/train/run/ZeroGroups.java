package dev.espalier.train.run;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Which groups of a model are exactly zero.
 *
 * @param layers one truth value for each group, layer by layer
 */
record ZeroGroups(List<boolean[]> layers) {

    /** Looks through the weights, of which there are at least those that have groups. */
    static ZeroGroups of(ModelGroups groups, Map<String, TensorView> weights) {
        return new ZeroGroups(groups.layers().parallelStream()
                .map(layer -> layer.zeros(weights))
                .toList());
    }

    /**
     * {@return the same with some groups that are not zero}
     *
     * @param groups the model's groups
     * @param back these, by layer
     */
    ZeroGroups without(ModelGroups groups, Map<LayerGroups, List<Integer>> back) {
        List<boolean[]> fewer = new ArrayList<>();
        for (int i = 0; i < layers.size(); i++) {
            boolean[] zeros = layers.get(i).clone();
            back.getOrDefault(groups.layers().get(i), List.of()).forEach(group -> zeros[group] = false);
            fewer.add(zeros);
        }
        return new ZeroGroups(fewer);
    }

    /** {@return how many groups each layer has that are not zero} */
    int[] live() {
        return layers.stream().mapToInt(ZeroGroups::live).toArray();
    }

    private static int live(boolean[] zeros) {
        return (int)
                IntStream.range(0, zeros.length).filter(group -> !zeros[group]).count();
    }
}
