package dev.espalier.report;

import dev.espalier.train.journal.Metrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/** Which layers lost their groups when. */
final class LayerHistory {
    /** More columns than that are not told apart. */
    private static final int COLUMNS = 100;

    private LayerHistory() {}

    /**
     * A map of layers and evaluations.
     *
     * @param metrics the evaluations
     * @param groups number of groups by layer, where it is known; otherwise the most that were ever not zero
     */
    static Optional<Chart> of(List<Metrics> metrics, Map<String, Integer> groups) {
        List<Metrics> chosen = thinned(metrics);
        SequencedMap<String, Integer> totals = new LinkedHashMap<>();
        metrics.forEach(line -> line.nonZeroGroups()
                .forEach((layer, count) -> totals.merge(layer, groups.getOrDefault(layer, count), Math::max)));
        if (totals.isEmpty()) {
            return Optional.empty();
        }
        List<List<Double>> cells = new ArrayList<>();
        totals.forEach((layer, total) -> cells.add(chosen.stream()
                .map(line -> share(line.nonZeroGroups().getOrDefault(layer, 0), total))
                .toList()));
        return Optional.of(new Chart.HeatMap(
                "history",
                "Groups kept, by layer",
                "Share of groups kept, for each of %d layers and %d evaluations"
                        .formatted(totals.size(), chosen.size()),
                chosen.stream().map(Metrics::epoch).toList(),
                List.copyOf(totals.keySet()),
                cells,
                List.copyOf(totals.values())));
    }

    private static double share(int count, int total) {
        return total == 0 ? 1 : (double) count / total;
    }

    /** The last one always stays. */
    private static List<Metrics> thinned(List<Metrics> metrics) {
        int step = (metrics.size() + COLUMNS - 1) / COLUMNS;
        List<Metrics> kept = new ArrayList<>();
        for (int i = metrics.size() - 1; i >= 0; i -= step) {
            kept.addFirst(metrics.get(i));
        }
        return kept;
    }
}
