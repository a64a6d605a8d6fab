package dev.espalier.onnxruntime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.Runner;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
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
                OnnxRuntimeModel second = OnnxRuntimeModel.of(after, threads);
                OnnxRuntimeModel.Feed firstFeed = first.new Feed(inputs);
                OnnxRuntimeModel.Feed secondFeed = second.new Feed(inputs)) {
            double[] firsts = new double[rounds];
            double[] seconds = new double[rounds];
            for (int round = -WARM_UP; round < rounds; round++) {
                double one = firstFeed.milliseconds();
                double other = secondFeed.milliseconds();
                if (round >= 0) {
                    firsts[round] = one;
                    seconds[round] = other;
                }
            }
            return new Latency(median(firsts), median(seconds));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
