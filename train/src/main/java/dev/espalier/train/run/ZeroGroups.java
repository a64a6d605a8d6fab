package dev.espalier.train.run;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.group.ModelGroups;
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

    /** {@return how many groups each layer has that are not zero} */
    int[] live() {
        return layers.stream().mapToInt(ZeroGroups::live).toArray();
    }

    private static int live(boolean[] zeros) {
        return (int)
                IntStream.range(0, zeros.length).filter(group -> !zeros[group]).count();
    }
}
