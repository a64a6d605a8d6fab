package dev.espalier.report;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The Pareto front of what is good and what it costs: all points that no other one beats. One point beats another if it is at least as good
 * and costs at most as much, and is better or cheaper. Points that are equal in both do not beat each other; one that has no number for
 * either is not on the front, and beats nobody.
 */
final class Front {
    private Front() {}

    /**
     * The points on the front.
     *
     * @param goodness a number for each point, the higher the better
     * @param costs a number for each point, the lower the better
     * @return their indices
     */
    static Set<Integer> of(List<Double> goodness, List<Double> costs) {
        List<Integer> byCost = IntStream.range(0, goodness.size())
                .filter(i -> Double.isFinite(goodness.get(i)) && Double.isFinite(costs.get(i)))
                .boxed()
                .sorted(Comparator.<Integer>comparingDouble(costs::get)
                        .thenComparing(goodness::get, Comparator.reverseOrder()))
                .toList();
        Set<Integer> front = new HashSet<>();
        double best = Double.NEGATIVE_INFINITY;
        double bestCost = Double.NaN;
        for (int i : byCost) {
            // From cheap to dear: what is dearer must be better; what costs the same comes after the best of its cost.
            if (goodness.get(i) > best || (goodness.get(i) == best && costs.get(i) == bestCost)) {
                front.add(i);
                best = goodness.get(i);
                bestCost = costs.get(i);
            }
        }
        return front;
    }
}
