package dev.espalier.onnxruntime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.Runner;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Runs graphs in ONNX Runtime, on the CPU, and measures how long that takes.
 *
 * @param threads how many threads a single operator may use
 */
public record OnnxRuntimeRunner(int threads) implements Runner {
    /** Runs before the first that counts. */
    private static final int WARM_UP = 3;

    /**
     * Medians of the milliseconds that a run takes.
     *
     * @param before of the first model
     * @param after of the second model
     */
    public record Latency(double before, double after) {}

    @Override
    public Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, threads)) {
            return model.run(inputs);
        }
    }

    /**
     * Runs two models by turns, so that a machine that slows down slows both down.
     *
     * @param before the first model
     * @param after the second model
     * @param inputs what both are fed with
     * @param rounds how often each is run
     * @return the medians
     */
    public Latency latency(Graph before, Graph after, Map<String, Tensor> inputs, int rounds) {
        try (OnnxRuntimeModel first = OnnxRuntimeModel.of(before, threads);
                OnnxRuntimeModel second = OnnxRuntimeModel.of(after, threads)) {
            List<Double> medians = latencies(List.of(first, second), inputs, rounds);
            return new Latency(medians.get(0), medians.get(1));
        }
    }

    /**
     * Runs models by turns, so that a machine that slows down slows all of them down.
     *
     * @param models the models
     * @param inputs what all are fed with
     * @param rounds how often each is run
     * @return the median of the milliseconds that a run takes, model by model
     */
    public static List<Double> latencies(List<OnnxRuntimeModel> models, Map<String, Tensor> inputs, int rounds) {
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
            return Arrays.stream(milliseconds).map(OnnxRuntimeRunner::median).toList();
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
