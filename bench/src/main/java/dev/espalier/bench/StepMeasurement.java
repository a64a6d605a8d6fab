package dev.espalier.bench;

import dev.espalier.bench.ModelShapes.TensorShape;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.step.StepOptions;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Optimizer steps of a model, measured in one run: loops that only move memory, plain AdamW, ℓ1/ℓ2 and group MCP take turns, so
 * that all see the same machine. Of a step the median counts, of a loop its best time.
 *
 * @param kernel what steps ran on
 * @param parameters number of weights
 * @param gigabytesPerSecond the best bandwidth of each loop, by all threads
 * @param adamwMilliseconds a step without penalty
 * @param lassoMilliseconds a step with ℓ1/ℓ2
 * @param mcpMilliseconds a step with group MCP
 * @param coldIterations evaluations a group that is not zero, in the first step with ℓ1/ℓ2
 * @param warmIterations the same in the last
 */
public record StepMeasurement(
        String kernel,
        long parameters,
        SequencedMap<MemoryLoop, Double> gigabytesPerSecond,
        double adamwMilliseconds,
        double lassoMilliseconds,
        double mcpMilliseconds,
        double coldIterations,
        double warmIterations) {
    /** Bytes that Adam must move for a weight: reads x, g, m, v, writes x, m, v. */
    private static final int ADAM_BYTES = 28;

    private static final int WARM_UP = 15;

    /** Copies the map. */
    public StepMeasurement {
        gigabytesPerSecond = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(gigabytesPerSecond));
    }

    /**
     * Measures a model.
     *
     * @param tensors its tensors
     * @param home where it lives
     * @param rounds how often everything is measured
     * @param progress is told what is going on
     * @return the medians
     */
    public static StepMeasurement of(List<TensorShape> tensors, Home home, int rounds, Consumer<String> progress) {
        StepOptions options = StepOptions.DEFAULT;
        progress.accept("making three copies of the model");
        try (Workload adamw = workload(tensors, null, options, home);
                Workload lasso = workload(tensors, new GroupLasso(Workload.LAMBDA), options, home);
                Workload mcp = workload(tensors, new GroupMcp(Workload.LAMBDA, Workload.BETA), options, home)) {
            long parameters = tensors.stream().mapToLong(TensorShape::size).sum();
            AtomicReference<Summary> last = new AtomicReference<>(lasso.step().summary());
            double cold = iterations(last.get());
            List<Runnable> steps =
                    List.of(adamw::step, () -> last.set(lasso.step().summary()), mcp::step);
            double[][] milliseconds = new double[steps.size()][rounds];
            SequencedMap<MemoryLoop, Double> bandwidths = new LinkedHashMap<>();
            for (int turn = 0; turn < (WARM_UP + rounds) * steps.size(); turn++) {
                int round = turn / steps.size() - WARM_UP;
                progress.accept(round < 0 ? "warming up" : "round " + (round + 1) + " of " + rounds);
                // Each loop comes behind a step, which leaves it nothing in the caches, as it does to the next step.
                MemoryLoop loop = home.loops().get(turn % home.loops().size());
                double bandwidth = parameters * loop.bytes() / home.time(loop, parameters) / 1e6;
                bandwidths.merge(loop, bandwidth, Math::max);
                double time = home.time(steps.get(turn % steps.size()));
                if (round >= 0) {
                    milliseconds[turn % steps.size()][round] = time;
                }
            }
            return new StepMeasurement(
                    adamw.kernelName(),
                    parameters,
                    bandwidths,
                    median(milliseconds[0]),
                    median(milliseconds[1]),
                    median(milliseconds[2]),
                    cold,
                    iterations(last.get()));
        }
    }

    private static double iterations(Summary summary) {
        return (double) summary.iterations() / Math.max(1, summary.shrunk() + summary.untouched());
    }

    private static Workload workload(
            List<TensorShape> tensors, @Nullable Penalty penalty, StepOptions options, Home home) {
        return new Workload(tensors, penalty, Workload.Grouping.APART, options, home);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /**
     * The loop that moved most.
     *
     * @return one of those that were measured
     */
    public MemoryLoop bestLoop() {
        return Collections.max(gigabytesPerSecond.entrySet(), Map.Entry.comparingByValue())
                .getKey();
    }

    /**
     * The bandwidth of memory: that of the best loop, bytes read and bytes written both counted.
     *
     * @return gigabytes a second
     */
    public double bandwidth() {
        return Collections.max(gigabytesPerSecond.values());
    }

    /**
     * The least time that Adam can take: 28 bytes a weight at the bandwidth of memory.
     *
     * @return milliseconds
     */
    public double floorMilliseconds() {
        return parameters * ADAM_BYTES / bandwidth() / 1e6;
    }
}
