package dev.espalier.train.run;

import dev.espalier.graph.group.LayerGroups;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Groups of a layer that can be cut out only together: one group, or for the dimensions of an attention's heads one of each head.
 *
 * @param layer the layer
 * @param groups their numbers
 * @param worth their importance, added up
 * @param cost what goes with them, added up
 */
record GroupSlice(LayerGroups layer, List<Integer> groups, double worth, double cost) {
    double perCost() {
        return worth / cost;
    }

    /**
     * Deals the groups of a layer out to slices, those worth least first.
     *
     * @param layer the layer
     * @param isCandidate whether a group may be in a slice
     * @param worth the importance of each group of the layer
     * @param cost what goes with a group
     * @return the slices, worth least first
     */
    static List<GroupSlice> of(LayerGroups layer, IntPredicate isCandidate, double[] worth, double cost) {
        int width = worth.length / layer.heads();
        List<List<Integer>> heads = IntStream.range(0, layer.heads())
                .mapToObj(head -> IntStream.range(head * width, (head + 1) * width)
                        .filter(isCandidate)
                        .boxed()
                        .sorted(Comparator.comparingDouble(group -> worth[group]))
                        .toList())
                .toList();
        int widest = heads.stream().mapToInt(List::size).max().orElse(0);
        List<GroupSlice> slices = new ArrayList<>();
        for (int i = 0; i < widest; i++) {
            List<Integer> groups = new ArrayList<>();
            for (List<Integer> head : heads) {
                int place = i - (widest - head.size()); // a head that has lost more waits for the others
                if (place >= 0) {
                    groups.add(head.get(place));
                }
            }
            double sum = groups.stream().mapToDouble(group -> worth[group]).sum();
            slices.add(new GroupSlice(layer, groups, sum, cost * groups.size()));
        }
        return slices;
    }

    /** {@return the groups of some slices, by their layer} */
    static Map<LayerGroups, List<Integer>> groups(List<GroupSlice> slices) {
        Map<LayerGroups, List<Integer>> groups = new LinkedHashMap<>();
        slices.forEach(slice ->
                groups.computeIfAbsent(slice.layer(), _ -> new ArrayList<>()).addAll(slice.groups()));
        return groups;
    }
}
