package dev.espalier.onnxruntime;

import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.Map;

/**
 * Medians of the milliseconds that a run takes.
 *
 * @param before of the first model
 * @param after of the second model
 */
record Latency(double before, double after) {
    /** Runs before the first that counts. */
    private static final int WARM_UP = 3;

    /** Runs two models by turns, so that a machine that slows down slows both down. */
    static Latency measure(OnnxRuntimeModel before, OnnxRuntimeModel after, Map<String, Tensor> inputs, int rounds) {
        try (OnnxRuntimeModel.Feed firstFeed = before.new Feed(inputs);
                OnnxRuntimeModel.Feed secondFeed = after.new Feed(inputs)) {
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
