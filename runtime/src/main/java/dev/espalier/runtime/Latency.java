package dev.espalier.runtime;

import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** How long models take, in milliseconds a run. */
public final class Latency {
    /** Runs before the first that counts. */
    private static final int WARM_UP = 3;

    private Latency() {}

    /**
     * Runs models by turns, so that a machine that slows down slows all of them down.
     *
     * @param models the models
     * @param inputs what all are fed with
     * @param rounds how often each is run
     * @return the median of the milliseconds that a run takes, model by model
     */
    public static List<Double> measure(List<OnnxRuntimeModel> models, Map<String, Tensor> inputs, int rounds) {
        List<OnnxRuntimeModel.Feed> feeds = new ArrayList<>();
        try {
            models.forEach(model -> feeds.add(model.new Feed(inputs)));
            double[][] milliseconds = new double[feeds.size()][rounds];
            for (int round = -WARM_UP; round < rounds; round++) {
                for (int i = 0; i < feeds.size(); i++) {
                    // Each comes after each other one: what was done before leaves traces in caches.
                    int model = Math.floorMod(round % 2 == 0 ? i : -1 - i, feeds.size());
                    double time = feeds.get(model).milliseconds();
                    if (round >= 0) {
                        milliseconds[model][round] = time;
                    }
                }
            }
            return Arrays.stream(milliseconds).map(Latency::median).toList();
        } finally {
            feeds.forEach(OnnxRuntimeModel.Feed::close);
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
